"""Chat Completions: argument text arrives as the characters of the script, however it is cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.wires import chat
from harness.scenario.spec import Call, Step

TEXTS = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)


def joined(pieces: tuple[bytes, ...]) -> dict[str, str]:
    """Argument text per call id, as a plain client joins it."""
    ids: dict[int, str] = {}
    texts: dict[str, str] = {}
    for piece in pieces:
        line = piece.removeprefix(b"data: ").strip()
        delta = {} if line == b"[DONE]" else json.loads(line)["choices"][0]["delta"]
        for call in delta.get("tool_calls", ()):
            ids.setdefault(call["index"], call.get("id", ""))
            texts[ids[call["index"]]] = texts.get(ids[call["index"]], "") + call["function"]["arguments"]
    return texts


def well_formed(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@given(st.lists(TEXTS.filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text)), min_size=1, max_size=3))
def test_streamed_arguments_arrive_as_written(texts: list[str]) -> None:
    calls = tuple(Call(id=f"c{number}", arguments=text, expect="executed") for number, text in enumerate(texts))
    rendered = chat.render(Step(call=calls), identity="i", stream=True)
    assert joined(rendered.pieces) == {f"c{number}": text for number, text in enumerate(texts)}


def test_wire_deltas_arrive_as_written_in_both_forms() -> None:
    step = Step(call=(Call(id="c", wire_deltas=(r"{\"a\": \"\ud83e", r"\udd8a\"}"), expect="executed"),))
    streamed = joined(chat.render(step, identity="i", stream=True).pieces)["c"]
    whole = json.loads(chat.render(step, identity="i", stream=False).pieces[0])
    assert well_formed(streamed) == '{"a": "🦊"}'
    assert whole["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"a": "🦊"}'


def test_the_finish_reason_fits_the_content_unless_scripted() -> None:
    call = Call(id="c", arguments="{}", expect="executed")
    assert chat.finish_reason(Step(call=(call,))) == "tool_calls"
    assert chat.finish_reason(Step(text="x")) == "stop"
    assert chat.finish_reason(Step(text="x", finish="length")) == "length"


def test_a_request_is_parsed_into_neutral_messages() -> None:
    asked = {"id": "c", "type": "function", "function": {"name": "t", "arguments": "\ud83d"}}
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "u"}]},
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "c", "content": "r"},
    ]
    transcript = chat.parse(json.dumps({"messages": messages, "stream": True}).encode())
    assert [message.role for message in transcript.messages] == ["system", "user", "assistant", "result"]
    assert transcript.messages[2].calls[0].arguments == "\ud83d"
    assert transcript.stream


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"messages": [{}]}', b"\xff"])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(chat.NotThisWire):
        chat.parse(body)
