"""The error about an argument has its key in quotation marks, escaped and cut, and says what was expected of it."""

from __future__ import annotations

import json

from harness.checks.check import Check, Finding, Notes
from harness.checks.told import SHOWN_KEY_CHARS, answers_to, names
from harness.ledger.facts import Planned
from harness.ledger.history import History
from harness.scenario.spec import Case


def _wrong(planned: Planned, text: str) -> list[str]:
    key, says = planned.call.names or "", planned.call.says or ""
    found = [] if names(text, key) else [f"{planned.where}: its error does not have the key in quotation marks"]
    if json.dumps(key)[1:-1][: SHOWN_KEY_CHARS + 1] in text and len(json.dumps(key)) - 2 > SHOWN_KEY_CHARS:
        found.append(f"{planned.where}: its error shows more than {SHOWN_KEY_CHARS} characters of the key")
    return found + ([] if says in text else [f"{planned.where}: its error does not say what was expected"])


def judge(history: History) -> Finding:
    """Every refused call that declares what its error says."""
    notes, seen = Notes(history), 0
    for planned in history.planned("refused"):
        step = history.step_of(planned)
        if planned.call.says is None:
            continue
        if step is None or step.after is None:
            notes.missing(f"{planned.where}: no error reached the model")
            continue
        notes.against(*_wrong(planned, answers_to(step, planned.call.id)))
        seen += 1
    return notes.conclude(f"{seen} error(s) name their key and say what was expected")


def _applies(case: Case) -> bool:
    return any(call.says for _, call in case.calls())


CHECK = Check(
    id="error_names_key",
    title="The error about an argument names its key and says what was expected",
    needs=("model",),
    applies=_applies,
    judge=judge,
)
