"""A refused batch reserves and runs nothing: not on the wire, not in SQL, not as a process.

A file tool has no process; of it the wire and SQL speak here, and the workspace in `zero_side_effects`.
"""

from __future__ import annotations

from collections import Counter

from harness.checks.absence import counted, gaps, intruder
from harness.checks.check import ADMITTED, RUN, Check, Finding, Notes, has_refused
from harness.ledger.facts import BROKER_WORKER, HOST_BROKER, decoded, sha256
from harness.ledger.history import History

_ON_BROKER, _ON_WORKER = ("prepare", "start"), ("execute",)


def _in_windows(history: History) -> list[str]:
    return [
        intruder(e, step)
        for step in history.refused
        for e in history.exchanges(HOST_BROKER, *_ON_BROKER, window=step)
        + history.exchanges(BROKER_WORKER, *_ON_WORKER, window=step)
    ]


def _by_call(history: History) -> list[str]:
    """Reservations and executions of calls that had to be refused, at whatever time."""
    found = []
    admitted = {(call.session, call.call.id) for call in history.planned(*ADMITTED)}
    for planned in history.planned("refused", "sibling"):
        key, where = planned.call.id, planned.where
        if (planned.session, key) in admitted:  # a correction may reuse the id; then only the window tells them apart
            continue
        prepares = history.exchanges(HOST_BROKER, "prepare", session=planned.session)
        asked = [e for e in prepares if decoded(e.request).get("toolCallId") == key]
        rows = [row for row in history.rows("executions", planned.session) if row.values.get("tool_call_id") == key]
        found += [f"{where}: prepare seen by relay {e.edge} (#{e.order})" for e in asked]
        found += [f"{where}: SQL executions row in state {row.values.get('state')}" for row in rows]
    return found


def _spawned(history: History) -> list[str]:
    """Commands that no executed call explains. By digest, not by time: the process record may arrive late."""
    explained = Counter(sha256(call.command) for call in history.planned(*RUN) if call.command is not None)
    found = []
    for command in history.commands:
        explained[command.digest] -= 1
        if explained[command.digest] < 0:
            within = [step.where for step in history.refused if step.covers(command.order)]
            after = f" after {within[0]}" if within else ""
            found.append(f"process: command #{command.order} ({command.digest[:15]}) of no executed call was spawned{after}")
    return found


def _control(history: History) -> str | None:
    for planned in history.planned("executed"):
        trace = history.trace(planned)
        ran = bool(trace.commands) or planned.command is None
        started = trace.starts or trace.perhaps("start")
        executed = trace.executes or trace.perhaps("execute")
        if trace.prepares and started and executed and trace.rows and ran:
            return f"control: prepare #{trace.prepares[0].order} of {planned.where}, with its start, execute and SQL row"
    return None


def judge(history: History) -> Finding:
    """No reservation, start, execution or process for what was refused."""
    notes, control = Notes(history), _control(history)
    notes.against(*_in_windows(history), *_by_call(history), *_spawned(history))
    notes.gap(*gaps(history, *_ON_BROKER, *_ON_WORKER))
    if control is None:
        notes.gap("no control: no executed call was seen by every witness")
    return notes.conclude(f"no prepare, start, execute or process after {counted(history)}; {control}")


CHECK = Check(
    id="zero_execution",
    title="A refused batch reserves, starts and runs nothing",
    needs=("model", "relay", "sql", "process"),
    applies=has_refused,
    judge=judge,
    claims_absence=True,
)
