"""What the zero checks share: nothing in a refused step's window, and a control elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.checks.check import Finding, Notes
from harness.ledger.event import Exchange, Row
from harness.ledger.facts import HOST_BROKER, HOST_STORE, Served, decoded, succeeded, uncertain
from harness.ledger.history import History


def gaps(history: History, *operations: str) -> list[str]:
    """What keeps absence from being provable: refused steps that were never served, traffic of unknown session."""
    served = {(step.session, step.number) for step in history.inert}
    planned = dict.fromkeys((call.session, call.number) for call in history.planned("refused") if not call.call.rewritten)
    found = [
        f"refused step {number} of session {name} was never served" for name, number in planned if (name, number) not in served
    ]
    strays = (f"{e.operation} on {e.edge} (#{e.order}) belongs to no known session" for e in history.unattributed(*operations))
    return [*found, *strays]


def intruder(exchange: Exchange, step: Served) -> str:
    """An exchange that must not be in this step's window, in words."""
    where = f"(#{exchange.order}, session {step.session})"
    return f"{exchange.operation} seen by relay {exchange.edge} {where} after refused step {step.number}"


def _generation_of_row(row: Row) -> object:
    return row.values.get("generation")


@dataclass(frozen=True)
class Claim:
    """An operation that takes something, the table it leaves rows in, and how a row is recognised as its own."""

    operations: tuple[str, ...]
    table: str
    key: Callable[[Exchange], object]
    """What its row is recognised by; None for an operation that leaves none."""
    key_of_row: Callable[[Row], object] = _generation_of_row
    key_name: str = "generation"
    edges: tuple[str, ...] = (HOST_BROKER, HOST_STORE)
    elsewhere: Callable[[History], list[str]] = lambda _: []
    """Contradictions that only this claim knows of."""
    excused: Callable[[History, Served], bool] = lambda *_: False
    """Whether something other than the refused batch had to be given it in that window."""

    def seen(self, history: History, session: str) -> tuple[Exchange, ...]:
        """Where the relays saw it."""
        return tuple(e for edge in self.edges for e in history.exchanges(edge, *self.operations, session=session))

    def done(self, history: History, session: str) -> tuple[Exchange, ...]:
        """Those that left a row, or found one of their own."""
        return tuple(e for e in self.seen(history, session) if succeeded(e) and self.key(e) is not None)

    def intrusions(self, history: History) -> list[str]:
        """Each one in the window of a refused step, with the row that it left."""
        found = []
        for step in (step for step in history.inert if not self.excused(history, step)):
            for exchange in self.seen(history, step.session):
                if step.covers(exchange.order):
                    found.append(f"{intruder(exchange, step)}{self._left(history, step.session, exchange)}")
        return found

    def _left(self, history: History, session: str, exchange: Exchange) -> str:
        row = self._row(history.rows(self.table, session), exchange)
        return f"; SQL: {self.table} row {self.key_name} {self.key_of_row(row)}" if row else ""

    def off_the_wire(self, history: History, notes: Notes) -> None:
        """Rows that no exchange explains, and exchanges that left no row: per session, by key. A lost reply may explain rows."""
        for session in history.sessions:
            rows, done = history.rows(self.table, session), self.done(history, session)
            in_sql, on_wire = {self.key_of_row(row) for row in rows}, {self.key(e) for e in done}
            if in_sql == on_wire and len(rows) <= len(done):
                continue
            unsure = [e for e in self.seen(history, session) if uncertain(e)]
            explained = on_wire <= in_sql and len(rows) <= len(done) + len(unsure)
            if explained and in_sql <= on_wire | {self.key(e) for e in unsure}:
                continue
            (notes.gap if explained else notes.against)(
                f"session {session}: SQL has {len(rows)} {self.table} rows of {len(in_sql)} {self.key_name}s,"
                f" the relay saw {len(done)} granted {'/'.join(self.operations)} of {len(on_wire)}"
            )

    def control(self, history: History) -> str | None:
        """One seen by the relay, and its row: proof that both witnesses can see."""
        for step in history.served:
            for exchange in self.done(history, step.session):
                row = self._row(history.rows(self.table, step.session), exchange)
                if not step.step.inert and step.covers(exchange.order) and row:
                    return f"control: {exchange.operation} #{exchange.order} of session {step.session}, step {step.number}"
        return None

    def _row(self, rows: Sequence[Row], exchange: Exchange) -> Row | None:
        key = self.key(exchange)
        return next((row for row in rows if key is not None and self.key_of_row(row) == key), None)

    def judge(self, history: History) -> Finding:
        """The whole conclusion."""
        notes, control = Notes(history), self.control(history)
        notes.against(*self.intrusions(history), *self.elsewhere(history))
        self.off_the_wire(history, notes)
        notes.gap(*gaps(history, *self.operations))
        if control is None:
            notes.gap(f"no control: no {self.operations[0]} with its {self.table} row was seen outside refused steps")
        return notes.conclude(f"no {'/'.join(self.operations)} after {counted(history)}; {control}")


def counted(history: History) -> str:
    """How many refused steps a zero speaks of."""
    steps = Counter(step.session for step in history.inert)
    return " and ".join(f"{count} refused step(s) of session {session}" for session, count in steps.items())


def granted_generation(exchange: Exchange) -> object:
    """The fencing generation that an acquire was given."""
    return decoded(exchange.reply).get("generation")


def bound_generation(exchange: Exchange) -> object:
    """The generation that a publisher was registered for; None for a publication, which has no row there."""
    return decoded(exchange.request).get("bindingGeneration")
