"""Judges a sealed ledger: all checks that apply, the digest, the case's verdict. Pure; an old ledger can be judged again."""

from __future__ import annotations

from collections.abc import Mapping

from harness.checks.table import judge as run_checks
from harness.ledger.digest import digest
from harness.ledger.event import Ledger
from harness.run.result import CaseResult, CheckOutcome, outcome
from harness.verdict import worst


def judge(ledger: Ledger, *, duration_s: float, file: str, timings: Mapping[str, float] | None = None) -> CaseResult:
    """The result of the case that the ledger is of."""
    case = ledger.meta.case
    checks = tuple(CheckOutcome(id=one.id, verdict=one.verdict, finding=one.finding) for one in run_checks(ledger))
    verdict = worst(check.verdict for check in checks)
    came_out, why = outcome(case, verdict, checks)
    return CaseResult(
        id=case.id,
        area=case.area,
        title=case.title,
        target=case.target,
        path=case.path,
        profile=case.profile,
        expected="fail" if case.must_fail else "pass",
        mutant=case.must_fail.mutant if case.must_fail else "",
        same_as=case.must_fail.same_as if case.must_fail else "",
        findings=case.findings,
        verdict=verdict,
        outcome=came_out,
        why=why,
        duration_s=round(duration_s, 3),
        timings=dict(timings or {}),
        digest=digest(ledger),
        ledger=file,
        replay=f"loudgate run '{case.id}' --engine {ledger.meta.engine} --seed {ledger.meta.seed}",
        checks=checks,
    )
