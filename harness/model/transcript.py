"""The conversation that a request carries, in one form for all wires.

Each wire's `parse` turns a body into messages; `as_json` is what the ledger keeps. Text may hold lone surrogates: it is only ever
written ASCII-escaped.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Literal

Role = Literal["system", "user", "assistant", "result"]


@dataclass(frozen=True)
class AskedCall:
    """A tool call as the request repeats it; `arguments` is its text, character for character."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """One message; `call` is the id that a `result` answers."""

    role: Role
    text: str = ""
    calls: tuple[AskedCall, ...] = ()
    call: str = ""


@dataclass(frozen=True)
class Transcript:
    """All messages of one request, and the names of the tools that it offers."""

    messages: tuple[Message, ...]
    tools: tuple[str, ...] = ()
    stream: bool = False

    def as_json(self) -> bytes:
        """`[{"role", "text", "calls": [{"id", "name", "arguments"}], "call"}]`, ASCII-escaped."""
        return json.dumps([asdict(message) for message in self.messages], ensure_ascii=True).encode("ascii")

    def results_after_last_assistant(self) -> tuple[Message, ...]:
        """The tool results that follow the last assistant message."""
        tail: list[Message] = []
        for message in reversed(self.messages):
            if message.role == "assistant":
                break
            tail.append(message)
        return tuple(message for message in reversed(tail) if message.role == "result")

    def last(self, role: Role) -> Message | None:
        """The last message of that role."""
        return next((message for message in reversed(self.messages) if message.role == role), None)
