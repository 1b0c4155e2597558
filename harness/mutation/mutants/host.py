"""Mutants of the host."""

from __future__ import annotations

from harness.mutation.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        id="host/unicode-removed",
        file="hosted/host/admission.py",
        edits=(('    Check("unicode", "Shell text is well-formed", check_unicode),\n', ""),),
        check="zero_acquisition",
        cases=("unicode/negative/unpaired-high/end/command@local-shell2",),
        why="the admission check that this project exists for is not there",
        removes="host:unicode",
        once="acquire",
        stuck_after_s=0.2,
        containers=True,
    ),
)
