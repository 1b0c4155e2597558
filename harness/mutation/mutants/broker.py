"""Mutants of the broker."""

from __future__ import annotations

from harness.mutation.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = ()
