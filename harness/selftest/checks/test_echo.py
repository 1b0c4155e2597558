"""What counts as giving a refused value back."""

from __future__ import annotations

import pytest

from harness.checks.echo import damaged, echoed, value_of, words
from harness.scenario.spec import Call

VALUE = "printf zq7-canary > bad.txt # \ud83d"


@pytest.mark.parametrize(
    "content",
    [
        "printf zq7-canary",
        "it began with zq7-",
        "given: (zq7-c...)",
        "ZQ7-CANARY",
        "ends in > bad.txt",
        r"x # \ud83d",
        '"zq7-',
    ],
)
def test_a_piece_of_the_value_or_the_beginning_of_its_canary_is_an_echo(content: str) -> None:
    assert echoed(VALUE, content)


@pytest.mark.parametrize(
    "content", ["", "Error: argument command is not well-formed", "bad.txt", "xzq7-", "zq7", "zq8-canary", "printf"]
)
def test_names_and_shorter_pieces_are_none(content: str) -> None:
    assert not echoed(VALUE, content)


def test_a_value_without_a_canary_has_only_the_rule_of_eight() -> None:
    assert not echoed("printf hello", "printf ")
    assert echoed("printf hello", "printf h")


@pytest.mark.parametrize(
    ("arguments", "value"), [('{"command": 12345678}', "12345678"), ("{", "{"), ('["a"]', '["a"]'), ("{}", "")]
)
def test_the_offending_value_is_read_as_far_as_it_can_be(arguments: str, value: str) -> None:
    assert value_of(Call(id="c", arguments=arguments, expect="refused", names="command")) == value


DAMAGE = {"surrogate": "\ud83d", "replacement": "\ufffd", "escape": r"\uDEAD", "braces": r"\u{d83d}"}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_a_surrogate_its_escape_or_its_replacement(kind: str) -> None:
    assert damaged(f"a {DAMAGE[kind]} b")
    assert not damaged("a \u00e9 b")


def test_words_are_the_texts_of_a_document_without_its_names() -> None:
    document = {"role": "tool_result", "promptId": "p1", "results": [{"id": "c1", "content": "one", "more": ["two", 3, None]}]}
    assert list(words(document)) == ["one", "two"]
