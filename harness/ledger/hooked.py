"""What hooks have left in a ledger, apart from what tools have: the checks on native work must not see it, those on hooks only it.

A hook runs through broker and worker as a tool does, as an execution of kind `hook`. Its command is known from the case.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.ledger.event import Command, Event, Exchange, Row
from harness.ledger.facts import BROKER_WORKER, HOST_BROKER, Record, decoded, execution_id, sha256, subject
from harness.scenario.spec import Case

HOOK, RECORD = "hook", "hook_execution"
"""The kind of an execution that is a hook's, and of the records that tell of hooks."""
_OF_EXECUTIONS = ("start", "status", "cancel", "acknowledge", "execute", "observe", "stop")


@dataclass(frozen=True)
class Hooked:
    """The events that are the hooks' own, by witness."""

    exchanges: tuple[Exchange, ...] = ()
    rows: tuple[Row, ...] = ()
    commands: tuple[Command, ...] = ()

    def seen(self, *operations: str) -> tuple[Exchange, ...]:
        """Exchanges of these operations, in order."""
        return tuple(sorted((e for e in self.exchanges if e.operation in operations), key=lambda exchange: exchange.order))


@dataclass(frozen=True)
class HookRun:
    """One hook as the host started it: which execution, at which event of which call, and what it was given to read."""

    exchange: Exchange
    execution: str
    event: str
    call: str
    stdin: str


def runs(hooked: Hooked) -> tuple[HookRun, ...]:
    """Every start of a hook, answered or not, in order."""
    found = []
    for exchange in hooked.seen("start"):
        given = decoded(str(decoded(exchange.request).get("payloadJson", ""))).get("input")
        stdin = str(given.get("stdin", "")) if isinstance(given, dict) else ""
        about = decoded(stdin)
        found.append(HookRun(exchange, execution_id(exchange), str(about.get("event")), str(about.get("callId")), stdin))
    return tuple(found)


def _is_prepare(event: Event) -> bool:
    asked = isinstance(event, Exchange) and event.edge == HOST_BROKER and event.operation == "prepare"
    return asked and decoded(event.request).get("kind") == HOOK  # type: ignore[union-attr]


def split(case: Case, events: Iterable[Event]) -> tuple[tuple[Event, ...], Hooked]:
    """(everything else, what is the hooks' own)."""
    events = tuple(events)
    if not case.hooks:
        return events, Hooked()
    rows = tuple(e for e in events if isinstance(e, Row) and e.table == "executions" and e.values.get("kind") == HOOK)
    ids = {str(row.values.get("execution_call_id")) for row in rows}
    ids |= {execution_id(e) for e in events if isinstance(e, Exchange) and _is_prepare(e)} - {""}
    digests = {sha256(hook.command.encode("utf-8")) for hook in case.hooks}

    def mine(event: Event) -> bool:
        if isinstance(event, Command):
            return event.digest in digests
        if isinstance(event, Exchange):
            about = event.edge in (HOST_BROKER, BROKER_WORKER) and event.operation in _OF_EXECUTIONS
            return _is_prepare(event) or (about and bool({execution_id(event), subject(event)} & ids))
        return isinstance(event, Row) and event in rows

    own = [event for event in events if mine(event)]
    hooked = Hooked(
        exchanges=tuple(e for e in own if isinstance(e, Exchange)),
        rows=rows,
        commands=tuple(e for e in own if isinstance(e, Command)),
    )
    return tuple(event for event in events if not mine(event)), hooked


def occurrences(records: Iterable[Record], state: str) -> tuple[Record, ...]:
    """The hook records in one state: planned, child, completed."""
    return tuple(record for record in records if record.kind == RECORD and record.body.get("state") == state)


def of_plan(records: Iterable[Record], state: str, plan: Record) -> list[Record]:
    """Those of one occurrence, by the record that planned it."""
    return [record for record in occurrences(records, state) if record.body.get("occurrenceId") == plan.body.get("occurrenceId")]
