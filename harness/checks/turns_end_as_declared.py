"""Every turn ends exactly once, and as the scenario declares."""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes, has_turns
from harness.checks.turns import note_turns
from harness.ledger.history import History


def judge(history: History) -> Finding:
    """One end per prompt, of the declared type."""
    notes = Notes(history)
    for session in history.sessions:
        note_turns(history, session, notes)
    return notes.conclude(f"{len(history.driven('ended'))} turn(s) ended once each, as declared")


CHECK = Check(
    id="turns_end_as_declared",
    title="Every turn ends exactly once, as the scenario declares",
    needs=(),
    applies=has_turns,
    judge=judge,
)
