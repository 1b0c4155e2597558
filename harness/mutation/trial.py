"""One trial: a mutated copy on a stack of its own, its cases and a control, and what the checks made of them.

The harness's own deadline, a stack that does not start, and a control that fails are unknown, never killed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from harness.checks.table import GUARDS
from harness.clock import Deadline
from harness.errors import LoudgateError
from harness.ledger import codec
from harness.mutation.mutant import CONTROL, Mutant, difference, fingerprint
from harness.run.prover import Prover
from harness.run.result import CaseResult, CheckOutcome, slug
from harness.scenario.spec import Case, MustFail
from harness.settings import CHECKOUT
from harness.stack.keeper import Wanted
from harness.verdict import Verdict

Outcome = Literal["killed", "survived", "wrong_killer", "unknown"]
RESULTS = "mutants"
AFTERWARDS = "control/afterwards-"
"""How the ids of the controls begin that follow all trials, one per worker that tried any."""
TRIAL = "trial-"
"""How the names of the arms of trials begin."""


class Trial(BaseModel):
    """What became of one mutant. Times are in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    where: str
    removes: str
    check: str
    why: str
    change: str = ""
    """What was changed, as a unified diff."""
    line: int = 1
    """Where it begins in the original file."""
    outcome: Outcome
    killed_by: tuple[str, ...] = ()
    """Every check that went red, the named one among them if it is killed."""
    finding: str = ""
    cases: tuple[str, ...]
    ledgers: tuple[str, ...] = ()
    start_s: float = 0.0
    cases_s: float = 0.0
    control_s: float = 0.0
    cost_s: float = 0.0
    """The whole trial: copy, start, cases, control, and the end of the stack."""
    key: str = ""
    """Content hash of everything that the outcome depends on."""
    reused: bool = False

    @property
    def overhead(self) -> float:
        """Cost over start and cases: 1.0 is a trial that does nothing else."""
        return self.cost_s / (self.start_s + self.cases_s) if self.start_s + self.cases_s else 0.0


@dataclass
class Bench:
    """What a trial needs: who plays cases, all cases by id, and the tree that is copied."""

    prover: Prover
    cases: Mapping[str, Case]
    original: Path
    """Folder of the package of the reference stack."""
    trees: tuple[Path, ...]
    """What is copied and must stay as it is."""
    known: Path | None
    """Folder of outcomes of earlier campaigns, one file per content hash; None where a hash would not cover everything."""
    where: Mapping[str, str]
    """Engine, store and seed, on which an outcome depends too."""
    tried: int = 0
    """Trials that were carried out, not taken from what is known."""

    @cached_property
    def before(self) -> str:
        """What is copied, as it was when the campaign began."""
        return fingerprint(*self.trees)

    @cached_property
    def judges(self) -> str:
        """The harness, on which every outcome depends."""
        return fingerprint(CHECKOUT / "harness")

    def prove(self, mutant: Mutant, *, fresh: bool = False) -> Trial:
        """The mutant's trial, written down; what is known of the same content is not tried again."""
        key = key_of(mutant, self.cases, trees=f"{self.before} {self.judges}", where=self.where)
        known = self.known / f"{key}.json" if self.known else None
        if known is not None and known.is_file() and not fresh:
            trial = Trial.model_validate_json(known.read_bytes()).model_copy(update={"reused": True})
        else:
            self.tried += 1
            trial = self.try_mutant(mutant, key)
        codec.write_whole(self.prover.folder / RESULTS / f"{slug(mutant.id)}.json", trial.model_dump_json())
        if known is not None and trial.outcome != "unknown":
            codec.write_whole(known, trial.model_dump_json())
        return trial

    def try_mutant(self, mutant: Mutant, key: str) -> Trial:
        """Start it, play its cases and its control, stop it, and see that the original is what it was."""
        timer = Deadline(0)
        arm_name = TRIAL + mutant.id.replace("/", "-")
        change, line = difference(mutant, self.original)
        told = {name: getattr(mutant, name) for name in ("id", "removes", "check", "why", "cases")}
        found = Trial(**told, where=mutant.file, change=change, line=line, outcome="unknown", key=key)
        try:
            found = self._played(mutant, arm_name, found)
        except LoudgateError as error:
            found = found.model_copy(update={"finding": f"no trial: {error}"})
        finally:
            self.prover.arms.drop(arm_name)
        if fingerprint(*self.trees) != self.before:
            found = found.model_copy(update={"outcome": "unknown", "finding": "the original tree was changed during the trial"})
        return found.model_copy(update={"cost_s": round(timer.elapsed(), 2)})

    def afterwards(self, worker: str) -> None:
        """Once all trials are over: the real stack must be what it was, and a case passes there."""
        timer, identity = Deadline(0), f"{AFTERWARDS}{worker}"
        try:
            case = self.cases[CONTROL].model_copy(update={"id": f"{identity}/{CONTROL}"})
            result = self.prover.play(case, self.prover.arms.arm())
            outcome: Outcome = "survived" if result.verdict is Verdict.PASS else "unknown"
            finding = f"{result.id} is {result.verdict} on the real stack{': ' if result.why else ''}{result.why}"
        except LoudgateError as error:
            outcome, finding = "unknown", f"the real stack cannot be asked: {error}"
        told = {
            "id": identity,
            "where": "",
            "removes": "",
            "check": "",
            "why": "the real stack is what it was",
            "cases": (CONTROL,),
        }
        trial = Trial.model_validate(told | {"outcome": outcome, "finding": finding, "cost_s": round(timer.elapsed(), 2)})
        codec.write_whole(self.prover.folder / RESULTS / f"{slug(identity)}.json", trial.model_dump_json())

    def _played(self, mutant: Mutant, arm_name: str, found: Trial) -> Trial:
        start = Deadline(0)
        variant = self.cases[mutant.cases[0]].stack
        arm = self.prover.arms.arm(Wanted(arm_name, mutant.id, variant, "" if variant else mutant.service))
        start_s, played = start.elapsed(), Deadline(0)
        results = [self.prover.play(_on(mutant, self.cases[case_id]), arm) for case_id in mutant.cases]
        cases_s, controlled = played.elapsed(), Deadline(0)
        control = self.prover.play(_named(mutant, self.cases[mutant.control], "control"), arm)
        return concluded(found, results, control).model_copy(
            update={
                "start_s": round(start_s, 2),
                "cases_s": round(cases_s, 2),
                "control_s": round(controlled.elapsed(), 2),
                "ledgers": tuple(result.ledger for result in results),
            }
        )


def concluded(found: Trial, results: Iterable[CaseResult], control: CaseResult) -> Trial:
    """The outcome: killed by the named check whatever else is red, or by another, or by none, or it cannot be told."""
    checks = [check for result in results for check in result.checks]
    red = tuple(dict.fromkeys(check.id for check in checks if _is_red(check)))
    outcome, finding = _outcome(found.check, checks, red)
    if control.verdict is not Verdict.PASS:
        outcome, finding = "unknown", f"the control {control.id} is {control.verdict}: {control.why}"
    return found.model_copy(update={"outcome": outcome, "killed_by": red, "finding": finding})


def _is_red(check: CheckOutcome) -> bool:
    """A guard never fails: it withholds a verdict, and that is how it notices."""
    return check.verdict is Verdict.FAIL or (check.id in GUARDS and check.verdict is Verdict.UNKNOWN)


def _outcome(named: str, checks: list[CheckOutcome], red: tuple[str, ...]) -> tuple[Outcome, str]:
    if named in red:
        return "killed", next(check.finding for check in checks if check.id == named and _is_red(check))
    if red:
        other = next(check for check in checks if _is_red(check))
        return "wrong_killer", f"{named} is not red; {other.id} is: {other.finding}"
    if unsure := [check for check in checks if check.verdict is not Verdict.PASS]:
        return "unknown", f"{unsure[0].id} is {unsure[0].verdict}: {unsure[0].finding}"
    return "survived", f"all {len(checks)} checks pass"


def _named(mutant: Mutant, case: Case, kind: str) -> Case:
    return case.model_copy(update={"id": f"{kind}/{mutant.id}/{case.id}", "must_fail": None})


def _on(mutant: Mutant, case: Case) -> Case:
    must_fail = MustFail(
        mutant=mutant.id, check=mutant.check, finding="", same_as=case.id,
        stuck_after_s=mutant.stuck_after_s, once=mutant.once, go_on=mutant.go_on,
    )  # fmt: skip
    return _named(mutant, case, "trial").model_copy(update={"must_fail": must_fail})


def key_of(mutant: Mutant, cases: Mapping[str, Case], *, trees: str, where: Mapping[str, str]) -> str:
    """What the outcome depends on, as one hash: the mutant, its cases, both source trees (`trees`), and engine, store and seed."""
    told = {
        "mutant": asdict(mutant),
        "cases": [cases[case_id].model_dump(mode="json") for case_id in (*mutant.cases, mutant.control)],
        "trees": trees,
        "where": dict(where),
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=True).encode("ascii")).hexdigest()
