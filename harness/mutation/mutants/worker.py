"""Mutants of the worker."""

from __future__ import annotations

from harness.mutation.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = ()
