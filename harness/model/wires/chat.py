"""OpenAI Chat Completions, streaming and not.

Argument text reaches the client as the characters of the script: deltas are written ASCII-escaped, and `wire_deltas` are put
between the quotes of the JSON as they stand, so that a delta can be half of a surrogate pair.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.model.transcript import AskedCall, Message, Transcript
from harness.scenario.spec import Call, Step

PATHS = ("v1/chat/completions", "chat/completions")
MODEL = "loudgate-fake"
CREATED = 1700000000
"""A constant: nothing that a client sees depends on the time."""

DELTA_CHARS = 24
"""Argument text without pieces of its own is streamed in deltas of this many characters, so that joining is always exercised."""


class NotThisWire(ValueError):
    """The body is not a request of this wire."""


@dataclass(frozen=True)
class Rendered:
    """A reply: status, content type, and the pieces in which it is written."""

    status: int
    content_type: str
    pieces: tuple[bytes, ...]


def parse(body: bytes) -> Transcript:
    """The conversation in a request body; `NotThisWire` if it is none."""
    try:
        request = json.loads(body)
        tools = tuple(str(tool["function"]["name"]) for tool in request.get("tools") or ())
        return Transcript(tuple(_message(raw) for raw in request["messages"]), tools, bool(request.get("stream", False)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotThisWire(f"not a chat completion request: {type(error).__name__}") from error


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return "" if content is None else str(content)


def _message(raw: dict[str, Any]) -> Message:
    role = raw["role"]
    if role == "tool":
        return Message("result", _text(raw.get("content")), call=str(raw["tool_call_id"]))
    if role == "assistant":
        return Message("assistant", _text(raw.get("content")), tuple(_asked(call) for call in raw.get("tool_calls") or ()))
    if role == "user":
        return Message("user", _text(raw.get("content")))
    return Message("system", _text(raw.get("content")))


def _asked(raw: dict[str, Any]) -> AskedCall:
    return AskedCall(str(raw["id"]), str(raw["function"]["name"]), str(raw["function"]["arguments"]))


def finish_reason(step: Step) -> str:
    """The scripted finish reason, or the one that fits the content."""
    return step.finish or ("tool_calls" if step.call else "stop")


def argument_pieces(call: Call) -> tuple[str, ...]:
    """The argument text as JSON string bodies, one per delta."""
    if call.wire_deltas:
        return call.wire_deltas
    text = call.argument_text() if call.arguments is not None else ""
    pieces = call.deltas or tuple(text[at : at + DELTA_CHARS] for at in range(0, len(text), DELTA_CHARS)) or ("",)
    return tuple(json.dumps(piece)[1:-1] for piece in pieces)


def _spliced(document: dict[str, Any], key: str, pieces: str) -> bytes:
    """The document as JSON with the value `key` replaced by a string whose inside is `pieces`, as it stands."""
    return json.dumps(document).replace(json.dumps(key), f'"{pieces}"', 1).encode("ascii")


def _chunk(identity: str, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": identity, "object": "chat.completion.chunk", "created": CREATED, "model": MODEL, "choices": [choice]}


def _events(identity: str, step: Step) -> Iterator[bytes]:
    yield json.dumps(_chunk(identity, {"role": "assistant", "content": step.text})).encode("ascii")
    for index, call in enumerate(step.call):
        head = {"index": index, "id": call.id, "type": "function", "function": {"name": call.tool, "arguments": ""}}
        yield json.dumps(_chunk(identity, {"tool_calls": [head]})).encode("ascii")
        for piece in argument_pieces(call):
            delta = _chunk(identity, {"tool_calls": [{"index": index, "function": {"arguments": "\0piece"}}]})
            yield _spliced(delta, "\0piece", piece)
    yield json.dumps(_chunk(identity, {}, finish_reason(step))).encode("ascii")
    yield b"[DONE]"


def _whole(identity: str, step: Step) -> bytes:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": f"\0arguments{index}"}}
        for index, call in enumerate(step.call)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": step.text} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": finish_reason(step)}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    document = {
        "id": identity,
        "object": "chat.completion",
        "created": CREATED,
        "model": MODEL,
        "choices": [choice],
        "usage": usage,
    }
    text = json.dumps(document)
    for index, call in enumerate(step.call):
        text = text.replace(json.dumps(f"\0arguments{index}"), '"' + "".join(argument_pieces(call)) + '"', 1)
    return text.encode("ascii")


def render(step: Step, *, identity: str, stream: bool) -> Rendered:
    """The answer in the form that the client asked for."""
    if not stream:
        return Rendered(200, "application/json", (_whole(identity, step),))
    return Rendered(200, "text/event-stream", tuple(b"data: " + event + b"\n\n" for event in _events(identity, step)))


def refusal(reason: str) -> Rendered:
    """What a client is told whose request matched no step. 400, since a client does not retry that."""
    body = {"error": {"message": f"loudgate: {reason}", "type": "invalid_request_error", "code": "unexpected_request"}}
    return Rendered(400, "application/json", (json.dumps(body).encode("ascii"),))
