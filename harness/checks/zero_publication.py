"""A refused batch registers no publisher and publishes nothing.

On the local path the host is the publisher; on the o2 path the worker is, under a grant, and nobody may register. Whatever the
path, none of the four tables of publications may name a call that was refused.
"""

from __future__ import annotations

from harness.checks.absence import Claim, bound_generation
from harness.checks.check import ADMITTED, Check, Finding, has_inert
from harness.checks.hooks import has_callback
from harness.ledger.event import Exchange, Row
from harness.ledger.facts import HOST_BROKER, HOST_STORE, WORKER_STORE, Planned, decoded, execution_id, publication
from harness.ledger.history import History

TABLES = ("grants", "publications", "admissions", "receipts")
"""What a publication leaves, step by step."""


def _reserved(exchange: Exchange) -> str | None:
    """The publication for which a grant is asked; None for every later step, which has tables of its own."""
    step, identity = publication(exchange)
    return identity if exchange.operation == "publication" and step == "reserve" else None


def _publication_of_row(row: Row) -> object:
    return row.values.get("publication_id")


def _names(history: History, planned: Planned) -> set[object]:
    """The executions and publications that were ever made for a call, by what was asked for and by the broker's rows."""
    prepares = [
        e
        for e in history.exchanges(HOST_BROKER, "prepare", session=planned.session)
        if decoded(e.request).get("toolCallId") == planned.call.id
    ]
    rows = [row for row in history.rows("executions", planned.session) if row.values.get("tool_call_id") == planned.call.id]
    executions: set[object] = {execution_id(e) for e in prepares} | {row.values.get("execution_call_id") for row in rows}
    bound = [row for row in history.rows("bindings", planned.session) if row.values.get("execution_call_id") in executions]
    publications: set[object] = {decoded(e.request).get("publicationId") for e in prepares}
    return (executions | publications | {row.values.get("publication_id") for row in bound}) - {None, ""}


def _published(history: History) -> list[str]:
    """Rows that name a refused call; a correction may reuse the id, then only the window tells them apart."""
    admitted, found = {(call.session, call.call.id) for call in history.planned(*ADMITTED)}, []
    for planned in history.planned("refused", "sibling"):
        names = _names(history, planned) if (planned.session, planned.call.id) not in admitted else set()
        for table in TABLES:
            rows = history.rows(table, planned.session)
            own = [row for row in rows if names & {row.values.get("execution_call_id"), row.values.get("publication_id")}]
            found += [f"{planned.where}: SQL {table} row in state {row.values.get('state')}" for row in own]
    return found


def _published_or_registered(history: History) -> list[str]:
    """On the o2 path any publisher is one too many."""
    seen = [f"publisher registered (#{e.order}) on the o2 path" for e in history.exchanges(HOST_BROKER, "publisher")]
    kept = [f"SQL: publishers row generation {row.values.get('generation')} on the o2 path" for row in history.rows("publishers")]
    return [*_published(history), *seen, *kept]


CLAIMS = {
    "local": Claim(
        operations=("publisher", "publication"),
        table="publishers",
        key=bound_generation,
        edges=(HOST_BROKER, HOST_STORE, WORKER_STORE),
        elsewhere=_published,
        excused=has_callback,
    ),
    "o2": Claim(
        operations=("publication",),
        table="grants",
        key=_reserved,
        key_of_row=_publication_of_row,
        key_name="publication",
        edges=(HOST_STORE, WORKER_STORE),
        elsewhere=_published_or_registered,
    ),
}
"""Capture path → what must not be seen on it."""


def judge(history: History) -> Finding:
    """By the claim of the case's path."""
    return CLAIMS[history.case.path].judge(history)


CHECK = Check(
    id="zero_publication",
    title="A refused batch registers no publisher, is granted none, and publishes nothing",
    needs=("model", "relay", "sql"),
    applies=has_inert,
    judge=judge,
    claims_absence=True,
)
