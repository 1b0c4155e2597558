"""Seeded words for prompts: the sole importer of faker."""

from __future__ import annotations

from faker import Faker

from harness.scenario.spec import Act, Case
from harness.seeds import number


def prompt_text(case: Case, place: int, act: Act, *, seed: int) -> str:
    """What the user says in this act: the scenario's own words, or a sentence that depends on seed and case alone."""
    if act.text is not None:
        return act.text
    faker = Faker("en_US", use_weighting=False)
    faker.seed_instance(number(seed, case.id, "prompt", str(place)))
    return str(faker.sentence(nb_words=6))
