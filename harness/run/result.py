"""The outcome of one case, as it is written down beside its ledger."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from harness.scenario.spec import Case
from harness.verdict import Verdict


class CheckOutcome(BaseModel):
    """One check on one case."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    verdict: Verdict
    finding: str


class CaseResult(BaseModel):
    """One case. `verdict` is what the checks say; `outcome` is whether that is what had to happen."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    area: str
    title: str
    target: str
    path: str
    profile: str
    expected: Literal["pass", "fail"]
    mutant: str = ""
    same_as: str = ""
    """For a must-fail case: its mutant, and the id of the same case on the real arm."""
    findings: tuple[int, ...] = ()
    """Findings of the audit of silent arguments that it is evidence for."""
    verdict: Verdict
    outcome: Verdict
    """pass: as expected; fail: not; unknown: it could not be told."""
    why: str
    """One line for whoever reads only one."""
    duration_s: float
    timings: dict[str, float] = {}
    """Phase → seconds: play, leave, quiesce, seal; the rest is writing and judging."""
    digest: str
    ledger: str
    """File name of the ledger, relative to the report."""
    replay: str
    checks: tuple[CheckOutcome, ...]


def slug(case_id: str) -> str:
    """A case id as a file name."""
    return case_id.replace("/", "__")


def outcome(case: Case, verdict: Verdict, checks: tuple[CheckOutcome, ...]) -> tuple[Verdict, str]:
    """Whether the verdict is what had to happen, and one line that says why."""
    if case.must_fail is None:
        worst = [check for check in checks if check.verdict is verdict]
        return (
            (verdict, "")
            if verdict is Verdict.PASS
            else (verdict, f"{worst[0].id}: {worst[0].finding}" if worst else "no check ran")
        )
    named = next((check for check in checks if check.id == case.must_fail.check), None)
    if named is None or named.verdict is not Verdict.FAIL:
        said = named.verdict if named else "absent"
        return Verdict.FAIL, f"survived: {case.must_fail.check} should be red and is {said}"
    if case.must_fail.finding not in named.finding:
        return Verdict.FAIL, f"{named.id} is red, but does not say {case.must_fail.finding!r}: {named.finding}"
    return Verdict.PASS, f"red as it must be: {named.id}: {named.finding}"
