"""What the model was told about one call, and how a key stands in such a text. Shared by the checks on arguments."""

from __future__ import annotations

import json

from harness.ledger.facts import Served

SHOWN_KEY_CHARS = 64
"""Longest part of an escaped key that an error may show."""


def answers_to(step: Served, call: str) -> str:
    """The results of the call in the next model request, one a line."""
    return "\n".join(answer.text for answer in step.answers if answer.call == call)


def shown(key: str) -> str:
    """A key as a text may show it: escaped, and cut."""
    return json.dumps(key)[1:-1][:SHOWN_KEY_CHARS]


def names(text: str, key: str) -> bool:
    """Whether the text has the key in quotation marks, whole or cut."""
    return f'"{shown(key)}"' in text or f'"{shown(key)}…' in text
