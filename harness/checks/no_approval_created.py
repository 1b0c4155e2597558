"""A refused batch asks nobody: what admission objects to is refused before it could become a question."""

from __future__ import annotations

from harness.checks.absence import counted, gaps
from harness.checks.check import ADMITTED, Check, Finding, Notes, asks, has_inert
from harness.checks.questions import REQUESTED, askings, kept, pending
from harness.ledger.history import History
from harness.scenario.spec import Case


def _in_windows(history: History) -> list[str]:
    """Questions put down, or seen pending, between a refusal and the next model request."""
    found = []
    for step in history.inert:
        for one in askings(history, step.session):
            if step.covers(one.exchange.order):
                found.append(f"append of an approval (#{one.exchange.order}) seen by relay host-store after {step.where}")
        for event in history.driven("asked", step.session):
            # The driver may look late: what it saw pending belongs here only if it is about a call of this batch.
            if step.covers(event.order) and event.detail in [call.id for call in step.step.call]:
                found.append(f"a question pending (#{event.order}) after {step.where}")
    return found


def _by_call(history: History) -> list[str]:
    """Questions about refused calls, at whatever time; a correction may reuse the id, then only the window tells them apart."""
    reused, found = {(call.session, call.call.id) for call in history.planned(*ADMITTED)}, []
    for planned in history.planned("refused", "sibling"):
        if not planned.inert or (planned.session, planned.call.id) in reused:
            continue
        appended = [one for one in askings(history, planned.session) if one.call == planned.call.id]
        found += [f"{planned.where}: approval record {one.state} in relay host-store (#{one.exchange.order})" for one in appended]
        found += [f"{planned.where}: approval record {record.sequence} in SQL" for record in kept(history, planned)]
        found += [f"{planned.where}: the driver saw it pending (#{event.order})" for event in pending(history, planned)]
    return found


def _control(history: History) -> str | None:
    """An admitted call whose question both witnesses saw."""
    for planned in history.planned("executed", "stopped", "denied"):
        asked = [one for one in askings(history, planned.session) if one.call == planned.call.id and one.state == REQUESTED]
        if asked and kept(history, planned):
            return f"control: approval append #{asked[0].exchange.order} of {planned.where}, with its SQL record"
    return None


def judge(history: History) -> Finding:
    """No approval record and no pending question for a refused call, while admitted calls have theirs."""
    notes, control = Notes(history), _control(history)
    notes.against(*_in_windows(history), *_by_call(history))
    notes.gap(*gaps(history, "append"))
    if control is None:
        notes.gap("no control: no admitted call's question was seen on the wire and in SQL")
    return notes.conclude(f"no approval after {counted(history)}; {control}")


def _applies(case: Case) -> bool:
    return asks(case) and has_inert(case)


CHECK = Check(
    id="no_approval_created",
    title="A refused batch creates no approval",
    needs=("model", "relay", "sql"),
    applies=_applies,
    judge=judge,
    claims_absence=True,
)
