"""When all is over nobody holds the workspace."""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes, has_executed
from harness.ledger.event import Exchange
from harness.ledger.facts import HOST_BROKER, decoded, succeeded
from harness.ledger.history import History

_WORK = ("acquire", "publisher", "prepare", "start", "status", "cancel", "acknowledge")


def _released(exchange: Exchange) -> bool:
    return succeeded(exchange) and decoded(exchange.reply).get("released") is True


def _on_the_wire(history: History, session: str) -> list[str]:
    """What is wrong with how the session gave back what it acquired."""
    acquires = [e for e in history.exchanges(HOST_BROKER, "acquire", session=session) if succeeded(e)]
    if not acquires:
        return []
    last = history.exchanges(HOST_BROKER, *_WORK, session=session)[-1]
    releases = history.exchanges(HOST_BROKER, "release", session=session)
    if any(_released(e) and e.order > last.order for e in releases):
        return []
    return [f"session {session} has no release after its last work ({last.operation} #{last.order}) on host-broker"]


def _in_sql(history: History) -> list[str]:
    held = [f"workspaces row is held by {row.values['holder']}" for row in history.rows("workspaces") if row.values.get("holder")]
    open_leases = [row for row in history.rows("leases") if row.values.get("released_ms") is None]
    return [*(f"leases row generation {row.values.get('generation')} was never released" for row in open_leases), *held]


def judge(history: History) -> Finding:
    """Released on the wire and in SQL; at least one lease must have been taken for that to mean something."""
    notes = Notes(history)
    notes.missing(*(f"SQL: {what}" for what in _in_sql(history)))
    notes.missing(*(what for session in history.sessions for what in _on_the_wire(history, session)))
    leases = history.rows("leases")
    acquired = [e for e in history.exchanges(HOST_BROKER, "acquire") if succeeded(e)]
    if not history.rows("workspaces"):
        notes.gap("no control: SQL has no workspaces row")
    if not leases or not acquired:
        notes.gap(f"no control: the relay saw {len(acquired)} granted acquires, SQL has {len(leases)} leases rows")
    return notes.conclude(f"{len(leases)} leases row(s) released, no workspace held; control: acquire #{_first(acquired)}")


def _first(exchanges: list[Exchange]) -> int:
    return exchanges[0].order if exchanges else 0


CHECK = Check(
    id="lease_released",
    title="At the end every lease is released and nobody holds the workspace",
    needs=("relay", "sql"),
    applies=has_executed,
    judge=judge,
    claims_absence=True,
)
