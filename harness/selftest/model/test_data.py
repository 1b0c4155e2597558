"""Seeded words: the same for one seed and case, safe where scenarios put them."""

from __future__ import annotations

import json

import pytest

from harness.model.data import WORDS_CHARS, with_words, words
from harness.scenario.spec import Act, Call, Case, Step

LOCALES = ("ar_SA", "bn_BD", "he_IL", "hy_AM", "ja_JP", "ka_GE", "th_TH", "zh_CN")


@pytest.mark.parametrize("locale", LOCALES)
def test_words_depend_on_seed_and_case_alone(locale: str) -> None:
    one = words("a", locale, seed=1)
    assert one == words("a", locale, seed=1)
    assert one != words("b", locale, seed=1)
    assert one != words("a", locale, seed=2)
    assert 0 < len(one) <= WORDS_CHARS
    assert not one.isascii()


@pytest.mark.parametrize("locale", LOCALES)
def test_words_may_stand_in_json_and_in_a_quoted_word(locale: str) -> None:
    text = words("a", locale, seed=1)
    assert json.loads(f'"{text}"') == text
    assert "'" not in text


def test_markers_are_replaced_everywhere_in_a_case() -> None:
    call = Call(id="c", arguments='{"command": "@words:ja_JP@"}', expect="executed", output="@words:ja_JP@")
    case = Case(id="x", area="x", title="x", profile="p", acts=(Act(prompt="main", step=(Step(call=(call,)),)),))
    filled = next(with_words(case, seed=1).calls())[1]
    assert filled.output == words("x", "ja_JP", seed=1)
    assert filled.output in filled.argument_text()
