"""Every fault that the case plans has acted on an exchange: without it the case proves nothing, so this is never red."""

from __future__ import annotations

from collections import Counter

from harness.checks.check import Check, Finding, Notes
from harness.ledger.history import History


def judge(history: History) -> Finding:
    """One event of a fault that fired for each planned one."""
    notes = Notes(history)
    fired = Counter((event.edge, event.operation, event.tap) for event in history.fired if event.times >= 1)
    seen = {(event.edge, event.operation, event.tap): event.seen for event in history.fired}
    named = []
    for fault in history.case.faults:
        key = (fault.edge, fault.operation, fault.tap)
        what = f"{fault.tap} on {fault.operation} of {fault.edge}"
        if fired[key]:
            named.append(what)
        else:
            notes.gap(f"the planned fault {what} never fired; it met {seen.get(key, 0)} exchange(s) that it could act on")
        fired[key] -= 1
    return notes.conclude(f"fired: {', '.join(named)}")


CHECK = Check(
    id="faults_fired",
    title="Every planned fault has acted",
    needs=("relay",),
    applies=lambda case: bool(case.faults),
    judge=judge,
    guard=True,
)
