"""Whether text gives a refused value back: the rules, pure, without any ledger."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from harness.scenario.spec import Call

ECHO_CHARS = 8
"""Shortest piece of a value that counts as an echo; shorter ones occur in any sentence."""
CANARY_CHARS = 4
"""Shortest piece of a canary that counts, at the beginning of a word: no sentence has it by chance."""
_CANARY = re.compile(r"zq[0-9]+-[a-z]+")
"""The words that scenarios put into what must be refused."""
_DAMAGED = re.compile(r"[\ud800-\udfff\ufffd]|\\u\{?d[89a-f][0-9a-f]{2}", re.IGNORECASE)
_NAMES = frozenset({"id", "name", "promptId", "callId", "executionCallId", "role"})
"""Keys of records and events whose values are names, not words."""


def value_of(call: Call) -> str:
    """The offending value; the whole argument text where it cannot be read."""
    text = call.argument_text()
    try:
        arguments = json.loads(text)
    except ValueError:
        return text
    value = arguments.get(call.names, "") if isinstance(arguments, dict) else arguments
    return value if isinstance(value, str) else json.dumps(value)


def echoed(value: str, content: str) -> bool:
    """Whether `content` holds a piece of the value, plain or as JSON writes it, or the beginning of one of its canaries."""
    forms = (value, json.dumps(value)[1:-1])
    if any(form[start : start + ECHO_CHARS] in content for form in forms for start in range(len(form) - ECHO_CHARS + 1)):
        return True
    return any(_begins_a_word(canary[:CANARY_CHARS], content) for canary in _CANARY.findall(value))


def _begins_a_word(start: str, content: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){re.escape(start)}", content, re.IGNORECASE) is not None


def damaged(content: str) -> bool:
    """Whether the text holds a surrogate, its escape, or what a careless encoder puts in its place."""
    return _DAMAGED.search(content) is not None


def words(value: object) -> Iterator[str]:
    """Every text in a decoded document that is not a name."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from words(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _NAMES:
                yield from words(item)
