"""What the session's policy denies leaves nothing, not even a question; and the model is told that it was the policy."""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.check import Check, Finding, Notes
from harness.checks.questions import asked_of
from harness.checks.told import told_of
from harness.ledger.facts import HOST_BROKER, Planned, Served, decoded, sha256
from harness.ledger.history import History
from harness.scenario.spec import Case

WORD = "policy"


def _left(history: History, planned: Planned, step: Served) -> Iterator[str]:
    """Where the denied call left a trace."""
    call = planned.call.id
    yield from (f"approval record {one.state} appended (#{one.exchange.order})" for one in asked_of(history, planned, step))
    prepares = [e for e in history.exchanges(HOST_BROKER, "prepare", window=step) if decoded(e.request).get("toolCallId") == call]
    yield from (f"prepare seen by relay host-broker (#{e.order})" for e in prepares)
    if any(row.values.get("tool_call_id") == call for row in history.rows("executions", planned.session)):
        yield "SQL has an executions row of it"
    if planned.command is not None and any(command.digest == sha256(planned.command) for command in history.commands):
        yield "process: its command was spawned"


def judge(history: History) -> Finding:
    """Every call that the scenario has the policy deny."""
    notes, seen = Notes(history), 0
    for planned, step, text in told_of(history, notes, "denied", lambda call: call.policy):
        notes.against(*(f"{planned.where}: {left}" for left in _left(history, planned, step)))
        if WORD not in text or str(planned.call.policy) not in text:
            notes.against(f"{planned.where}: its error does not say that the policy denied it, or not why")
        seen += 1
    ran = sum(len(history.trace(planned).executes) for planned in history.planned("executed"))
    if not ran:
        notes.gap("no control: nothing was executed in this case")
    return notes.conclude(f"{seen} call(s) denied by the policy left nothing, and were told so; control: {ran} execute(s)")


def _applies(case: Case) -> bool:
    return any(call.policy is not None for _, call in case.calls())


CHECK = Check(
    id="policy_denied",
    title="What the policy denies leaves nothing, and the model is told that it was the policy",
    needs=("model", "relay", "sql", "process"),
    applies=_applies,
    judge=judge,
    claims_absence=True,
)
