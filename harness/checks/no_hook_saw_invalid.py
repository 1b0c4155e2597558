"""No hook is given text that is not well-formed, and a batch that is refused as the model gave it is shown to none at all."""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes
from harness.checks.hooks import has_half, has_hooks, refused_for_text
from harness.ledger.facts import decoded
from harness.ledger.history import History
from harness.ledger.hooked import runs


def judge(history: History) -> Finding:
    """By what the host hands to the broker, by the broker's rows, and by the processes."""
    notes, started = Notes(history), runs(history.hooked)
    for run in started:
        if has_half(decoded(run.stdin)):
            notes.against(f"hook at {run.event} of call {run.call} (#{run.exchange.order}) was given half a surrogate pair")
    inert = [step for step in refused_for_text(history) if step.step.inert]
    for step in inert:
        refused = {call.id for call in step.step.call}
        late = [run for run in started if step.covers(run.exchange.order)]
        notes.against(*(f"hook at {run.event} (#{run.exchange.order}) ran after {step.where}" for run in late))
        rows = [row for row in history.hooked.rows if row.values.get("tool_call_id") in refused]
        notes.against(*(f"{step.where}: SQL executions row of a hook for call {row.values.get('tool_call_id')}" for row in rows))
        spawned = [command for command in history.hooked.commands if step.covers(command.order)]
        notes.against(*(f"process: a hook's command (#{command.order}) was spawned after {step.where}" for command in spawned))
    notes.served()
    none = f"none in {len(inert)} batch(es) that were refused as the model gave them"
    return notes.conclude(f"{len(started)} hook run(s) were given well-formed text; {none}")


CHECK = Check(
    id="no_hook_saw_invalid",
    title="No hook is given ill-formed text, and a batch refused for its text runs none",
    needs=("relay", "sql", "process"),
    applies=has_hooks,
    judge=judge,
    claims_absence=True,
)
