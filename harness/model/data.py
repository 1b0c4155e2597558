"""Seeded words for prompts and for texts in many scripts: the sole importer of faker.

`@words:LOCALE@` in a scenario stands for a text of that locale that depends on seed, case and locale alone. It holds no quote, no
backslash and no line break, so it may stand in JSON and in a quoted shell word as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from faker import Faker

from harness.scenario.spec import Act, Case
from harness.seeds import number

_MARKER = re.compile(r"@words:([a-z]{2,3}_[A-Z]{2})@")
_UNSAFE = re.compile(r"""['"\\\x00-\x1f]""")
WORDS_CHARS = 80


@lru_cache(maxsize=32)
def _faker(locale: str) -> Faker:
    return Faker(locale, use_weighting=False)


def prompt_text(case: Case, place: int, act: Act, *, seed: int) -> str:
    """What the user says in this act: the scenario's own words, or a sentence that depends on seed and case alone."""
    if act.text is not None:
        return act.text
    faker = _faker("en_US")
    faker.seed_instance(number(seed, case.id, "prompt", str(place)))
    return str(faker.sentence(nb_words=6))


def words(case_id: str, locale: str, *, seed: int) -> str:
    """A text of this locale: a name, an address and a sentence."""
    faker = _faker(locale)
    faker.seed_instance(number(seed, case_id, "words", locale))
    text = " ".join((faker.name(), faker.address(), faker.sentence()))
    return _UNSAFE.sub(" ", text)[:WORDS_CHARS].strip()


def with_words(case: Case, *, seed: int) -> Case:
    """The case with its markers replaced."""

    def fill(value: Any) -> Any:
        if isinstance(value, str):
            return _MARKER.sub(lambda hit: words(case.id, hit[1], seed=seed), value)
        if isinstance(value, dict):
            return {key: fill(item) for key, item in value.items()}
        return [fill(item) for item in value] if isinstance(value, list | tuple) else value

    return Case.model_validate(fill(case.model_dump()))
