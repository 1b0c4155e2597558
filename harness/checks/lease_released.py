"""When all is over nobody holds the workspace.

A lease that is held after every turn of its session has ended is evidence, whatever else the harness was unsure of; that the
broker still held open work at the end is then no excuse, but the very thing. The one exception is a session that says it is
recovery-blocked and has an execution of which nobody knows the end, or whose host was killed where nobody can say how its turn
ended: there the fence has to stay.
"""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes, has_run
from harness.ledger.event import Exchange, Row
from harness.ledger.facts import HOST_BROKER, decoded, succeeded
from harness.ledger.history import History

_WORK = ("acquire", "publisher", "prepare", "start", "status", "cancel", "acknowledge")


OPEN_WORK = ("the broker holds open work", "not quiet within")
"""How doubts begin that only say that something was still held."""


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


def _held(row: Row) -> str | None:
    """What a row says is still held."""
    if row.table == "leases":
        generation = row.values.get("generation")
        return f"leases row generation {generation} was never released" if row.values.get("released_ms") is None else None
    holder = row.values.get("holder")
    return f"workspaces row is held by {holder}" if holder else None


def _owners(history: History, row: Row) -> tuple[str, ...]:
    """The session of a row, or all of them where it names none."""
    runtimes = {r.values.get("runtime_session_id"): r.values.get("harness_session_id") for r in history.rows("runtimes")}
    owner = row.values.get("harness_session_id") or runtimes.get(row.values.get("holder"))
    return tuple(name for name in history.sessions if history.meta.sessions.get(name) == owner) or history.sessions


def judge(history: History) -> Finding:
    """Released on the wire and in SQL; at least one lease must have been taken for that to mean something."""
    notes, fenced = Notes(history), {session for session in history.sessions if history.fenced(session)}
    for row in (*history.rows("leases"), *history.rows("workspaces")):
        owners = _owners(history, row)
        if (what := _held(row)) and not fenced.issuperset(owners):
            (notes.against if all(map(history.ended, owners)) else notes.missing)(f"SQL: {what}")
    only_open_work = all(doubt.startswith(OPEN_WORK) for doubt in history.doubts)
    for session in history.sessions:
        certain = only_open_work and history.ended(session)
        if session not in fenced:
            (notes.against if certain else notes.missing)(*_on_the_wire(history, session))
    leases = history.rows("leases")
    acquired = [e for e in history.exchanges(HOST_BROKER, "acquire") if succeeded(e)]
    if not history.rows("workspaces"):
        notes.gap("no control: SQL has no workspaces row")
    if not leases or not acquired:
        notes.gap(f"no control: the relay saw {len(acquired)} granted acquires, SQL has {len(leases)} leases rows")
    said = f"{len(leases)} leases row(s) released, no workspace held"
    if fenced:
        said = f"of {len(leases)} leases row(s) only those of blocked session(s) {', '.join(sorted(fenced))} may be held"
    return notes.conclude(f"{said}; control: acquire #{_first(acquired)}")


def _first(exchanges: list[Exchange]) -> int:
    return exchanges[0].order if exchanges else 0


CHECK = Check(
    id="lease_released",
    title="At the end every lease is released and nobody holds the workspace",
    needs=("relay", "sql"),
    applies=has_run,
    judge=judge,
    claims_absence=True,
)
