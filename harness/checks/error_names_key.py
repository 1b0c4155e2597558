"""The error about an argument has its key in quotation marks, escaped and cut, and says what was expected of it."""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes
from harness.checks.told import SHOWN_KEY_CHARS, escaped, names, told_of
from harness.ledger.facts import Planned
from harness.ledger.history import History
from harness.scenario.spec import Case


def _wrong(planned: Planned, text: str) -> list[str]:
    key, says = planned.call.names or "", planned.call.says or ""
    found = [] if names(text, key) else [f"{planned.where}: its error does not have the key in quotation marks"]
    if len(escaped(key)) > SHOWN_KEY_CHARS and escaped(key)[: SHOWN_KEY_CHARS + 1] in text:
        found.append(f"{planned.where}: its error shows more than {SHOWN_KEY_CHARS} characters of the key")
    return found + ([] if says in text else [f"{planned.where}: its error does not say what was expected"])


def judge(history: History) -> Finding:
    """Every refused call that declares what its error says."""
    notes, seen = Notes(history), 0
    for planned, _, text in told_of(history, notes, "refused", lambda call: call.says):
        notes.against(*_wrong(planned, text))
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
