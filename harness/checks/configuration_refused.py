"""A session whose configuration cannot be honoured is not created: a definite error says so, and the store has nothing of it."""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes
from harness.ledger.facts import DRIVER_HOST, HOST_STORE, error_code
from harness.ledger.history import History
from harness.scenario.spec import Case


def judge(history: History) -> Finding:
    """Every planned attempt, by the driver and by the relays."""
    notes, seen = Notes(history), 0
    for session in dict.fromkeys(act.create_refused for act in history.case.acts if act.create_refused):
        planned = sum(act.create_refused == session for act in history.case.acts)
        refused = history.driven("create_refused", session)
        notes.against(*(f"session {session} was created (#{event.order})" for event in history.driven("created", session)))
        if len(refused) < planned and not history.driven("created", session):
            notes.missing(f"session {session} was refused {len(refused)} of {planned} times")
        told = [e for e in history.exchanges(DRIVER_HOST, "create", session=session) if e.status == 400 and error_code(e)]
        if len(told) < len(refused):
            notes.against(f"relay driver-host saw {len(told)} create(s) of session {session} refused with 400, not {len(refused)}")
        stored = history.exchanges(HOST_STORE, session=session)
        notes.against(*(f"{e.operation} seen by relay host-store (#{e.order})" for e in stored))
        if history.records(session):
            notes.against(f"SQL has records of session {session}")
        seen += len(told)
    if not seen and not history.driven("created"):
        notes.gap("no control: the relay saw no session refused")
    return notes.conclude(f"{seen} session(s) refused for their configuration, with nothing in the store")


def _applies(case: Case) -> bool:
    return any(act.create_refused is not None for act in case.acts)


CHECK = Check(
    id="configuration_refused",
    title="A configuration that cannot be honoured is refused, and leaves nothing",
    needs=("relay", "sql"),
    applies=_applies,
    judge=judge,
    claims_absence=True,
)
