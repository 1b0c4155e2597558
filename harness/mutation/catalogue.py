"""The catalogue of mutants. To add one: an entry here, and the check it names must go red."""

from __future__ import annotations

from pathlib import Path

from harness.errors import UsageError
from harness.mutation.mutant import Mutant, apply
from harness.stack.keeper import Sources

CATALOGUE: tuple[Mutant, ...] = (
    Mutant(
        id="host/unicode-removed",
        file="hosted/host/admission.py",
        anchor='    Check("unicode", "Shell text is well-formed", check_unicode),\n',
        replacement="",
        check="zero_acquisition",
        why="the admission check that this project exists for is not there",
    ),
)


def find(mutant_id: str) -> Mutant:
    """The mutant with this id."""
    for mutant in CATALOGUE:
        if mutant.id == mutant_id:
            return mutant
    raise UsageError(f"no mutant {mutant_id!r} (known: {', '.join(mutant.id for mutant in CATALOGUE)})")


def copies_of(original: Path) -> Sources:
    """What makes the mutated copy for an arm, from the package below `original`."""
    return lambda mutant_id, folder: apply(find(mutant_id), original, folder)
