"""Every call that must be executed is executed once, by every witness's count."""

from __future__ import annotations

from collections import Counter

from harness.checks.check import RUN, Check, Finding, Notes, has_run
from harness.ledger.facts import Planned, Trace, sha256
from harness.ledger.history import History

RESULTS = {"executed": ("success",), "stopped": ("error", "cancelled")}
"""How an execution may settle, by what the scenario expects."""


def _count(notes: Notes, seen: int, wanted: int, what: str) -> None:
    """Too many contradict; too few may be the harness's own doing."""
    note = notes.against if seen > wanted else notes.missing
    if seen != wanted:
        note(f"{what}: {seen}, not {wanted}")


def _by_call(notes: Notes, planned: Planned, trace: Trace) -> None:
    _count(notes, len(trace.ids), 1, f"{planned.where}: executions prepared on host-broker")
    if trace.executes or not trace.perhaps("execute"):
        _count(notes, len(trace.executes), 1, f"{planned.where}: execute accepted on broker-worker")
    _count(notes, len(trace.rows), 1, f"{planned.where}: SQL executions rows")
    if not trace.starts and not trace.perhaps(
        "start"
    ):  # a start may be repeated after a lost reply; that it began nothing twice, `execute` shows
        notes.missing(f"{planned.where}: no start was acknowledged on host-broker")
    results = RESULTS[planned.call.expect]
    for row in trace.rows:
        state, result, kind = (row.values.get(key) for key in ("state", "result", "kind"))
        if state != "settled" or result not in results or kind != "tool":
            notes.missing(f"{planned.where}: SQL executions row is {state}/{result}, kind {kind}")
        if row.values.get("execution_call_id") not in trace.ids:
            notes.against(f"{planned.where}: SQL executions row has an id that host-broker never prepared")


def judge(history: History) -> Finding:
    """One reservation, one start, one execution, one row, one process for each."""
    notes = Notes(history)
    calls = history.planned(*RUN)
    for planned in calls:
        _by_call(notes, planned, history.trace(planned))
    spawned = Counter(command.digest for command in history.commands)
    for digest, wanted in Counter(sha256(call.command) for call in calls if call.command is not None).items():
        _count(notes, spawned[digest], wanted, f"process: command {digest[:15]} spawned")
    return notes.conclude(f"{len(calls)} call(s) executed once each, by relay, SQL and process")


CHECK = Check(
    id="exactly_one_execution",
    title="Every admitted call is reserved, started, executed and recorded exactly once",
    needs=("relay", "sql", "process"),
    applies=has_run,
    judge=judge,
    claims_absence=True,
)
