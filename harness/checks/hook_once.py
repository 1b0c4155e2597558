"""Every hook that was started has run once: relay, SQL, records and the process record agree on which and how often."""

from __future__ import annotations

from collections import Counter

from harness.checks.check import Check, Finding, Notes
from harness.checks.hooks import has_hooks
from harness.ledger.facts import decoded, execution_id, input_command, sha256, succeeded
from harness.ledger.history import History
from harness.ledger.hooked import occurrences


def judge(history: History) -> Finding:
    """By execution id where there is one, and by command at the process."""
    notes, hooked = Notes(history), history.hooked
    executes = [e for e in hooked.seen("execute") if succeeded(e)]
    accepted = Counter(execution_id(e) for e in executes)
    notes.against(*(f"hook execution {one} was sent to the worker {times} times" for one, times in accepted.items() if times > 1))
    started = {str(row.values.get("execution_call_id")) for row in hooked.rows if row.values.get("started_ms") is not None}
    if set(accepted) != started:
        notes.missing(f"the worker accepted {len(accepted)} hook execution(s), SQL has {len(started)} started ones")
    keys = Counter(row.values.get("idempotency_key") for row in hooked.rows)
    notes.against(*(f"SQL has {times} executions of one hook of one event" for times in keys.values() if times > 1))
    inputs = [decoded(str(decoded(e.request).get("payloadJson", ""))).get("input") for e in executes]
    wanted = Counter(sha256(input_command(given) or b"") for given in inputs if isinstance(given, dict))
    spawned = Counter(command.digest for command in hooked.commands)
    if spawned != wanted:
        notes.missing(f"the worker accepted {wanted.total()} hook command(s), the process record has {spawned.total()}, or others")
    for session in history.sessions:
        told = Counter(str(r.body.get("executionCallId")) for r in occurrences(history.records(session), "child"))
        twice = [one for one, times in told.items() if times > 1 and one]
        notes.against(*(f"SQL has {told[one]} results of one hook execution of session {session}" for one in twice))
    notes.served()
    return notes.conclude(f"{len(accepted)} hook execution(s) ran once each, by relay, SQL and process")


CHECK = Check(
    id="hook_once",
    title="Every hook that was started has run once",
    needs=("relay", "sql", "process"),
    applies=has_hooks,
    judge=judge,
)
