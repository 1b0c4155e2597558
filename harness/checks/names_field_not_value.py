"""An error names the offending field and does not give its value back to the model."""

from __future__ import annotations

import json
import re

from harness.checks.absence import gaps
from harness.checks.check import Check, Finding, Notes
from harness.ledger.facts import Served
from harness.ledger.history import History
from harness.scenario.spec import Call, Case

ECHO_CHARS = 8
"""Shortest piece of a value that counts as an echo; shorter ones occur in any sentence."""
_DAMAGED = re.compile(r"[\ud800-\udfff\ufffd]|\\u\{?d[89a-f][0-9a-f]{2}", re.IGNORECASE)


def _value(call: Call) -> str:
    """The offending value; the whole argument text where it cannot be read."""
    text = call.argument_text()
    try:
        arguments = json.loads(text)
    except ValueError:
        return text
    value = arguments.get(call.names, "") if isinstance(arguments, dict) else arguments
    return value if isinstance(value, str) else json.dumps(value)


def _echoed(value: str, content: str) -> bool:
    forms = (value, json.dumps(value)[1:-1])
    return any(form[start : start + ECHO_CHARS] in content for form in forms for start in range(len(form) - ECHO_CHARS + 1))


def _mistakes(step: Served) -> list[str]:
    found = []
    for call in step.step.call:
        if call.names is None:
            continue
        own = [answer.text for answer in step.answers if answer.call == call.id]
        if not any(call.names in text for text in own):
            found.append(f"the error of call {call.id} after {step.where} does not name the field {call.names}")
        value = _value(call)
        for answer in step.answers:
            if _echoed(value, answer.text):
                found.append(f"the result of call {answer.call} after {step.where} echoes the value of field {call.names}")
            if _DAMAGED.search(answer.text):
                found.append(f"the result of call {answer.call} after {step.where} holds a surrogate or its replacement")
    return found


def judge(history: History) -> Finding:
    """Field named, value not shown, in every batch with a call that declares `names`."""
    notes = Notes(history)
    notes.gap(*gaps(history))
    steps = [step for step in history.refused if any(call.names for call in step.step.call)]
    for step in steps:
        if step.after is None:
            notes.missing(f"no model request followed {step.where}")
        else:
            notes.against(*_mistakes(step))
    orders = ", ".join(f"#{step.after.order}" for step in steps if step.after)
    return notes.conclude(f"model request(s) {orders} name each field and show no value")


def _applies(case: Case) -> bool:
    return any(call.names for _, call in case.calls("refused"))


CHECK = Check(
    id="names_field_not_value",
    title="An error names the offending field and never shows its value",
    needs=("model",),
    applies=_applies,
    judge=judge,
)
