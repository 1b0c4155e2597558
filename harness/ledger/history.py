"""The vocabulary of checks: questions to one ledger, each a small method.

Everything is decoded lazily from the bytes that the witnesses kept. Leaves out all judgement, and all order between
things that the ledger does not order.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from harness.ledger.event import Command, Doubt, Driven, Exchange, Fired, Ledger, ModelExchange, Row, Tree
from harness.ledger.facts import (
    BROKER_WORKER,
    DIRECT_EDGE,
    HOST_BROKER,
    HOST_STORE,
    RECOVERY_REQUIRED,
    WORKER_STORE,
    Planned,
    Record,
    Served,
    Trace,
    decoded,
    execution_id,
    listed,
    publication,
    sha256,
    succeeded,
    uncertain,
    utf8,
)
from harness.ledger.hooked import split
from harness.scenario.spec import Act, Expectation


class History:
    """One ledger, asked."""

    def __init__(self, ledger: Ledger) -> None:
        self.meta, self.case = ledger.meta, ledger.meta.case
        self._events, self.hooked = split(self.case, ledger.events)
        self.sessions = self.case.sessions()

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Why absence cannot be proved, if so. Work that a blocked session must leave open is no reason."""
        found = (event.reason for event in self._events if isinstance(event, Doubt))
        return tuple(reason for reason in found if not (self._fenced_only and _of_open_work(reason)))

    @cached_property
    def _fenced_only(self) -> bool:
        """Whether everything that the broker still holds belongs to fenced sessions, and none of it runs."""
        held = [row for row in self.rows("leases") if row.values.get("released_ms") is None]
        still = [row for row in self.rows("executions") if _is_open(row)]
        owners = {row.values.get("harness_session_id") for row in (*held, *still)}
        fenced = {self.meta.sessions.get(session) for session in self.sessions if self.fenced(session)}
        accepted = {execution_id(e) for e in self.exchanges(BROKER_WORKER, "execute") if succeeded(e)}
        running = [r for r in still if r.values.get("state") != "settled" and r.values.get("execution_call_id") in accepted]
        return owners <= fenced and not running

    def fenced(self, session: str) -> bool:
        """Whether the session says that it is blocked, over work that is open or may be: the workspace then has to stay its own."""
        if self.blocked_at(session) is None:
            return False
        if self.broken_off(session):
            return True
        prepares = self.exchanges(HOST_BROKER, "prepare", session=session)
        answered = {decoded(e.request).get("idempotencyKey") for e in prepares if not uncertain(e)}
        unsure = any(uncertain(e) and decoded(e.request).get("idempotencyKey") not in answered for e in prepares)
        return unsure or any(map(_is_open, self.rows("executions", session)))

    @cached_property
    def cut_short(self) -> bool:
        """Whether something missing may be the harness's own doing: there is a doubt, and no turn was seen hanging."""
        return bool(self.doubts) and not self.driven("still_active")

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """Every spawned command, as they were reported."""
        found = (event for event in self._events if isinstance(event, Command))
        return tuple(sorted(found, key=lambda command: command.order))

    def tree(self, moment: Literal["before", "after"]) -> Tree | None:
        """The workspace at that moment."""
        return next((event for event in self._events if isinstance(event, Tree) and event.moment == moment), None)

    def driven(self, act: str, session: str | None = None) -> tuple[Driven, ...]:
        """What the driver did or saw, in order."""
        found = (event for event in self._events if isinstance(event, Driven) and event.act == act)
        return tuple(sorted((e for e in found if session in (None, e.session)), key=lambda event: event.order))

    @cached_property
    def fired(self) -> tuple[Fired, ...]:
        """What became of each planned fault."""
        return tuple(event for event in self._events if isinstance(event, Fired))

    def blocked_at(self, session: str) -> int | None:
        """When the driver first saw that the session is recovery-blocked, by its status or by its load; None if it never did."""
        told = [event.order for event in self.driven("blocked", session) if decoded(event.body).get("recoveryBlocked") is True]
        unloadable = [event.order for event in self.driven("load_refused", session) if event.detail == RECOVERY_REQUIRED]
        return min((*told, *unloadable), default=None)

    def broken_off(self, session: str) -> bool:
        """Whether the scenario kills the session's host where nobody can say how its turn ended."""
        return any(act.ends == "unknown" for _, act in self.case.prompts(session))

    def turns(self, session: str) -> tuple[tuple[str, Act], ...]:
        """(prompt id, act) of each prompt that the driver sent."""
        acts = [act for _, act in self.case.prompts(session)]
        return tuple((event.detail, act) for event, act in zip(self.driven("prompted", session), acts, strict=False))

    @cached_property
    def models(self) -> tuple[ModelExchange, ...]:
        """Every request to the model that is not a mere retry, in order."""
        found = (event for event in self._events if isinstance(event, ModelExchange) and not event.repeated)
        return tuple(sorted(found, key=lambda exchange: exchange.order))

    @cached_property
    def retries(self) -> tuple[ModelExchange, ...]:
        """The requests to the model that were the bytes of the one before, in order."""
        found = (event for event in self._events if isinstance(event, ModelExchange) and event.repeated)
        return tuple(sorted(found, key=lambda exchange: exchange.order))

    def requests(self, session: str) -> tuple[ModelExchange, ...]:
        """The session's requests to the model, in order."""
        return tuple(exchange for exchange in self.models if exchange.session == session)

    @cached_property
    def served(self) -> tuple[Served, ...]:
        """Every scripted step that was served, in order."""
        found: list[Served] = []
        for session in self.sessions:
            requests = self.requests(session)
            steps = [(at, act, step) for at, act in self.case.prompts(session) for step in act.step]
            for place, request in enumerate(requests):
                if request.step is not None and request.step < len(steps):
                    after = requests[place + 1] if place + 1 < len(requests) else None
                    at, act, step = steps[request.step]
                    found.append(Served(session, request.step + 1, step, request, after, at, step is act.step[-1]))
        return tuple(sorted(found, key=lambda served: served.request.order))

    @cached_property
    def refused(self) -> tuple[Served, ...]:
        """The served steps whose batch must be refused."""
        return tuple(served for served in self.served if served.step.refused)

    @cached_property
    def inert(self) -> tuple[Served, ...]:
        """The served steps whose batch must be refused as the model gave it, so that nothing at all may come of it."""
        return tuple(served for served in self.served if served.step.inert)

    @cached_property
    def unserved(self) -> tuple[str, ...]:
        """The scripted steps that were never served, in words."""
        served = {(item.session, item.number) for item in self.served}
        planned = ((name, place) for name in self.sessions for place, _ in enumerate(self.case.steps(name), start=1))
        return tuple(f"step {place} of session {name}" for name, place in planned if (name, place) not in served)

    def ended(self, session: str) -> bool:
        """Whether every turn of the session was seen to end, or its prompt refused."""
        prompts = sum(1 for _ in self.case.prompts(session))
        return len(self.driven("ended", session)) + len(self.driven("refused", session)) >= prompts

    def step_of(self, planned: Planned) -> Served | None:
        """The served step that asked for this call."""
        return next((step for step in self.served if (step.session, step.number) == (planned.session, planned.number)), None)

    def planned(self, *expect: Expectation) -> tuple[Planned, ...]:
        """Every scripted call with one of these expectations, served or not; without arguments every call."""
        return tuple(
            Planned(session, number, call, step.inert)
            for session in self.sessions
            for number, step in enumerate(self.case.steps(session), start=1)
            for call in step.call
            if not expect or call.expect in expect
        )

    @cached_property
    def everything(self) -> tuple[Exchange, ...]:
        """What the relays saw, on every edge, in order."""
        found = (event for event in self._events if isinstance(event, Exchange))
        return tuple(sorted(found, key=lambda exchange: exchange.order))

    @property
    def direct(self) -> tuple[Exchange, ...]:
        """The requests that the harness sent to a service itself, in order."""
        return tuple(exchange for exchange in self.everything if exchange.edge.startswith(DIRECT_EDGE.format("")))

    def session_of(self, exchange: Exchange) -> str:
        """Its session; what only the case is known of belongs to the case's only session, else it stays empty."""
        return self.sessions[0] if not exchange.session and len(self.sessions) == 1 else exchange.session

    def exchanges(
        self, edge: str, *operations: str, session: str | None = None, window: Served | None = None
    ) -> tuple[Exchange, ...]:
        """What a relay saw, in order; without operations all of them. A window implies its session."""
        session = window.session if window else session
        return tuple(
            exchange
            for exchange in self.everything
            if exchange.edge == edge
            and (not operations or exchange.operation in operations)
            and session in (None, self.session_of(exchange))
            and (window is None or window.covers(exchange.order))
        )

    def unattributed(self, *operations: str) -> tuple[Exchange, ...]:
        """Exchanges of these operations that may belong to any of several sessions."""
        return tuple(e for e in self.everything if e.operation in operations and not self.session_of(e))

    def rows(self, table: str, session: str | None = None) -> tuple[Row, ...]:
        """The rows of a table, of one session or of all."""
        wanted = None if session is None else self.meta.sessions.get(session, "")
        return tuple(
            event
            for event in self._events
            if isinstance(event, Row)
            and event.table == table
            and wanted in (None, event.values.get("harness_session_id", event.values.get("session_id")))
        )

    def records(self, session: str) -> tuple[Record, ...]:
        """The session's records in SQL, by sequence."""
        found = [
            Record(
                order=0,
                sequence=int(row.values.get("sequence") or 0),
                kind=str(row.values.get("kind")),
                text=_text(row),
                command_id=str(row.values.get("command_id")),
                body=decoded(_text(row)),
            )
            for row in self.rows("records", session)
        ]
        return tuple(sorted(found, key=lambda record: record.sequence))

    def appended(self, session: str) -> tuple[Record, ...]:
        """The records that the relay saw appended with success, by sequence; a replay is the record it repeats."""
        return self._appends(session, accepted=True)

    def offered(self, session: str) -> tuple[Record, ...]:
        """The records whose append had no certain outcome, by the sequence that they were meant for."""
        return self._appends(session, accepted=False)

    def taken(self, session: str) -> tuple[Record, ...]:
        """The records that were appended with success, and those without a certain outcome that SQL has all the same."""
        kept = {(record.sequence, record.text) for record in self.records(session)}
        perhaps = [record for record in self.offered(session) if (record.sequence, record.text) in kept]
        found = {record.sequence: record for record in (*perhaps, *self.appended(session))}
        return tuple(record for _, record in sorted(found.items()))

    def _appends(self, session: str, *, accepted: bool) -> tuple[Record, ...]:
        """Those of direct requests among them: a record is one, whoever has written it."""
        found: dict[tuple[int, bytes], Record] = {}
        edges = (HOST_STORE, DIRECT_EDGE.format("store"))
        appends = [exchange for edge in edges for exchange in self.exchanges(edge, "append", session=session)]
        for exchange in filter(succeeded if accepted else uncertain, appends):
            asked, reply = decoded(exchange.request), decoded(exchange.reply)
            text = str(asked.get("text", ""))
            record = Record(
                order=exchange.order,
                sequence=int((reply.get("sequence") if accepted else asked.get("expectedSequence")) or 0),
                kind=str(asked.get("kind")),
                text=utf8(text),
                command_id=str(asked.get("commandId")),
                body=decoded(text),
            )
            found.setdefault((record.sequence, record.text), record)
        return tuple(sorted(found.values(), key=lambda record: record.sequence))

    def read_back(self, session: str, since: int, until: int | None) -> tuple[Record, ...]:
        """The records in the store's replies to reads that arrived in that interval."""
        found: dict[tuple[int, bytes], Record] = {}
        for exchange in filter(succeeded, self.exchanges(HOST_STORE, "read", session=session)):
            if exchange.order < since or (until is not None and exchange.order >= until):
                continue
            for item in listed(decoded(exchange.reply), "records"):
                text = utf8(str(item.get("text", "")))
                record = Record(exchange.order, int(item.get("sequence") or 0), str(item.get("kind")), text)
                found.setdefault((record.sequence, text), record)
        return tuple(sorted(found.values(), key=lambda record: record.sequence))

    def publications(self, *steps: str, session: str | None = None, window: Served | None = None) -> tuple[Exchange, ...]:
        """The publication requests of host and worker, in order; those of these steps, or all of them."""
        found = [
            e for edge in (HOST_STORE, WORKER_STORE) for e in self.exchanges(edge, "publication", session=session, window=window)
        ]
        return tuple(sorted((e for e in found if not steps or publication(e)[0] in steps), key=lambda exchange: exchange.order))

    def trace(self, planned: Planned) -> Trace:
        """What every witness saw of one call."""
        prepares = tuple(
            exchange
            for exchange in self.exchanges(HOST_BROKER, "prepare", session=planned.session)
            if succeeded(exchange) and decoded(exchange.request).get("toolCallId") == planned.call.id
        )
        ids = {execution_id(exchange) for exchange in prepares}
        starts = self.exchanges(HOST_BROKER, "start", session=planned.session)
        executes = self.exchanges(BROKER_WORKER, "execute")
        rows = self.rows("executions", planned.session)
        digest = None if planned.command is None else sha256(planned.command)
        return Trace(
            prepares=prepares,
            starts=tuple(e for e in starts if succeeded(e) and execution_id(e) in ids),
            executes=tuple(e for e in executes if succeeded(e) and execution_id(e) in ids),
            rows=tuple(row for row in rows if row.values.get("tool_call_id") == planned.call.id),
            commands=tuple(command for command in self.commands if command.digest == digest),
            unsure=tuple(e for e in (*starts, *executes) if uncertain(e) and execution_id(e) in ids),
        )


def _text(row: Row) -> bytes:
    """The text of a record, whatever type its column has."""
    return row.blobs["text"] if "text" in row.blobs else utf8(str(row.values.get("text") or ""))


def _is_open(row: Row) -> bool:
    """Whether an execution has no end, or one that nobody has acknowledged."""
    return row.values.get("state") != "settled" or row.values.get("acknowledged_ms") is None


def _of_open_work(doubt: str) -> bool:
    """Whether a doubt only says that the broker still holds something."""
    return any(f": {what} " in doubt for what in ("lease generation", "execution of call"))
