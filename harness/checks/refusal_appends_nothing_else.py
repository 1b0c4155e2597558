"""What a refused batch leaves in the store: its assistant message, then its errors, and nothing else.

That there is exactly one of each, with the right calls, is the question of `ordered_paired_errors`. Attempts count as much as
what was accepted. Where the script ends the turn with a refusal, the end of the turn may follow.
"""

from __future__ import annotations

from harness.checks.absence import counted, gaps
from harness.checks.check import ADMITTED, Check, Finding, Notes, has_inert
from harness.ledger import hooked
from harness.ledger.event import Exchange
from harness.ledger.facts import HOST_STORE, TURN_ENDS, Record, Served, decoded
from harness.ledger.history import History

PAIR = ("assistant", "tool_result")
MARKS = ("tool.intent", "checkpoint", "tool.receipt")
"""Records that belong to a call on its way to the worker."""
KIND_CHARS = 40
"""Longest kind or role that a finding repeats."""


def _record(exchange: Exchange) -> Record:
    """What an append asked for, whatever became of it."""
    asked = decoded(exchange.request)
    return Record(exchange.order, 0, str(asked.get("kind")), b"", body=decoded(str(asked.get("text", ""))))


def _ends_turn(record: Record) -> bool:
    return record.role == "user" or (record.kind == "session" and record.body.get("event") in TURN_ENDS)


def _extras(history: History, step: Served) -> list[str]:
    """What was appended or put between this refusal and the next request, besides the pair."""
    may_end = step.ends_turn or step.after is None
    found = []
    for exchange in history.exchanges(HOST_STORE, "append", window=step):
        record = _record(exchange)
        # What hooks put on record has checks of its own: an ordinary refusal keeps its callback after the batch.
        if record.role not in PAIR and record.kind != hooked.RECORD and not (may_end and _ends_turn(record)):
            what = f"{record.kind[:KIND_CHARS]} {record.role[:KIND_CHARS]}".strip()
            found.append(f"append of {what} (#{exchange.order}) seen by relay host-store after {step.where}")
    puts = [e for e in history.exchanges(HOST_STORE, "resource", window=step) if e.method == "PUT"]
    return found + [f"resource put (#{e.order}) seen by relay host-store after {step.where}" for e in puts]


def _marks(history: History) -> list[str]:
    """Records of calls that had to be refused, at whatever time; a correction may reuse the id, then the window tells."""
    reused = {(call.session, call.call.id) for call in history.planned(*ADMITTED)}
    found = []
    for planned in history.planned("refused", "sibling"):
        if not planned.inert or (planned.session, planned.call.id) in reused:
            continue
        asked = map(_record, history.exchanges(HOST_STORE, "append", session=planned.session))
        for witness, records in (("relay host-store", tuple(asked)), ("SQL", history.records(planned.session))):
            kinds = [r.kind for r in records if r.kind in MARKS and r.body.get("callId") == planned.call.id]
            found += [f"{planned.where}: {kind} record in {witness}" for kind in kinds]
    return found


def _pair(history: History, step: Served, notes: Notes) -> None:
    """The positive control of this window: appends of the pair were seen in it, whatever a fault made of them, and in order."""
    asked = [_record(e) for e in history.exchanges(HOST_STORE, "append", window=step)]
    first = {role: next((record.order for record in asked if record.role == role), None) for role in PAIR}
    said, told = first["assistant"], first["tool_result"]
    if said is None and told is None:
        notes.gap(f"no control: the relay saw neither an assistant nor a tool_result append after {step.where}")
    elif told is not None and (said is None or told < said):
        notes.against(f"the errors of {step.where} were appended before its assistant message")


def judge(history: History) -> Finding:
    """The pair in every refused window, and no mark of a refused call anywhere."""
    notes = Notes(history)
    notes.gap(*gaps(history, "append", "resource"))
    for step in history.inert:
        notes.against(*_extras(history, step))
        _pair(history, step, notes)
    notes.against(*_marks(history))
    return notes.conclude(f"only the assistant message and its errors were appended after {counted(history)}; control: that pair")


CHECK = Check(
    id="refusal_appends_nothing_else",
    title="A refused batch appends its assistant message and its errors, and nothing else",
    needs=("model", "relay", "sql"),
    applies=has_inert,
    judge=judge,
    claims_absence=True,
)
