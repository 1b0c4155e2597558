"""The one result model: `report.json`, version 1, rebuilt from what a run left on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.checks.table import CHECKS
from harness.errors import UsageError
from harness.mutation.score import Mutation, score
from harness.mutation.trial import RESULTS as TRIALS
from harness.mutation.trial import Trial
from harness.report.conclusion import Counts, Stopped, count, headline, verdict_of
from harness.run.prover import RESULTS
from harness.run.result import CaseResult
from harness.verdict import RunVerdict

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
    mutants: tuple[str, ...] = ()
    """Of the campaign, controls included; empty: there is none."""
    partial_mutants: bool = False
    """Only some of all mutants were selected."""
    unkilled_rows: tuple[str, ...] = ()
    """Admission checks that no mutant of the catalogue removes."""


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


def total_digest(results: Sequence[CaseResult]) -> str:
    """One digest over all cases: two runs with one seed agree in it."""
    lines = "".join(f"{result.id} {result.verdict} {result.digest}\n" for result in results)
    return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"


def read_trials(folder: Path) -> tuple[Trial, ...]:
    """Every trial on disk, by id."""
    files = sorted((folder / TRIALS).glob("*.json"))
    return tuple(sorted((Trial.model_validate_json(path.read_bytes()) for path in files), key=lambda trial: trial.id))


def build(folder: Path) -> Report:
    """The report of the run in `folder`; `UsageError` if there is none. A run without an ending was killed: incomplete."""
    try:
        plan = Plan.model_validate_json((folder / PLAN).read_bytes())
        results = read_results(folder)
        ending, trials = read_ending(folder), read_trials(folder)
    except (OSError, ValidationError, json.JSONDecodeError) as error:
        raise UsageError(f"{folder}: no run that can be reported: {type(error).__name__}") from error
    counts = count(plan.cases, [result.outcome for result in results])
    mutation = score(trials, checks=(check.id for check in CHECKS), rows=plan.unkilled_rows, partial=plan.partial_mutants)
    mutation = mutation if plan.mutants else Mutation()
    stopped = Stopped(interrupted=ending.interrupted, reasons=(*(f"died: {one}" for one in ending.died), *ending.problems))
    verdict = verdict_of(
        counts, mutation, tried=len({trial.id for trial in trials} & set(plan.mutants)), planned=len(plan.mutants), stopped=stopped
    )
    known = {result.id for result in results}
    return Report(
        verdict=verdict,
        headline=headline(
            verdict, counts, mutation, campaign=len(plan.mutants), stopped=stopped, partial=plan.partial, where=_where(plan)
        ),
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
        mutation=mutation,
        leaks=ending.leaks,
        notes=(*ending.notes, *ending.problems),
        digest=total_digest(results),
    )


def _where(plan: Plan) -> str:
    return f"{plan.target.name} on engine {plan.target.engine}, store {plan.target.store}"


ENDING = "ending.json"


def read_ending(folder: Path) -> Ending:
    """How the run ended; a run that did not say so was killed."""
    path = folder / ENDING
    if not path.exists():
        return Ending(duration_s=0, interrupted=True, notes=("the run was killed before it could finish",))
    return Ending.model_validate_json(path.read_bytes())
