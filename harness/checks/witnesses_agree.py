"""Independent witnesses tell the same story."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from harness.checks.check import Check, Finding, Notes, has_turns
from harness.checks.pair import Pair
from harness.ledger.event import Exchange
from harness.ledger.facts import (
    BROKER_WORKER,
    HOST_BROKER,
    HOST_STORE,
    SHELL_TOOL,
    decoded,
    execution_id,
    input_command,
    publication,
    sha256,
    subject,
    succeeded,
    uncertain,
)
from harness.ledger.history import History

PUBLISHED = {"grants": "reserve", "publications": "finished", "admissions": "admissions/prepare", "receipts": "receipts/commit"}
"""Table of the o2 path → the request that leaves a row there, one per publication."""


def _asked(exchange: Exchange, key: str) -> object:
    return decoded(exchange.request).get(key)


def _executions(history: History, session: str) -> Iterator[Pair]:
    prepares = history.exchanges(HOST_BROKER, "prepare", session=session)
    executes = history.exchanges(BROKER_WORKER, "execute", session=session)
    rows = [row.values for row in history.rows("executions", session)]
    keys = {_asked(e, "idempotencyKey") for e in prepares if uncertain(e)} - {None}
    yield Pair(
        f"relay host-broker, ids prepared in session {session},",
        "SQL executions",
        Counter({execution_id(e) for e in prepares if succeeded(e)}),
        Counter(row.get("execution_call_id") for row in rows),
        Counter({row.get("execution_call_id") for row in rows if row.get("idempotency_key") in keys}),
    )
    yield Pair(
        f"relay broker-worker, ids accepted by execute in session {session},",
        "SQL executions that are started",
        Counter({execution_id(e) for e in executes if succeeded(e)}),
        Counter(row.get("execution_call_id") for row in rows if row.get("started_ms") is not None),
        Counter({execution_id(e) for e in executes if uncertain(e)}),
    )


def _store(history: History, session: str) -> Iterator[Pair]:
    resources = [e for e in history.exchanges(HOST_STORE, "resource", session=session) if e.method == "PUT"]
    yield Pair(
        f"relay host-store, records appended in session {session},",
        "SQL records",
        Counter((record.sequence, record.text) for record in history.appended(session)),
        Counter((record.sequence, record.text) for record in history.records(session)),
        Counter((record.sequence, record.text) for record in history.offered(session)),
    )
    yield Pair(
        f"relay host-store, resources put in session {session},",
        "SQL resources",
        Counter({subject(e) for e in resources if succeeded(e)}),
        Counter(row.values.get("digest") for row in history.rows("resources", session)),
        Counter({subject(e) for e in resources if uncertain(e)}),
    )


def _published(history: History, session: str) -> Iterator[Pair]:
    for table, step in PUBLISHED.items():
        exchanges = history.publications(step, session=session)
        yield Pair(
            f"relays of the store, {step} accepted in session {session},",
            f"SQL {table}",
            Counter({publication(e)[1] for e in exchanges if succeeded(e)}),
            Counter(row.values.get("publication_id") for row in history.rows(table, session)),
            Counter({publication(e)[1] for e in exchanges if uncertain(e)}),
        )


def _commands_of(executes: Iterable[Exchange]) -> Counter[object]:
    """The commands that these carry, one per execution."""
    payloads = {execution_id(e): decoded(str(_asked(e, "payloadJson") or "")) for e in executes}
    commands = (input_command(payload.get("input")) for payload in payloads.values() if payload.get("tool") == SHELL_TOOL)
    return Counter(sha256(command) for command in commands if command is not None)


def _commands(history: History) -> Pair:
    executes = history.exchanges(BROKER_WORKER, "execute")
    return Pair(
        "relay broker-worker, commands accepted by execute,",
        "process record",
        _commands_of(e for e in executes if succeeded(e)),
        Counter(command.digest for command in history.commands),
        _commands_of(e for e in executes if uncertain(e)),
    )


def judge(history: History) -> Finding:
    """Reservations, starts, commands, records, resources and publications: each by two witnesses."""
    notes = Notes(history)
    pairs = [_commands(history)]
    for session in history.sessions:
        pairs += [*_executions(history, session), *_store(history, session), *_published(history, session)]
    for pair in pairs:
        pair.note(notes)
    facts = sum(pair.kept.total() for pair in pairs)
    if not all(history.records(session) for session in history.sessions):
        notes.gap("no control: a session has no record in SQL")
    return notes.conclude(f"{len(pairs)} comparisons of relay with SQL and process, {facts} facts, no difference")


CHECK = Check(
    id="witnesses_agree",
    title="Relay, SQL and the process record tell the same story",
    needs=("relay", "sql", "process"),
    applies=has_turns,
    judge=judge,
    claims_absence=True,
)
