"""A second session on the same workspace does its work."""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes
from harness.checks.turns import note_turns
from harness.ledger.history import History


def judge(history: History) -> Finding:
    """The last session's turns ended as declared, and its executed calls settled with success."""
    notes, session = Notes(history), history.sessions[-1]
    note_turns(history, session, notes)
    calls = [planned for planned in history.planned("executed") if planned.session == session]
    settled = [planned for planned in calls if history.trace(planned).settled]
    notes.missing(*(f"SQL: {call.where} has not settled with success" for call in calls if call not in settled))
    return notes.conclude(f"session {session} ended its turns as declared, {len(settled)} executed call(s) settled with success")


CHECK = Check(
    id="second_session_completes",
    title="The last session on a shared workspace completes its turns and its calls",
    needs=("relay", "sql"),
    applies=lambda case: len({act.prompt for act in case.acts if act.prompt is not None}) > 1,
    judge=judge,
)
