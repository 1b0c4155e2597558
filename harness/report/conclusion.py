"""The verdict of a run and the one line that must not mislead. Pure. Worst wins, and what is unknown is never green."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from harness.mutation.catalogue import CONTROLS
from harness.mutation.score import Mutation
from harness.verdict import RunVerdict, Verdict


class Counts(BaseModel):
    """Cases. `passed` includes the must-fail cases that were red as they must be."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    planned: int
    ran: int
    passed: int
    failed: int
    unknown: int


@dataclass(frozen=True)
class Stopped:
    """What kept a run from its proper end: an interruption, services that died, an engine that failed."""

    interrupted: bool
    reasons: tuple[str, ...]


def count(planned: Sequence[str], outcomes: Sequence[Verdict]) -> Counts:
    """The numbers of the headline."""
    passed, failed = outcomes.count(Verdict.PASS), outcomes.count(Verdict.FAIL)
    return Counts(planned=len(planned), ran=len(outcomes), passed=passed, failed=failed, unknown=len(outcomes) - passed - failed)


def _outcomes(mutation: Mutation, *outcomes: str) -> int:
    return sum(trial.outcome in outcomes for trial in mutation.mutants)


def verdict_of(counts: Counts, mutation: Mutation, *, tried: int, planned: int, stopped: Stopped) -> RunVerdict:
    """Of `planned` mutants, controls included, `tried` were. A failure outranks what is unknown; nothing left out is accepted."""
    if stopped.interrupted:
        return RunVerdict.INTERRUPTED
    if counts.failed or _outcomes(mutation, "survived", "wrong_killer"):
        return RunVerdict.REJECTED
    campaign_incomplete = planned and (tried < planned or not mutation.controls.right or _outcomes(mutation, "unknown"))
    nothing = not counts.planned and not planned
    if counts.unknown or counts.ran < counts.planned or campaign_incomplete or nothing or stopped.reasons:
        return RunVerdict.INCOMPLETE
    # Only a campaign that was carried out can tell what it leaves unproven.
    return RunVerdict.REJECTED if mutation.unproven_checks or mutation.unkilled_rows else RunVerdict.ACCEPTED


def headline(
    verdict: RunVerdict, counts: Counts, mutation: Mutation, *, campaign: int, stopped: Stopped, partial: bool, where: str
) -> str:
    """`campaign` is the number of planned mutants with the controls; `where` names target, engine and store."""
    words = {RunVerdict.INTERRUPTED: "interrupted: incomplete"}
    if not campaign:
        words[RunVerdict.ACCEPTED] = "accepted, mutation not run"
    parts = [
        *(_of_cases(counts, partial=partial) if counts.planned else ()),
        *(_of_mutants(mutation, campaign) if campaign else ()),
    ]
    return f"{words.get(verdict, str(verdict))} — {', '.join([*parts, *stopped.reasons[:1]])} — {where}"


def _of_cases(counts: Counts, *, partial: bool) -> list[str]:
    parts = [f"{counts.passed} of {counts.planned} cases as expected"]
    parts += [f"{counts.failed} failed"] if counts.failed else []
    parts += [f"{counts.unknown} unknown"] if counts.unknown else []
    parts += [f"{counts.planned - counts.ran} did not run"] if counts.ran < counts.planned else []
    return parts + (["a selection of the cases"] if partial else [])


def _of_mutants(mutation: Mutation, campaign: int) -> list[str]:
    planned = max(campaign - len(CONTROLS), 0)
    parts = [f"{_outcomes(mutation, 'killed')} of {planned} mutants killed by their named checks"]
    for outcome, words in (("survived", "survived"), ("wrong_killer", "killed by another check"), ("unknown", "unknown")):
        parts += [f"{number} {words}"] if (number := _outcomes(mutation, outcome)) else []
    parts += [f"{planned - len(mutation.mutants)} not tried"] if planned > len(mutation.mutants) else []
    parts += ["controls wrong: no score"] if mutation.mutants and not mutation.controls.right else []
    parts += [f"unproven: {', '.join(mutation.unproven_checks)}"] if mutation.unproven_checks else []
    parts += [f"no mutant removes {', '.join(mutation.unkilled_rows)}"] if mutation.unkilled_rows else []
    return parts + (["a selection of the mutants"] if mutation.partial else [])
