"""Nothing is kept or told twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from harness.checks.check import Check, Finding, Notes, has_calls
from harness.ledger.facts import Record, heard
from harness.ledger.history import History


def _repeated(values: Iterable[object]) -> list[object]:
    return [value for value, count in Counter(values).items() if count > 1]


def _in_records(history: History, session: str, records: tuple[Record, ...]) -> list[str]:
    found = []
    if [record.sequence for record in records] != list(range(1, len(records) + 1)):
        found.append(f"SQL: the sequences of session {session} are not 1 to {len(records)}")
    for command in _repeated(record.command_id for record in records):
        found.append(f"SQL: several records of session {session} share command id {command}")
    steps = [step for step in history.served if step.session == session and step.step.call]
    asked = Counter(record.calls for record in records if record.role == "assistant" and record.calls)
    scripted = Counter(tuple((call.id, call.tool, call.argument_text()) for call in step.step.call) for step in steps)
    for calls, count in asked.items():
        if count > max(1, scripted[calls]):
            found.append(f"SQL: {count} assistant records of session {session} ask for the same call(s), first {calls[0][0]}")
    results = Counter(call for record in records for call, _ in record.results)
    expected = Counter(call.id for step in steps if step.after for call in step.step.call if call.expect != "abandoned")
    for call in sorted({*results, *expected}):
        if results[call] > max(1, expected[call]) or results[call] < expected[call]:
            found.append(f"SQL: call {call} of session {session} has {results[call]} results, not {max(1, expected[call])}")
    return found


def _in_requests(history: History, session: str) -> list[str]:
    scripted = Counter(planned.call.id for planned in history.planned() if planned.session == session)
    found = []
    for request in history.requests(session):
        told = Counter(message.call for message in heard(request) if message.role == "result")
        doubled = [call for call, count in told.items() if count > max(1, scripted[call])]
        found += [f"model request #{request.order} of session {session} holds result {call} twice" for call in doubled]
    return found


def judge(history: History) -> Finding:
    """Contiguous sequences, one command id per record, one result per call, in SQL and in every request."""
    notes, total = Notes(history), 0
    for session in history.sessions:
        records = history.records(session)
        total += len(records)
        notes.against(*_in_records(history, session, records), *_in_requests(history, session))
        if not records:
            notes.gap(f"no control: SQL has no record of session {session}")
    return notes.conclude(f"{total} SQL record(s) in unbroken sequence, one result per call, in every model request too")


CHECK = Check(
    id="no_duplicate_history",
    title="No record, assistant message or result exists twice, in the store or in a model request",
    needs=("model", "sql"),
    applies=has_calls,
    judge=judge,
    claims_absence=True,
)
