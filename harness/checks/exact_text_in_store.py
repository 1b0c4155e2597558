"""The text of a record is stored and given back exactly: every byte of it, not its value.

White space, the order of keys, equal keys, and the way a character is escaped are all part of the text. A column that parses JSON
keeps none of them.
"""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes, has_turns
from harness.ledger.facts import Record
from harness.ledger.history import History


def _difference(given: bytes, found: bytes) -> str:
    """Where two texts part, without showing either."""
    place = next((at for at, (one, two) in enumerate(zip(given, found, strict=False)) if one != two), min(len(given), len(found)))
    return f"differs from byte {place} on ({len(given)} bytes appended, {len(found)} found)"


def _kept(history: History, session: str, appended: tuple[Record, ...], notes: Notes) -> None:
    """What SQL has at the sequence of each record."""
    kept = {record.sequence: record for record in history.records(session)}
    for record in appended:
        found, where = kept.get(record.sequence), f"record {record.sequence} of session {session}"
        if found is None:
            notes.missing(f"SQL has no {where}, which relay host-store saw accepted (#{record.order})")
        elif found.text != record.text:
            notes.against(f"SQL: the text of {where} {_difference(record.text, found.text)}")


def _read(history: History, session: str, appended: tuple[Record, ...], notes: Notes) -> int:
    """What every later read gave back; says how many records were compared."""
    texts, compared = {record.sequence: record for record in appended}, 0
    for found in history.read_back(session, 0, None):
        record = texts.get(found.sequence)
        if record is None or found.order < record.order:
            continue
        compared += 1
        if found.text != record.text:
            where = f"read (#{found.order}) of record {found.sequence} of session {session}"
            notes.against(f"{where}: the text {_difference(record.text, found.text)}")
    return compared


def judge(history: History) -> Finding:
    """Every accepted append, byte for byte: in SQL at its sequence, and in each reply to a later read."""
    notes, total, compared = Notes(history), 0, 0
    for session in history.sessions:
        appended = history.appended(session)
        if not appended:
            notes.gap(f"no control: relay host-store saw no accepted append of session {session}")
        _kept(history, session, appended, notes)
        compared += _read(history, session, appended, notes)
        total += len(appended)
    return notes.conclude(f"{total} record(s) are in SQL byte for byte as appended, and {compared} were read back so")


CHECK = Check(
    id="exact_text_in_store",
    title="The store keeps and returns every record text byte for byte",
    needs=("relay", "sql"),
    applies=has_turns,
    judge=judge,
)
