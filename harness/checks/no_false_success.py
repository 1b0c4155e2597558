"""Nobody is told of a success that was none: not the model, not the store, not whoever reads the transcript.

A turn that ends in an error, or that leaves a call abandoned, has no good end anywhere; a call that was abandoned, denied or
stopped has no result but an error; and what was abandoned or denied has not run. What is still only reserved counts as not run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from harness.checks.check import RUN, Check, Finding, Notes, has_unheard
from harness.ledger.event import Exchange
from harness.ledger.facts import (
    BROKER_WORKER,
    HOST_BROKER,
    Body,
    Planned,
    Record,
    decoded,
    execution_id,
    heard,
    listed,
    sha256,
    succeeded,
    uncertain,
)
from harness.ledger.history import History
from harness.scenario.spec import Expectation

UNTOLD: tuple[Expectation, ...] = ("abandoned", "denied", "stopped")
IDLE: tuple[Expectation, ...] = ("abandoned", "denied")
"""Calls that must not run."""
UNSTARTED = (("prepared", None), ("settled", "not_started"), ("executing", None), ("cancel_requested", None))
"""How the row of an abandoned call may stand: reserved, given up, or handed to a worker that it never reached."""
WITHOUT_EFFECT = ("lose_request", "unavailable")
"""Taps that hand nothing on."""


def _events(history: History, session: str) -> list[Body]:
    """Everything that any transcript of the session showed."""
    seen = (*history.driven("ended", session), *history.driven("loaded", session))
    return [event for driven in seen for event in listed(decoded(driven.body), "events")]


def _records(history: History, session: str) -> Iterator[tuple[str, Record]]:
    """What is on record, and what was meant to be: an append counts as said, whatever became of it."""
    yield from (("SQL", record) for record in history.records(session))
    yield from (("an append on host-store", record) for record in (*history.appended(session), *history.offered(session)))


def _turns(history: History, session: str, notes: Notes) -> int:
    """The turns that must not end well; says how many they are."""
    failed = [
        (prompt, act)
        for prompt, act in history.turns(session)
        if act.ends != "turn_complete" or any(call.expect == "abandoned" for step in act.step for call in step.call)
    ]
    planned = sum(act.ends != "turn_complete" for _, act in history.case.prompts(session))
    if sum(act.ends != "turn_complete" for _, act in failed) < planned:
        notes.missing(f"{planned} turn(s) of session {session} had to end in an error, {len(failed)} were prompted")
    events, records = _events(history, session), list(_records(history, session))
    for prompt, act in failed:
        good = [event for event in events if event.get("type") == "turn_complete" and event.get("promptId") == prompt]
        if good:
            notes.against(f"the transcript of session {session} has a turn_complete of prompt {prompt}")
        if act.ends != "unknown" and not any(
            event.get("type") == "turn_error" and event.get("promptId") == prompt for event in events
        ):
            notes.missing(f"no transcript of session {session} shows that prompt {prompt} ended in an error")
        for witness, record in records:
            if record.kind == "session" and (record.body.get("event"), record.body.get("promptId")) == ("turn_complete", prompt):
                notes.against(f"{witness} has a turn_complete of prompt {prompt} of session {session}")
    return len(failed)


def _good_news(history: History, planned: Planned) -> Iterator[str]:
    """Where a result of the call is told that is no error."""
    session, call = planned.session, planned.call.id
    for request in history.requests(session):
        if any(message.role == "result" and message.call == call and not message.is_error for message in heard(request)):
            yield f"model request #{request.order}"
    for witness, record in _records(history, session):
        if any(identity == call and not is_error for identity, is_error in record.results):
            yield f"{witness} (record {record.sequence})"
    for event in _events(history, session):
        data = event.get("data")
        results = listed(data, "results") if event.get("type") == "tool_result" and isinstance(data, dict) else []
        if any(result.get("id") == call and result.get("isError") is not True for result in results):
            yield "the transcript"


def _may_run(exchange: Exchange) -> bool:
    """Whether an execute has, or may have, reached the worker."""
    return succeeded(exchange) or (uncertain(exchange) and exchange.fault not in WITHOUT_EFFECT)


def _reached(history: History, planned: Planned) -> Iterator[str]:
    """Where a call that must not run left a trace of running; a denied one may not even be reserved."""
    session, call, denied = planned.session, planned.call.id, planned.call.expect == "denied"
    seen = history.exchanges(HOST_BROKER, "prepare", session=session)
    prepares = [e for e in seen if decoded(e.request).get("toolCallId") == call]
    rows = [row.values for row in history.rows("executions", session) if row.values.get("tool_call_id") == call]
    ids = {execution_id(e) for e in prepares} | {str(row.get("execution_call_id")) for row in rows}
    executes = [e for e in history.exchanges(BROKER_WORKER, "execute") if execution_id(e) in ids and _may_run(e)]
    yield from (f"prepare seen by relay host-broker (#{e.order})" for e in prepares if denied)
    yield from (f"execute seen by relay broker-worker (#{e.order})" for e in executes)
    for row in rows:
        if denied or (row.get("state"), row.get("result")) not in UNSTARTED:
            yield f"SQL executions row is {row.get('state')}/{row.get('result')}"


def _spawned(history: History) -> list[str]:
    """Commands of calls that must not run, beyond those that another call explains."""
    idle = [(planned, sha256(planned.command)) for planned in history.planned(*IDLE) if planned.command is not None]
    wanted = Counter(sha256(planned.command) for planned in history.planned(*RUN) if planned.command is not None)
    seen = Counter(command.digest for command in history.commands)
    spawned = [planned for planned, digest in idle if seen[digest] > wanted[digest]]
    return [f"{planned.where}, {planned.call.expect}: process: its command was spawned" for planned in spawned]


def _control(history: History) -> str:
    """An executed call that every witness saw, where the case has one."""
    for planned in history.planned("executed"):
        trace = history.trace(planned)
        if trace.prepares and trace.rows and (trace.commands or planned.command is None):
            return f"control: prepare #{trace.prepares[0].order} of {planned.where}"
    return "the case executes nothing"


def judge(history: History) -> Finding:
    """No good end of a bad turn, no good result of a call that had none, and nothing that ran against the scenario."""
    notes = Notes(history)
    turns = sum(_turns(history, session, notes) for session in history.sessions)
    good = {(planned.session, planned.call.id) for planned in history.planned("executed")}
    calls = [planned for planned in history.planned(*UNTOLD) if (planned.session, planned.call.id) not in good]
    for planned in calls:
        what = f"{planned.where}, {planned.call.expect}"
        notes.against(*(f"{what}: a result that is no error in {place}" for place in _good_news(history, planned)))
        if planned.call.expect in IDLE:
            notes.against(*(f"{what}: {trace}" for trace in _reached(history, planned)))
        if history.step_of(planned) is None:
            notes.missing(f"step {planned.number} of session {planned.session} was never served")
    notes.against(*_spawned(history))
    return notes.conclude(f"{turns} turn(s) without a good end, {len(calls)} call(s) without a good result; {_control(history)}")


CHECK = Check(
    id="no_false_success",
    title="No turn or call that came to no good end is told of as a success, and what had to be left undone was not done",
    needs=("model", "relay", "sql", "process"),
    applies=has_unheard,
    judge=judge,
    claims_absence=True,
)
