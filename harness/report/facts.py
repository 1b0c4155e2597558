"""The one result model: `report.json`, version 1, rebuilt from what a run left on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import UsageError
from harness.run.prover import RESULTS
from harness.run.result import CaseResult
from harness.verdict import RunVerdict, Verdict

PLAN = "plan.json"


class Part(BaseModel):
    """Base of the report's parts."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Target(Part):
    """What was judged."""

    name: str
    version: str
    engine: str
    store: str
    objects: str = ""
    """The object store of the o2 path, with its version."""
    images: dict[str, str] = {}


class Source(Part):
    """The checkout that was judged; `commit` is empty outside a git checkout."""

    commit: str
    dirty: bool


class Counts(Part):
    """Cases. `passed` includes the must-fail cases that were red as they must be."""

    planned: int
    ran: int
    passed: int
    failed: int
    unknown: int


class Fault(Part):
    """One planned fault."""

    edge: str
    operation: str
    kind: str
    fired: bool


class Leaks(Part):
    """What was left behind when the run had cleaned up."""

    containers: int = 0
    networks: int = 0
    volumes: int = 0
    processes: int = 0


class Controls(Part):
    """The campaign's controls: the no-op mutant must pass, the must-die mutant must fail."""

    noop: str = "not run"
    must_die: str = "not run"


class MutantResult(Part):
    """One mutant, the check that had to notice, and what did."""

    id: str
    where: str
    check: str
    outcome: Literal["killed", "survived", "wrong_killer", "unknown"]
    killed_by: tuple[str, ...] = ()


class Mutation(Part):
    """The campaign, if there was one."""

    controls: Controls = Controls()
    mutants: tuple[MutantResult, ...] = ()
    unproven_checks: tuple[str, ...] = ()


class Plan(Part):
    """What a run set out to do, written before the first case."""

    run_id: str
    seed: int
    started_at: str
    command: str
    target: Target
    source: Source
    cases: tuple[str, ...]
    partial: bool = False
    """Only some of all cases were selected."""


class Ending(Part):
    """How a run ended, written when it did."""

    duration_s: float
    interrupted: bool = False
    died: tuple[str, ...] = ()
    """Services that ended by themselves."""
    problems: tuple[str, ...] = ()
    """What went wrong with the engine itself."""
    objects: str = ""
    images: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    leaks: Leaks = Leaks()


class Report(Part):
    """`report.json`."""

    report_schema: Literal["loudgate.report/1"] = Field(
        default="loudgate.report/1", serialization_alias="schema", validation_alias="schema"
    )
    verdict: RunVerdict
    headline: str
    run_id: str
    seed: int
    started_at: str
    duration_s: float
    command: str
    target: Target
    source: Source
    counts: Counts
    cases: tuple[CaseResult, ...]
    not_run: tuple[str, ...]
    mutation: Mutation = Mutation()
    faults: tuple[Fault, ...] = ()
    leaks: Leaks
    notes: tuple[str, ...] = ()
    digest: str


def read_results(folder: Path) -> tuple[CaseResult, ...]:
    """Every result on disk, by id."""
    files = sorted((folder / RESULTS).glob("*.json"))
    return tuple(sorted((CaseResult.model_validate_json(path.read_bytes()) for path in files), key=lambda result: result.id))


def count(planned: Sequence[str], results: Sequence[CaseResult]) -> Counts:
    """The numbers of the headline."""
    by = [result.outcome for result in results]
    passed, failed = by.count(Verdict.PASS), by.count(Verdict.FAIL)
    return Counts(planned=len(planned), ran=len(by), passed=passed, failed=failed, unknown=len(by) - passed - failed)


def verdict_of(counts: Counts, ending: Ending) -> RunVerdict:
    """Worst wins: a failure outranks what is unknown, and what did not run is never accepted."""
    if ending.interrupted:
        return RunVerdict.INTERRUPTED
    if counts.failed:
        return RunVerdict.REJECTED
    if counts.unknown or counts.ran < counts.planned or not counts.planned or ending.died or ending.problems:
        return RunVerdict.INCOMPLETE
    return RunVerdict.ACCEPTED


def headline(verdict: RunVerdict, counts: Counts, plan: Plan, ending: Ending) -> str:
    """The one line that must not mislead."""
    word = {RunVerdict.ACCEPTED: "accepted, mutation not run", RunVerdict.INTERRUPTED: "interrupted: incomplete"}.get(
        verdict, str(verdict)
    )
    parts = [f"{counts.passed} of {counts.planned} cases as expected"]
    parts += [f"{counts.failed} failed"] if counts.failed else []
    parts += [f"{counts.unknown} unknown"] if counts.unknown else []
    parts += [f"{counts.planned - counts.ran} did not run"] if counts.ran < counts.planned else []
    parts += [f"died: {', '.join(ending.died)}"] if ending.died else []
    parts += [f"engine: {ending.problems[0]}"] if ending.problems else []
    parts += ["a selection of the cases"] if plan.partial else []
    return f"{word} — {', '.join(parts)} — {plan.target.name} on engine {plan.target.engine}, store {plan.target.store}"


def total_digest(results: Sequence[CaseResult]) -> str:
    """One digest over all cases: two runs with one seed agree in it."""
    lines = "".join(f"{result.id} {result.verdict} {result.digest}\n" for result in results)
    return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"


def build(folder: Path) -> Report:
    """The report of the run in `folder`; `UsageError` if there is none. A run without an ending was killed: incomplete."""
    try:
        plan = Plan.model_validate_json((folder / PLAN).read_bytes())
        results = read_results(folder)
        ending = read_ending(folder)
    except (OSError, ValidationError, json.JSONDecodeError) as error:
        raise UsageError(f"{folder}: no run that can be reported: {type(error).__name__}") from error
    counts = count(plan.cases, results)
    verdict = verdict_of(counts, ending)
    known = {result.id for result in results}
    return Report(
        verdict=verdict,
        headline=headline(verdict, counts, plan, ending),
        run_id=plan.run_id,
        seed=plan.seed,
        started_at=plan.started_at,
        duration_s=ending.duration_s,
        command=plan.command,
        target=plan.target.model_copy(update={"images": ending.images, "objects": ending.objects}),
        source=plan.source,
        counts=counts,
        cases=results,
        not_run=tuple(case for case in plan.cases if case not in known),
        leaks=ending.leaks,
        notes=(*ending.notes, *ending.problems),
        digest=total_digest(results),
    )


ENDING = "ending.json"


def read_ending(folder: Path) -> Ending:
    """How the run ended; a run that did not say so was killed."""
    path = folder / ENDING
    if not path.exists():
        return Ending(duration_s=0, interrupted=True, notes=("the run was killed before it could finish",))
    return Ending.model_validate_json(path.read_bytes())
