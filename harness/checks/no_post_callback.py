"""A batch that was refused for its text, the model's or a hook's, is shown to no hook that comes after a batch."""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes
from harness.checks.hooks import AFTER, refused_for_text
from harness.ledger.history import History
from harness.ledger.hooked import occurrences, runs
from harness.scenario.spec import Case


def judge(history: History) -> Finding:
    """No start of such a hook and no record of one, between the refusal and the next model request."""
    notes, steps = Notes(history), list(refused_for_text(history))
    for step in steps:
        late = [run for run in runs(history.hooked) if run.event in AFTER and step.covers(run.exchange.order)]
        notes.against(*(f"hook at {run.event} (#{run.exchange.order}) ran after {step.where}" for run in late))
        planned = [r for r in occurrences(history.appended(step.session), "planned") if step.covers(r.order)]
        kept = [record for record in planned if record.body.get("event") in AFTER]
        notes.against(*(f"a plan for {record.body.get('event')} was put on record after {step.where}" for record in kept))
        if step.after is None:
            notes.missing(f"no model request followed {step.where}")
    notes.served()
    return notes.conclude(f"no hook after {len(steps)} batch(es) that were refused for their text")


def _applies(case: Case) -> bool:
    return any(hook.event in AFTER for hook in case.hooks) and any(True for _ in case.calls("refused"))


CHECK = Check(
    id="no_post_callback",
    title="A batch refused for its text is shown to no hook after it",
    needs=("model", "relay"),
    applies=_applies,
    judge=judge,
    claims_absence=True,
)
