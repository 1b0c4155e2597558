"""A key that is nearly a known one gets that one suggested, in quotation marks: a bare list of all keys is no suggestion."""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes
from harness.checks.told import answers_to
from harness.ledger.history import History
from harness.scenario.spec import Case


def judge(history: History) -> Finding:
    """Every refused call that declares a suggestion."""
    notes, seen = Notes(history), 0
    for planned in history.planned("refused"):
        step, wanted = history.step_of(planned), planned.call.suggests
        if wanted is None:
            continue
        if step is None or step.after is None:
            notes.missing(f"{planned.where}: no error reached the model")
        elif f'"{wanted}"' not in answers_to(step, planned.call.id):
            notes.against(f"{planned.where}: its error does not suggest {wanted}")
        else:
            seen += 1
    return notes.conclude(f"{seen} error(s) suggest the key that was meant")


def _applies(case: Case) -> bool:
    return any(call.suggests for _, call in case.calls())


CHECK = Check(
    id="suggestion_offered",
    title="A near-miss key gets the known key suggested",
    needs=("model",),
    applies=_applies,
    judge=judge,
)
