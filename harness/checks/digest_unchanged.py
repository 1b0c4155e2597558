"""The canonical digest of an admitted call's input is the one that the harness reckons from the model's own arguments.

SHA-256 of the canonical JSON: keys sorted, no white space, everything outside ASCII as escapes.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.check import Check, Finding, Notes, has_run
from harness.checks.stations import Admitted, admitted
from harness.ledger.facts import HOST_BROKER, Record, decoded, execution_id, input_digest
from harness.ledger.history import History


def _prepared(history: History, call: Admitted) -> Iterator[tuple[str, object]]:
    for exchange in history.trace(call.planned).prepares:
        reference = decoded(exchange.request).get("reference")
        yield f"prepare (#{exchange.order})", reference.get("argsDigest") if isinstance(reference, dict) else None


def _intended(call: Admitted, records: tuple[Record, ...], witness: str) -> Iterator[tuple[str, object]]:
    for record in records:
        if record.kind == "tool.intent" and record.body.get("executionCallId") in call.ids:
            yield f"tool.intent {record.sequence} in {witness}", record.body.get("argsDigest")


def _reserved(history: History, call: Admitted) -> list[str]:
    """Rows that keep another request digest than the reservation asked for."""
    prepares = history.exchanges(HOST_BROKER, "prepare", session=call.planned.session)
    asked = {execution_id(e): decoded(e.request).get("requestDigest") for e in prepares}
    rows = [row.values for row in history.trace(call.planned).rows if row.values.get("execution_call_id") in asked]
    wrong = [row for row in rows if row.get("request_digest") != asked[str(row["execution_call_id"])]]
    return [f"{call.planned.where}: SQL executions row keeps another requestDigest than prepare sent"] * bool(wrong)


def judge(history: History) -> Finding:
    """In the reservation, in the intent as it was appended, and in the intent as SQL has it."""
    notes, read = Notes(history), 0
    for call in admitted(history, notes):
        expected, session = input_digest(call.given), call.planned.session
        stations = {
            "prepare on host-broker": list(_prepared(history, call)),
            "tool.intent appended on host-store": list(_intended(call, history.appended(session), "relay host-store")),
            "tool.intent in SQL": list(_intended(call, history.records(session), "SQL")),
        }
        for station, found in stations.items():
            if not found:
                notes.missing(f"{call.planned.where}: no {station} was seen")
            wrong = [where for where, digest in found if digest != expected]
            notes.against(*(f"{call.planned.where}: argsDigest of {where} is not that of the model's arguments" for where in wrong))
            read += len(found)
        notes.against(*_reserved(history, call))
    return notes.conclude(f"{read} argsDigest value(s) in prepare, tool.intent and SQL are those of the model's arguments")


CHECK = Check(
    id="digest_unchanged",
    title="The canonical digest of an admitted call is that of the model's own arguments, wherever it is kept",
    needs=("relay", "sql"),
    applies=has_run,
    judge=judge,
)
