"""Questions for an approval, as the store's relay, SQL, the driver and the session API's relay saw them. Shared by two checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.ledger.event import Driven, Exchange
from harness.ledger.facts import DRIVER_HOST, HOST_STORE, Planned, Record, Served, decoded, subject, succeeded, utf8
from harness.ledger.history import History

REQUESTED = "requested"


@dataclass(frozen=True)
class Asking:
    """One append of an approval record, whatever became of it: an attempt is made public by being made."""

    exchange: Exchange
    approval: str
    call: str
    state: str
    input_digest: str


def askings(history: History, session: str) -> list[Asking]:
    """Every append of an approval record of the session, in order; a repetition is the one that it repeats."""
    found: dict[bytes, Asking] = {}
    for exchange in history.exchanges(HOST_STORE, "append", session=session):
        asked = decoded(exchange.request)
        if asked.get("kind") != "approval":
            continue
        text = str(asked.get("text", ""))
        body = decoded(text)
        approval, call, state, digest = (str(body.get(key)) for key in ("approvalId", "callId", "state", "inputDigest"))
        known = found.get(utf8(text))
        if known is None or not succeeded(known.exchange):
            found[utf8(text)] = Asking(exchange, approval, call, state, digest)
    return list(found.values())


def asked_of(history: History, planned: Planned, step: Served) -> list[Asking]:
    """Those of one call, in its own step."""
    return [one for one in askings(history, planned.session) if one.call == planned.call.id and step.covers(one.exchange.order)]


def kept(history: History, planned: Planned) -> list[Record]:
    """The approval records of the call in SQL."""
    records = history.records(planned.session)
    return [record for record in records if record.kind == "approval" and record.body.get("callId") == planned.call.id]


def pending(history: History, planned: Planned) -> list[Driven]:
    """Where the driver saw the question pending."""
    return [event for event in history.driven("asked", planned.session) if event.detail == planned.call.id]


def answers(history: History, session: str, approval: str) -> Iterator[Exchange]:
    """Every answer that somebody gave to the question, accepted or not."""
    return (e for e in history.exchanges(DRIVER_HOST, "answer", session=session) if subject(e) == approval)
