"""Changes to a ledger, as small functions that can be chained: how a good history becomes another one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from harness.ledger.event import Doubt, Event, Exchange, Ledger, ModelExchange, Row
from harness.ledger.facts import HOST_STORE, decoded

Change = Callable[[Ledger], Ledger]
Which = Callable[[Event], bool]


def same(ledger: Ledger) -> Ledger:
    """The identity."""
    return ledger


def emptied(ledger: Ledger) -> Ledger:
    """The case, and nothing seen of it."""
    return ledger.model_copy(update={"events": ()})


def chain(*changes: Change) -> Change:
    """One after the other."""

    def apply(ledger: Ledger) -> Ledger:
        for change in changes:
            ledger = change(ledger)
        return ledger

    return apply


def added(*events: Event) -> Change:
    """More was seen."""
    return lambda ledger: ledger.model_copy(update={"events": (*ledger.events, *events)})


def doubted(reason: str) -> Change:
    """Absence cannot be claimed."""
    return added(Doubt(reason=reason))


def without(which: Which) -> Change:
    """Less was seen."""
    return lambda ledger: ledger.model_copy(update={"events": tuple(e for e in ledger.events if not which(e))})


def edited(which: Which, edit: Callable[[Any], dict[str, Any]]) -> Change:
    """Something else was seen: the fields that `edit` gives, in each event that `which` picks."""

    def apply(ledger: Ledger) -> Ledger:
        events = (e.model_copy(update=edit(e)) if which(e) else e for e in ledger.events)
        return ledger.model_copy(update={"events": tuple(events)})

    return apply


def again(which: Which) -> Change:
    """Every event that `which` picks was seen twice."""
    return lambda ledger: added(*(e for e in ledger.events if which(e)))(ledger)


def exchange(operation: str) -> Which:
    """Exchanges of this operation."""
    return lambda event: isinstance(event, Exchange) and event.operation == operation


def appended(kind: str, role: str = "") -> Which:
    """Appends of records of this kind and role."""

    def matches(event: Event) -> bool:
        said = decoded(event.request) if isinstance(event, Exchange) and exchange("append")(event) else {}
        return said.get("kind") == kind and decoded(said["text"]).get("role", "") == role

    return matches


def row(table: str, **values: int | str | None) -> Which:
    """Rows of this table with these values."""

    def matches(event: Event) -> bool:
        return isinstance(event, Row) and event.table == table and values.items() <= event.values.items()

    return matches


def request(step: int) -> Which:
    """The model request that got this step (counted from 1) of any session."""
    return lambda event: isinstance(event, ModelExchange) and event.step == step - 1


def heard(step: int, edit: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Change:
    """The request for `step` held other messages."""
    return edited(request(step), lambda event: {"heard": json.dumps(edit(json.loads(event.heard))).encode("ascii")})


def values(**changed: int | str | None) -> Callable[[Row], dict[str, Any]]:
    """An edit of a row's values."""
    return lambda found: {"values": found.values | changed}


def replaced(old: bytes, new: bytes) -> Callable[[Any], dict[str, Any]]:
    """An edit of the bytes in a row's blobs, or in a reply."""

    def edit(event: Any) -> dict[str, Any]:
        if isinstance(event, Row):
            return {"blobs": {name: blob.replace(old, new) for name, blob in event.blobs.items()}}
        return {"reply": event.reply.replace(old, new)}

    return edit


def asked(old: bytes, new: bytes) -> Callable[[Any], dict[str, Any]]:
    """An edit of the bytes of a request."""
    return lambda event: {"request": event.request.replace(old, new)}


def moved(order: int) -> Callable[[Any], dict[str, Any]]:
    """An edit of the place in the order."""
    return lambda _: {"order": order, "finished": order}


def append(kind: str, body: dict[str, Any], *, step: int = 1, sequence: int = 90) -> Change:
    """A record that was appended right after the model served `step`."""
    said = {"kind": kind, "text": json.dumps(body)}
    target = "/internal/managed-session-store/v1/sessions/n1-s-main/records"
    return intrusion("append", edge=HOST_STORE, target=target, asked=said, reply={"sequence": sequence}, step=step)


def cut(ledger: Ledger) -> Ledger:
    """The harness's deadline passed before the model was asked anything."""
    first = min(event.order for event in ledger.events if isinstance(event, ModelExchange))
    early = [e for e in ledger.events if getattr(e, "order", first) < first]
    records = [e for e in ledger.events if row("records")(e) and isinstance(e, Row) and e.values["sequence"] in (1, 2)]
    kept = [e for e in records if isinstance(e, Row) and str(e.values["session_id"]).endswith(ledger.meta.case.sessions()[0])]
    return doubted("a deadline of the harness passed")(ledger.model_copy(update={"events": (*early, *kept)}))


def intrusion(operation: str, *, edge: str, target: str, asked: Any, reply: Any, step: int = 1) -> Change:
    """An exchange right after the model served `step`."""

    def apply(ledger: Ledger) -> Ledger:
        at = next(e for e in ledger.events if isinstance(e, ModelExchange) and request(step)(e))
        seen = Exchange(
            order=at.finished,
            finished=at.finished,
            edge=edge,
            session=at.session,
            operation=operation,
            method="POST",
            target=target,
            request=json.dumps(asked).encode("ascii"),
            status=200,
            reply=json.dumps(reply).encode("ascii"),
        )
        return added(seen)(ledger)

    return apply
