"""What was done otherwise than the model asked stands in the result: what it asked for, what was applied, which limit there is."""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes
from harness.checks.told import told_of
from harness.ledger.history import History
from harness.scenario.spec import Case


def judge(history: History) -> Finding:
    """Every text that the scenario declares, in the call's own result."""
    notes, seen = Notes(history), 0
    for planned, _, text in told_of(history, notes, "executed", lambda call: call.told):
        absent = [number for number, told in enumerate(planned.call.told, start=1) if told not in text]
        numbers = ", ".join(map(str, absent))
        if absent:
            notes.against(f"{planned.where}: its result does not say {len(absent)} of {len(planned.call.told)}: no. {numbers}")
        seen += len(planned.call.told)
    return notes.conclude(f"{seen} difference(s) between what was asked for and what was done stand in the results")


def _applies(case: Case) -> bool:
    return any(call.told for _, call in case.calls())


CHECK = Check(
    id="override_told",
    title="A clamp, a floor, an alias or a cut is told to the model in the result",
    needs=("model",),
    applies=_applies,
    judge=judge,
)
