"""Where the input of an admitted call can be read on its way, and what it must be there. Shared by two checks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from harness.checks.check import RUN, Notes
from harness.ledger.event import Exchange
from harness.ledger.facts import BROKER_WORKER, HOST_BROKER, Body, Planned, decoded, execution_id
from harness.ledger.history import History


@dataclass(frozen=True)
class Admitted:
    """An admitted call, what the script gives it, and the executions that were prepared for it."""

    planned: Planned
    given: Body
    ids: frozenset[str]


def admitted(history: History, notes: Notes) -> Iterator[Admitted]:
    """Every call that must run; a call whose arguments cannot be read as one object is a gap."""
    for planned in history.planned(*RUN):
        try:
            given = read_once(planned.given)
        except ValueError:
            notes.gap(f"{planned.where}: its argument text is not one JSON object with each key once")
            continue
        yield Admitted(planned, given, history.trace(planned).ids)


def read_once(text: str) -> Body:
    """The object in `text`; ValueError for anything else, and where a key stands twice."""
    value = json.loads(text, object_pairs_hook=_once)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def payloads(history: History, call: Admitted) -> dict[str, list[Exchange]]:
    """Station → the exchanges that carry this call's payload, answered or not."""
    starts = history.exchanges(HOST_BROKER, "start", session=call.planned.session)
    executes = history.exchanges(BROKER_WORKER, "execute")
    return {
        "start on host-broker": [e for e in starts if execution_id(e) in call.ids],
        "execute on broker-worker": [e for e in executes if execution_id(e) in call.ids],
    }


def payload_text(exchange: Exchange) -> str:
    """The payload that a start or an execute carries, as text."""
    return str(decoded(exchange.request).get("payloadJson", ""))
