"""A key that is nearly a known one gets that one suggested, in quotation marks: a bare list of all keys is no suggestion."""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes
from harness.checks.told import told_of
from harness.ledger.history import History
from harness.scenario.spec import Case


def judge(history: History) -> Finding:
    """Every refused call that declares a suggestion."""
    notes, seen = Notes(history), 0
    for planned, _, text in told_of(history, notes, "refused", lambda call: call.suggests):
        seen += 1
        if f'"{planned.call.suggests}"' not in text:
            notes.against(f"{planned.where}: its error does not suggest {planned.call.suggests}")
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
