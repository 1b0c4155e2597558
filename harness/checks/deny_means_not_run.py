"""What a hook has denied does not run, by whatever way the hook said no: nothing is reserved, carried or spawned for that call.

That it was denied is itself seen: a hook's result is on record that says so, or that failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from harness.checks.check import RUN, Check, Finding, Notes
from harness.checks.hooks import has_hooks, said_by
from harness.ledger.facts import BROKER_WORKER, HOST_BROKER, Planned, Record, Served, decoded, execution_id, sha256
from harness.ledger.history import History
from harness.ledger.hooked import occurrences
from harness.scenario.spec import Case

BEFORE = ("PermissionRequest", "PreToolUse")


def says_no(child: Record) -> bool:
    """Whether a hook's result refuses its call: it failed, or what it printed denies or stops."""
    said = said_by(str(child.body.get("output", "")))
    return bool(child.body.get("failure")) or said.get("permissionDecision") == "deny" or said.get("stop") is True


def denials(history: History, step: Served, call: str) -> tuple[Record, ...]:
    """The results on record, appended within the step, that refuse this call."""
    found = occurrences(history.appended(step.session), "child")
    own = (r for r in found if r.body.get("callId") == call and r.body.get("event") in BEFORE and step.covers(r.order))
    return tuple(record for record in own if says_no(record))


def _traces(history: History, planned: Planned, step: Served) -> Iterator[str]:
    """Where the denied call left a trace of running."""
    call = planned.call.id
    prepares = [e for e in history.exchanges(HOST_BROKER, "prepare", window=step) if decoded(e.request).get("toolCallId") == call]
    yield from (f"prepare seen by relay host-broker (#{e.order})" for e in prepares)
    ids = {execution_id(e) for e in prepares} - {""}
    executes = history.exchanges(BROKER_WORKER, "execute")
    yield from (f"execute seen by relay broker-worker (#{e.order})" for e in executes if execution_id(e) in ids)
    wanted = sum(one.call.id == call for one in history.planned(*RUN) if one.session == planned.session)
    rows = [row for row in history.rows("executions", planned.session) if row.values.get("tool_call_id") == call]
    if len(rows) > wanted:
        yield f"SQL has {len(rows)} executions row(s) of the call, not {wanted}"


def _spawned(history: History, calls: list[Planned]) -> Iterator[str]:
    """Commands of denied calls, beyond those that another call explains."""
    wanted = Counter(sha256(one.command) for one in history.planned(*RUN) if one.command is not None)
    seen = Counter(command.digest for command in history.commands)
    for planned in calls:
        if planned.command is not None and seen[sha256(planned.command)] > wanted[sha256(planned.command)]:
            yield f"{planned.where}: process: its command was spawned"


def denied_by_hook(history: History) -> Iterator[tuple[Planned, Served, tuple[Record, ...]]]:
    """Every denied call whose step was served, with the results that denied it; none where somebody was asked and said no."""
    for planned in history.planned("denied"):
        step = history.step_of(planned)
        if step is not None and not any(event.detail == planned.call.id for event in history.driven("asked", planned.session)):
            yield planned, step, denials(history, step, planned.call.id)


def judge(history: History) -> Finding:
    """Every call that a hook denied, by relay, SQL and process."""
    notes, calls, seen = Notes(history), list[Planned](), 0
    for planned, step, said in denied_by_hook(history):
        calls.append(planned)
        seen += len(said)
        if not said:
            notes.missing(f"{planned.where}: no hook's result on record denies it")
        notes.against(*(f"{planned.where}, denied: {trace}" for trace in _traces(history, planned, step)))
    notes.against(*_spawned(history, calls))
    notes.served()
    return notes.conclude(f"{len(calls)} denied call(s) left nothing; control: {seen} denial(s) by hooks on record")


def _applies(case: Case) -> bool:
    by_answer = sum(act.answer is not None and act.decision == "deny" for act in case.acts)
    return has_hooks(case) and sum(1 for _ in case.calls("denied")) > by_answer


CHECK = Check(
    id="deny_means_not_run",
    title="What a hook has denied does not run",
    needs=("relay", "sql", "process"),
    applies=_applies,
    judge=judge,
    claims_absence=True,
)
