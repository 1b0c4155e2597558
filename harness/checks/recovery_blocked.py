"""A session of which nobody knows how its last work ended says so, takes no more prompts, and cannot be loaded as if nothing were.

The driver's own account is held against what the relay saw of the session API. Whether a block was called for is the scenario's
business; that nothing is hidden behind it is that of `no_false_success`.
"""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes
from harness.ledger.event import Driven
from harness.ledger.facts import DRIVER_HOST, RECOVERY_REQUIRED, decoded, error_code
from harness.ledger.history import History
from harness.scenario.spec import Case


def _blocked(event: Driven) -> list[str]:
    """What is wrong with what a session that must be blocked said."""
    where = f"session {event.session} (#{event.order})"
    says = [] if decoded(event.body).get("recoveryBlocked") is True else [f"the status of {where} does not say recoveryBlocked"]
    refuses = [] if event.detail == RECOVERY_REQUIRED else [f"another prompt to {where} was not refused with {RECOVERY_REQUIRED}"]
    return says + refuses


def _unloadable(event: Driven) -> list[str]:
    """What is wrong with how a load was refused."""
    right = event.detail == RECOVERY_REQUIRED
    return [] if right else [f"the load of session {event.session} (#{event.order}) was refused with another code"]


def _let_in(history: History, session: str) -> list[str]:
    """Loads that were answered, beyond those that the scenario plans."""
    more = len(history.driven("loaded", session)) - sum(act.load == session for act in history.case.acts)
    return [f"session {session} was loaded, though its load must be refused"] if more > 0 else []


def judge(history: History) -> Finding:
    """Every planned look at a blocked session, and every planned refusal of a load: by the driver and by the relay."""
    notes, seen = Notes(history), 0
    for session in history.sessions:
        looks = sum(act.blocked == session for act in history.case.acts)
        loads = sum(act.load_refused == session for act in history.case.acts)
        blocked, refused = history.driven("blocked", session), history.driven("load_refused", session)
        notes.against(*(wrong for event in blocked for wrong in _blocked(event)))
        notes.against(*(wrong for event in refused for wrong in _unloadable(event)))
        let_in = _let_in(history, session) if loads else []
        notes.against(*let_in)
        if len(blocked) < looks:
            notes.missing(f"session {session} was looked at {len(blocked)} of {looks} times while it had to be blocked")
        if len(refused) < loads and not let_in:
            notes.missing(f"{len(refused)} of {loads} loads of session {session} were refused")
        for operation, wanted in (("prompt", len(blocked)), ("load", len(refused))):
            told = [e for e in history.exchanges(DRIVER_HOST, operation, session=session) if error_code(e) == RECOVERY_REQUIRED]
            if len(told) < wanted:
                notes.against(f"session {session}: relay driver-host saw {len(told)} {operation} refused so, the driver {wanted}")
        seen += len(blocked) + len(refused)
    return notes.conclude(f"{seen} time(s) a blocked session said so and refused with {RECOVERY_REQUIRED}, by driver and relay")


def _applies(case: Case) -> bool:
    return any(act.blocked is not None or act.load_refused is not None for act in case.acts)


CHECK = Check(
    id="recovery_blocked",
    title="A session whose last outcome is unknown says so and refuses prompts and loads",
    needs=("relay",),
    applies=_applies,
    judge=judge,
)
