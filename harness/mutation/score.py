"""The score of a campaign. Pure. Without controls that came out right there is none: it would mean nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from harness.mutation.catalogue import CONTROLS, MUST_DIE, NOOP
from harness.mutation.trial import AFTERWARDS, Trial

Control = Literal["not run", "as it must be", "wrong"]


class Controls(BaseModel):
    """The no-op mutant must survive, the must-die mutant must be killed, and the real stack must be what it was afterwards."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    noop: Control = "not run"
    must_die: Control = "not run"
    afterwards: Control = "not run"
    """Of the workers that tried any mutant; a campaign that knew everything already has none to try."""

    @property
    def right(self) -> bool:
        """Whether the campaign can be believed."""
        return (self.noop, self.must_die) == ("as it must be", "as it must be") and self.afterwards != "wrong"


class Mutation(BaseModel):
    """The campaign, if there was one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    controls: Controls = Controls()
    mutants: tuple[Trial, ...] = ()
    unproven_checks: tuple[str, ...] = ()
    """Checks of the harness that no mutant of a whole campaign turned red."""
    unkilled_rows: tuple[str, ...] = ()
    """Admission checks of the services that no mutant removes."""
    partial: bool = False
    """Only some mutants were selected, so nothing is said about unproven checks."""


def _control(trial: Trial | None, wanted: str) -> Control:
    if trial is None:
        return "not run"
    return "as it must be" if trial.outcome == wanted else "wrong"


def score(trials: Sequence[Trial], *, checks: Iterable[str], rows: Sequence[str], partial: bool) -> Mutation:
    """The campaign's part of a report, from its trials; `checks` are all that the harness has, `rows` those without a mutant."""
    known = {trial.id: trial for trial in trials}
    after = [trial for trial in trials if trial.id.startswith(AFTERWARDS)]
    controls = Controls(
        noop=_control(known.get(NOOP.id), "survived"),
        must_die=_control(known.get(MUST_DIE.id), "killed"),
        afterwards=_control(next(iter(sorted(after, key=lambda trial: trial.outcome == "survived")), None), "survived"),
    )
    others = {control.id for control in CONTROLS} | {trial.id for trial in after}
    mutants = [trial for trial in trials if trial.id not in others]
    if not controls.right:
        withheld = {"outcome": "unknown", "finding": "no score: the campaign's controls did not come out as they must"}
        mutants = [trial.model_copy(update=withheld) for trial in mutants]
    red = {check for trial in mutants for check in trial.killed_by}
    return Mutation(
        controls=controls,
        mutants=tuple(mutants),
        unproven_checks=() if partial else tuple(check for check in checks if check not in red),
        unkilled_rows=tuple(rows),
        partial=partial,
    )
