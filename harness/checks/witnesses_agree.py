"""Independent witnesses tell the same story."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from harness.checks.check import Check, Finding, Notes
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
    sha256,
    subject,
    succeeded,
)
from harness.ledger.history import History


def _lost(exchanges: tuple[Exchange, ...]) -> bool:
    return any(exchange.status is None for exchange in exchanges)


def _executions(history: History, session: str) -> Iterator[Pair]:
    prepares = history.exchanges(HOST_BROKER, "prepare", session=session)
    executes = history.exchanges(BROKER_WORKER, "execute", session=session)
    rows = history.rows("executions", session)
    started = (row.values.get("execution_call_id") for row in rows if row.values.get("started_ms") is not None)
    yield Pair(
        f"relay host-broker, ids prepared in session {session},",
        "SQL executions",
        Counter({execution_id(e) for e in prepares if succeeded(e)}),
        Counter(row.values.get("execution_call_id") for row in rows),
        _lost(prepares),
    )
    yield Pair(
        f"relay broker-worker, ids accepted by execute in session {session},",
        "SQL executions that are started",
        Counter({execution_id(e) for e in executes if succeeded(e)}),
        Counter(started),
        _lost(executes),
    )


def _store(history: History, session: str) -> Iterator[Pair]:
    appends = history.exchanges(HOST_STORE, "append", session=session)
    resources = [e for e in history.exchanges(HOST_STORE, "resource", session=session) if e.method == "PUT"]
    yield Pair(
        f"relay host-store, records appended in session {session},",
        "SQL records",
        Counter((record.sequence, record.text) for record in history.appended(session)),
        Counter((record.sequence, record.text) for record in history.records(session)),
        _lost(appends),
    )
    yield Pair(
        f"relay host-store, resources put in session {session},",
        "SQL resources",
        Counter({subject(e) for e in resources if succeeded(e)}),
        Counter(row.values.get("digest") for row in history.rows("resources", session)),
        _lost(tuple(resources)),
    )


def _commands(history: History) -> Pair:
    executes = history.exchanges(BROKER_WORKER, "execute")
    accepted = {execution_id(e): decoded(str(decoded(e.request).get("payloadJson", ""))) for e in executes if succeeded(e)}
    commands = (input_command(payload.get("input")) for payload in accepted.values() if payload.get("tool") == SHELL_TOOL)
    return Pair(
        "relay broker-worker, commands accepted by execute,",
        "process record",
        Counter(sha256(command) for command in commands if command is not None),
        Counter(command.digest for command in history.commands),
        _lost(executes),
    )


def judge(history: History) -> Finding:
    """Reservations, starts, commands, records and resources: each by two witnesses."""
    notes = Notes(history)
    pairs = [_commands(history)]
    for session in history.sessions:
        pairs += [*_executions(history, session), *_store(history, session)]
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
    applies=lambda _: True,
    judge=judge,
    claims_absence=True,
)
