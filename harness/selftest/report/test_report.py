"""Reports: rebuilt from what is on disk, never green without cause, and hostile text stays text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from junitparser import JUnitXml

from harness.errors import UsageError
from harness.report import writers
from harness.report.facts import ENDING, PLAN, Ending, Plan, Source, Target, build
from harness.run.prover import write_result
from harness.run.result import CaseResult, CheckOutcome
from harness.verdict import EXIT_OF, Exit, RunVerdict, Verdict

ENDED = Ending(duration_s=1.0)
HOSTILE = "<script>alert(1)</script> | `x` [y](javascript:z)\nnext"


def result(case_id: str, outcome: Verdict = Verdict.PASS, why: str = "") -> CaseResult:
    check = CheckOutcome(id="script_followed", verdict=outcome, finding=why)
    raw = {"id": case_id, "area": "area", "title": "t", "target": "hosted", "path": "local", "profile": "p", "expected": "pass"}
    raw |= {"digest": "sha256:0", "ledger": "ledgers/x.jsonl", "replay": "loudgate run x"}
    raw |= {"verdict": outcome, "outcome": outcome, "why": why}
    return CaseResult.model_validate(raw | {"duration_s": 0.1, "checks": (check,)})


def run_folder(tmp_path: Path, *results: CaseResult, planned: int = 0, ending: Ending | None = ENDED) -> Path:
    cases = tuple(one.id for one in results) + tuple(f"lost{number}" for number in range(planned))
    target = Target(name="hosted", version="reference", engine="process", store="sqlite")
    source = Source(commit="", dirty=False)
    plan = Plan(run_id="r", seed=1, started_at="now", command="loudgate run", target=target, source=source, cases=cases)
    (tmp_path / PLAN).write_text(plan.model_dump_json(), encoding="utf-8")
    for one in results:
        write_result(tmp_path, one)
    if ending is not None:
        (tmp_path / ENDING).write_text(ending.model_dump_json(), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("outcomes", "planned", "verdict", "status"),
    [
        ([Verdict.PASS], 0, RunVerdict.ACCEPTED, Exit.ACCEPTED),
        ([Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN], 1, RunVerdict.REJECTED, Exit.REJECTED),
        ([Verdict.PASS, Verdict.UNKNOWN], 0, RunVerdict.INCOMPLETE, Exit.INCOMPLETE),
        ([Verdict.PASS, Verdict.NOT_OBSERVED], 0, RunVerdict.INCOMPLETE, Exit.INCOMPLETE),
        ([Verdict.PASS], 1, RunVerdict.INCOMPLETE, Exit.INCOMPLETE),
        ([], 0, RunVerdict.INCOMPLETE, Exit.INCOMPLETE),
    ],
)
def test_worst_wins(tmp_path: Path, outcomes: list[Verdict], planned: int, verdict: RunVerdict, status: Exit) -> None:
    report = build(run_folder(tmp_path, *(result(f"c{n}", one) for n, one in enumerate(outcomes)), planned=planned))
    assert report.verdict is verdict
    assert EXIT_OF[report.verdict] is status


def test_a_dead_service_is_never_accepted(tmp_path: Path) -> None:
    report = build(run_folder(tmp_path, result("c"), ending=Ending(duration_s=1.0, died=("shared/host",))))
    assert report.verdict is RunVerdict.INCOMPLETE
    assert "shared/host" in report.headline


def test_a_killed_run_is_rebuilt_as_incomplete(tmp_path: Path) -> None:
    report = build(run_folder(tmp_path, result("c"), planned=2, ending=None))
    assert report.verdict is RunVerdict.INTERRUPTED
    assert "incomplete" in report.headline
    assert report.not_run == ("lost0", "lost1")


def test_hostile_findings_stay_text(tmp_path: Path) -> None:
    writers.write(run_folder(tmp_path, result("c", Verdict.FAIL, HOSTILE)))
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "<script>" not in text
    assert "](javascript" not in text.replace("\\[y](javascript", "")
    assert not [line for line in text.splitlines() if line.startswith("next")]


def test_every_format_tells_the_same(tmp_path: Path) -> None:
    writers.write(run_folder(tmp_path, result("good"), result("bad", Verdict.FAIL, "why"), planned=1))
    document = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    suite = next(iter(JUnitXml.fromfile(str(tmp_path / "junit.xml"))))
    assert document["schema"] == "loudgate.report/1"
    assert document["counts"] == {"planned": 3, "ran": 2, "passed": 1, "failed": 1, "unknown": 0}
    assert (suite.tests, suite.failures, suite.skipped) == (3, 1, 1)


def test_no_run_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run that can be reported"):
        build(tmp_path)
