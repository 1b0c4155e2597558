"""The argument text of every call stays what the model said, in later requests and in the store."""

from __future__ import annotations

from collections.abc import Sequence

from harness.checks.check import Check, Finding, Notes
from harness.ledger.facts import Served, heard
from harness.ledger.history import History
from harness.scenario.spec import Case

Asked = tuple[str, str, str]


def _said(steps: Sequence[Served]) -> list[Asked]:
    return [(call.id, call.tool, call.argument_text()) for step in steps for call in step.step.call]


def _difference(expected: Sequence[Asked], found: Sequence[Asked]) -> str | None:
    """Where two lists of calls differ first, without their text."""
    for place, (left, right) in enumerate(zip(expected, found, strict=False), start=1):
        for part, name in enumerate(("id", "name", "argument text")):
            if left[part] != right[part]:
                return f"call {place} ({left[0]}) has another {name}"
    return None if len(expected) == len(found) else f"{len(found)} call(s) instead of {len(expected)}"


def _heard_of(steps: Sequence[Served], found: Sequence[Asked]) -> list[Served]:
    """The steps whose message had to be kept; an abandoned batch may be missing, since its session was blocked first."""
    kept = [step for step in steps if not any(call.expect == "abandoned" for call in step.step.call)]
    return kept if len(_said(kept)) == len(found) else list(steps)


def _in_requests(history: History, session: str, steps: Sequence[Served]) -> list[str]:
    found = []
    for request in history.requests(session):
        repeated = [call for message in heard(request) for call in message.calls]
        earlier = [step for step in steps if step.request.order < request.order]
        if difference := _difference(_said(_heard_of(earlier, repeated)), repeated):
            found.append(f"model request #{request.order} of session {session}: {difference}")
    return found


def _in_store(history: History, session: str, steps: Sequence[Served]) -> list[str]:
    found = []
    records = [record for record in history.records(session) if record.role == "assistant"]
    kept = [call for record in records for call in record.calls]
    # Nothing came after the last answer: whether it was kept is not this property's question.
    settled = [step for step in steps if step.after]
    if (difference := _difference(_said(_heard_of(steps, kept)), kept)) and _difference(_said(settled), kept):
        found.append(f"SQL assistant records of session {session}: {difference}")
    appended = {(record.sequence, record.text) for record in (*history.appended(session), *history.offered(session))}
    for record in records:
        if (record.sequence, record.text) not in appended:
            found.append(f"SQL record {record.sequence} of session {session} is not the text that relay host-store saw appended")
    return found


def judge(history: History) -> Finding:
    """Every call, in every place where it is kept or repeated, has the id, name and argument text of the script."""
    notes = Notes(history)
    for session in history.sessions:
        steps = [step for step in history.served if step.session == session]
        notes.against(*_in_requests(history, session, steps), *_in_store(history, session, steps))
    notes.served()
    kept = any(record.calls for session in history.sessions for record in history.records(session))
    if not kept and not any(step.step.call and step.after for step in history.served):
        notes.gap("no control: no call was repeated in a later model request or kept in SQL")
    said = len(_said(history.served))
    return notes.conclude(f"{said} call(s) kept character for character in SQL and in every later model request")


def _applies(case: Case) -> bool:
    return any(call.expect != "abandoned" for _, call in case.calls())


CHECK = Check(
    id="arguments_preserved",
    title="Argument text is kept and repeated character for character",
    needs=("model", "relay", "sql"),
    applies=_applies,
    judge=judge,
)
