"""Proves one case: drive it on its arm, seal its ledger, judge it, write both down."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.clock import Deadline
from harness.ledger import codec
from harness.ledger.redact import Redactor
from harness.limits import TURN_S
from harness.model.data import with_words
from harness.run.driver import drive
from harness.run.judge import judge
from harness.run.result import CaseResult, slug
from harness.scenario.spec import Case
from harness.seeds import derive
from harness.stack.assembly import SHARED
from harness.stack.keeper import Arms, Wanted
from harness.stack.service import Arm
from harness.verdict import Verdict

LEDGERS, RESULTS = "ledgers", "cases"


def arm_of(case: Case) -> Wanted:
    """The arm that a case runs on."""
    if case.must_fail is not None:
        return Wanted(case.must_fail.mutant.replace("/", "-"), case.must_fail.mutant, case.stack)
    return Wanted(f"private-{derive(0, case.id)}" if case.private else case.stack or SHARED, variant=case.stack)


def _lost(died: tuple[str, ...], arm: str) -> str:
    return next((one for one in died if one.startswith((f"{arm}/", f"{SHARED}/"))), "")


@dataclass(frozen=True)
class Prover:
    """What a test needs to prove a case; `folder` is the run's report folder."""

    arms: Arms
    folder: Path
    seed: int
    nonce: str

    def prove(self, case: Case) -> CaseResult:
        """The case's result, written down. Errors of the stack pass through: the case then did not run."""
        wanted = arm_of(case)
        result = self.play(case, self.arms.arm(wanted))
        write_result(self.folder, result)
        if case.private:
            self.arms.drop(wanted.name)  # no other case runs on it, and what it holds is memory
        return result

    def play(self, case: Case, arm: Arm) -> CaseResult:
        """The case's result on that arm, with its ledger on disk."""
        timer = Deadline(TURN_S)
        ledger, timings = drive(with_words(case, seed=self.seed), arm, self.arms, seed=self.seed, nonce=self.nonce)
        name = slug(case.id)
        codec.write(ledger, self.folder / LEDGERS / f"{name}.jsonl", Redactor(arm.secrets))
        result = judge(ledger, duration_s=timer.elapsed(), file=f"{LEDGERS}/{name}.jsonl", timings=timings)
        if result.outcome is not Verdict.PASS and (lost := _lost(self.arms.died(), arm.name)):
            # A lost machine is neither pass nor fail.
            result = result.model_copy(update={"outcome": Verdict.UNKNOWN, "why": f"{lost} died; {result.why}"})
        return result


def write_result(folder: Path, result: CaseResult) -> None:
    """Put a result where the report is rebuilt from."""
    codec.write_whole(folder / RESULTS / f"{slug(result.id)}.json", result.model_dump_json())
