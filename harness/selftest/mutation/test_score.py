"""What a trial concludes, what a campaign is worth, and that tampering with a check is seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.checks.check import Check, Finding
from harness.checks.table import CHECKS, judge
from harness.ledger.event import Ledger
from harness.mutation.catalogue import MUST_DIE, NOOP
from harness.mutation.score import Mutation, score
from harness.mutation.trial import Trial, concluded
from harness.report.conclusion import Counts, Stopped, verdict_of
from harness.run.result import CaseResult, CheckOutcome
from harness.selftest.checks.histories import FOUR
from harness.verdict import RunVerdict, Verdict, worst

PASSED, FAILED, UNSURE = Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN
NAMED = "zero_acquisition"


def outcomes(**checks: Verdict) -> CaseResult:
    """A case's result in which these checks said that."""
    told = tuple(CheckOutcome(id=name, verdict=verdict, finding=f"{name} says so") for name, verdict in checks.items())
    raw: dict[str, object] = {
        "id": "c",
        "area": "a",
        "title": "t",
        "target": "hosted",
        "path": "local",
        "profile": "p",
        "expected": "pass",
    }
    raw |= {"digest": "d", "ledger": "l", "replay": "r", "why": "", "duration_s": 0.0}
    verdict = worst(check.verdict for check in told)
    return CaseResult.model_validate(raw | {"verdict": verdict, "outcome": verdict, "checks": told})


def trial(identity: str = "host/m", outcome: str = "unknown", killed_by: tuple[str, ...] = (), check: str = NAMED) -> Trial:
    """A trial."""
    raw = {"id": identity, "where": "hosted/host/admission.py", "removes": "", "check": check, "why": "w", "cases": ("c",)}
    return Trial.model_validate(raw | {"outcome": outcome, "killed_by": killed_by})


GOOD = outcomes(script_followed=PASSED)


@pytest.mark.parametrize(
    ("seen", "control", "outcome"),
    [
        ({NAMED: FAILED, "owner_kept": FAILED}, GOOD, "killed"),
        ({NAMED: PASSED, "owner_kept": FAILED}, GOOD, "wrong_killer"),
        ({NAMED: UNSURE, "owner_kept": FAILED}, GOOD, "wrong_killer"),
        ({NAMED: PASSED, "owner_kept": PASSED}, GOOD, "survived"),
        ({NAMED: UNSURE}, GOOD, "unknown"),
        ({NAMED: FAILED}, outcomes(script_followed=FAILED), "unknown"),
        ({NAMED: PASSED}, outcomes(script_followed=UNSURE), "unknown"),
    ],
)
def test_a_mutant_is_killed_by_the_check_that_it_names_alone(seen: dict[str, Verdict], control: CaseResult, outcome: str) -> None:
    assert concluded(trial(), [outcomes(**seen)], control).outcome == outcome


def test_a_guard_notices_by_withholding_its_verdict() -> None:
    found = concluded(trial(check="faults_fired"), [outcomes(faults_fired=UNSURE)], GOOD)
    assert (found.outcome, found.killed_by) == ("killed", ("faults_fired",))


RIGHT = (trial(NOOP.id, "survived"), trial(MUST_DIE.id, "killed", (NAMED,)))


@pytest.mark.parametrize("wrong", [(), RIGHT[:1], (trial(NOOP.id, "killed"), RIGHT[1]), (RIGHT[0], trial(MUST_DIE.id, "survived"))])
def test_without_its_controls_a_campaign_has_no_score(wrong: tuple[Trial, ...]) -> None:
    found = score([*wrong, trial(outcome="killed", killed_by=(NAMED,))], checks=[NAMED], rows=(), partial=False)
    assert [one.outcome for one in found.mutants] == ["unknown"]
    assert verdict(found, planned=3) is RunVerdict.INCOMPLETE


def verdict(mutation: Mutation, *, planned: int) -> RunVerdict:
    """Of a run that is a campaign alone and tried what it planned."""
    nothing = Counts(planned=0, ran=0, passed=0, failed=0, unknown=0)
    return verdict_of(nothing, mutation, tried=planned, planned=planned, stopped=Stopped(interrupted=False, reasons=()))


def test_what_no_mutant_turns_red_is_unproven_and_rejects_the_run() -> None:
    killed = (*RIGHT, trial(outcome="killed", killed_by=(NAMED,)))
    assert verdict(score(killed, checks=[NAMED], rows=(), partial=False), planned=3) is RunVerdict.ACCEPTED
    unproven = score(killed, checks=[NAMED, "owner_kept"], rows=(), partial=False)
    assert unproven.unproven_checks == ("owner_kept",)
    assert verdict(unproven, planned=3) is RunVerdict.REJECTED
    assert score(killed, checks=[NAMED, "owner_kept"], rows=(), partial=True).unproven_checks == ()
    assert verdict(score(killed, checks=[NAMED], rows=("host:new",), partial=False), planned=3) is RunVerdict.REJECTED


@pytest.mark.parametrize(("outcome", "wanted"), [("survived", "rejected"), ("wrong_killer", "rejected"), ("unknown", "incomplete")])
def test_a_mutant_that_is_not_killed_keeps_the_run_from_green(outcome: str, wanted: str) -> None:
    found = score((*RIGHT, trial("host/a", "killed", (NAMED,)), trial("host/b", outcome)), checks=[NAMED], rows=(), partial=False)
    assert verdict(found, planned=4) == wanted


def _judged(ledger: Ledger, *checks: Check) -> dict[str, Verdict]:
    return {result.id: result.verdict for result in judge(ledger, checks)}


BAD = {check.id: FOUR[check.id].bad.ledger() for check in CHECKS}
HONEST = {name: _judged(ledger, *CHECKS) for name, ledger in BAD.items()}


def _trials(verdicts: dict[str, dict[str, Verdict]]) -> list[Trial]:
    return [concluded(trial(f"host/{name}", check=name), [outcomes(**seen)], GOOD) for name, seen in verdicts.items()]


def test_every_check_notices_its_own_bad_history() -> None:
    assert [one.outcome for one in _trials(HONEST)] == ["killed"] * len(CHECKS)


@pytest.mark.parametrize("tampered", [check.id for check in CHECKS if not check.guard])
def test_a_check_edited_to_pass_always_is_seen(tampered: str) -> None:
    (check,) = (check for check in CHECKS if check.id == tampered)
    blind = replace(check, judge=lambda _: Finding(PASSED, "fine"))
    fooled = _trials({name: HONEST[name] | _judged(ledger, blind) for name, ledger in BAD.items()})
    found = score((*RIGHT, *fooled), checks=[check.id for check in CHECKS], rows=(), partial=False)
    assert tampered in found.unproven_checks
    assert verdict(found, planned=len(fooled) + 2) is not RunVerdict.ACCEPTED
