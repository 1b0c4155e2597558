"""What the model was told about one call, and how a key stands in such a text. Shared by the checks on arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from harness.checks.check import Notes
from harness.ledger.facts import Planned, Served
from harness.ledger.history import History
from harness.scenario.spec import Call, Expectation

SHOWN_KEY_CHARS = 64
"""Longest part of an escaped key that an error may show."""


def answers_to(step: Served, call: str) -> str:
    """The results of the call in the next model request, one a line."""
    return "\n".join(answer.text for answer in step.answers if answer.call == call)


def told_of(
    history: History, notes: Notes, expect: Expectation, declares: Callable[[Call], object]
) -> Iterator[tuple[Planned, Served, str]]:
    """(call, its step, what the model was told of it) for each call that declares something; one without an answer is noted."""
    for planned in history.planned(expect):
        if not declares(planned.call):
            continue
        step = history.step_of(planned)
        if step is None or step.after is None:
            notes.missing(f"{planned.where}: no {'result' if expect == 'executed' else 'error'} reached the model")
        else:
            yield planned, step, answers_to(step, planned.call.id)


def escaped(key: str) -> str:
    """A key without what is no printable ASCII."""
    return json.dumps(key)[1:-1]


def shown(key: str) -> str:
    """A key as a text may show it: escaped, and cut."""
    return escaped(key)[:SHOWN_KEY_CHARS]


def names(text: str, key: str) -> bool:
    """Whether the text has the key in quotation marks, whole or cut."""
    return f'"{shown(key)}"' in text or f'"{shown(key)}…' in text
