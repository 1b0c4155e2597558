"""Every mutant of a campaign, as tests. `loudgate mutate` and `loudgate run --with-mutation` end here."""

from __future__ import annotations

from collections.abc import Callable

from harness.mutation.mutant import Mutant
from harness.mutation.trial import Trial


def test_mutant(loudgate_mutant: Mutant, try_mutant: Callable[[Mutant], Trial]) -> None:
    """The check that the mutant names notices it."""
    try_mutant(loudgate_mutant)
