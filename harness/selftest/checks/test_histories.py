"""Every check on its four hand-written ledgers, read from disk."""

from __future__ import annotations

import tomllib

import pytest

from harness.checks.check import Check
from harness.checks.table import CHECKS, judge
from harness.ledger import codec
from harness.selftest.checks.build import HISTORIES, path_of
from harness.selftest.checks.histories import FOUR

NAMES = ("empty", "good", "bad", "indeterminate")
EXPECTED = tomllib.loads((HISTORIES / "expected.toml").read_text(encoding="ascii"))
ROWS = [pytest.param(check, name, id=f"{check.id}-{name}") for check in CHECKS for name in NAMES]


def test_every_check_has_its_four_histories_and_expectations() -> None:
    kept = {folder.name: {file.stem for file in folder.glob("*.jsonl")} for folder in HISTORIES.iterdir() if folder.is_dir()}
    assert kept == {check.id: set(NAMES) for check in CHECKS}
    assert {check: set(rows) for check, rows in EXPECTED.items()} == kept
    assert [EXPECTED[check.id]["good"][0] for check in CHECKS] == ["pass"] * len(CHECKS)


@pytest.mark.parametrize(("check", "name"), ROWS)
def test_a_check_says_what_is_expected_of_its_history(check: Check, name: str) -> None:
    verdict, words = EXPECTED[check.id][name]
    (result,) = judge(codec.read(path_of(check.id, name)), [check])
    assert (result.id, result.verdict.value) == (check.id, verdict), result.finding
    assert words in result.finding


@pytest.mark.parametrize("check", FOUR)
def test_the_kept_histories_are_what_the_builder_writes(check: str) -> None:
    for name, variation in FOUR[check].all().items():
        assert codec.read(path_of(check, name)) == variation.ledger(), name


@pytest.mark.parametrize("check", FOUR)
def test_a_good_history_passes_every_check_that_applies(check: str) -> None:
    results = judge(codec.read(path_of(check, "good")))
    controls = {"zero_acquisition", "zero_publication", "zero_execution", "zero_side_effects"}
    idle = {"reload_identical", "exact_text_in_store"}  # their case executes nothing
    accepted = {"pass"} | ({"unknown"} if check in idle else set())
    assert {r.verdict.value for r in results} <= accepted
    assert {r.id for r in results if r.verdict.value == "unknown"} <= controls
