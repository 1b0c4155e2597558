"""All mutants. To add one: an entry in the module of the service that it changes, and the check it names must go red."""

from __future__ import annotations

from pathlib import Path

from harness.errors import UsageError
from harness.mutation.mutant import Mutant, apply
from harness.mutation.mutants import arguments, broker, hooks, host, sessions, store, turns, worker
from harness.stack.keeper import Sources

NOOP = Mutant(
    id="control/no-op",
    file="hosted/host/admission.py",
    edits=(("Objections = dict[int, str]\n", "Objections = dict[int, str]  # the same\n"),),
    check="zero_acquisition",
    cases=("unicode/negative/unpaired-high/end/command@local-shell2", "batch/correction-once@local-shell2"),
    why="it changes nothing, so it must survive: a campaign that kills it kills everything",
)
MUST_DIE = Mutant(
    id="control/must-die",
    file="hosted/host/admission.py",
    edits=(("            return objections\n", "            return {}\n"),),
    check="zero_acquisition",
    cases=("unicode/negative/unpaired-high/end/command@local-shell2",),
    why="its host refuses nothing at all, so it must be killed: a campaign that spares it sees nothing",
    once="acquire",
    stuck_after_s=0.2,
)
CATALOGUE: tuple[Mutant, ...] = (
    *(*host.MUTANTS, *turns.MUTANTS, *sessions.MUTANTS, *hooks.MUTANTS, *arguments.MUTANTS),
    *(*broker.MUTANTS, *store.MUTANTS, *worker.MUTANTS),
)
CONTROLS = (NOOP, MUST_DIE)
IMPORTANT = (
    *("host/unicode-removed", "host/siblings-executed", "host/halves-replaced", "host/refusal-releases"),
    *("broker/busy-ignored", "broker/prepared-anew", "store/writer-removed", "store/record-parsed"),
    *("worker/command-twice", "worker/tree-survives", "worker/tenants-mixed"),
)
"""Those that are tried in containers too, where each needs a container of its own."""


def wanted(mutant: Mutant) -> str:
    """The outcome that the mutant's trial must have."""
    return "survived" if mutant.id == NOOP.id else "killed"


def find(mutant_id: str) -> Mutant:
    """The mutant with this id."""
    for mutant in (*CONTROLS, *CATALOGUE):
        if mutant.id == mutant_id:
            return mutant
    raise UsageError(f"no mutant {mutant_id!r} (known: {', '.join(mutant.id for mutant in CATALOGUE)})")


def copies_of(original: Path) -> Sources:
    """What makes the mutated copy for an arm, from the package below `original`."""
    return lambda mutant_id, folder: apply(find(mutant_id), original, folder)
