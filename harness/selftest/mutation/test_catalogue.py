"""Every mutant can be made, names what exists, and every admission check of the services has one that takes it away."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from harness.checks.table import CHECKS
from harness.errors import UsageError
from harness.mutation import campaign
from harness.mutation.catalogue import CATALOGUE, CONTROLS, IMPORTANT, find
from harness.mutation.mutant import SERVICES, Mutant, apply, changed, fingerprint
from harness.scenario import catalog
from harness.settings import SCENARIOS, SUBJECT_PACKAGE, subject_root

ALL = (*CONTROLS, *CATALOGUE)


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.id)
def test_a_mutant_can_be_made_and_is_python(mutant: Mutant) -> None:
    original = (subject_root() / SUBJECT_PACKAGE / mutant.file).read_text(encoding="utf-8")
    ast.parse(changed(mutant, original))
    assert changed(mutant, original) != original


def test_the_original_is_never_touched(tmp_path: Path) -> None:
    original = subject_root() / SUBJECT_PACKAGE
    before, mutant = fingerprint(original), CATALOGUE[0]
    copy = apply(mutant, subject_root(), tmp_path) / SUBJECT_PACKAGE
    assert fingerprint(original) == before
    assert (copy / mutant.file).read_bytes() != (original / mutant.file).read_bytes()


def test_ids_are_unique_and_names_exist() -> None:
    cases = catalog.load(SCENARIOS)
    assert len({mutant.id for mutant in ALL}) == len(ALL)
    assert set(IMPORTANT) <= {mutant.id for mutant in CATALOGUE}
    assert {mutant.check for mutant in ALL} <= {check.id for check in CHECKS}
    assert campaign.planned([], engine="process", store="sqlite", cases=cases)[: len(CONTROLS)] == CONTROLS


def test_every_admission_check_has_a_mutant_that_takes_it_away() -> None:
    rows = campaign.admission_rows(subject_root())
    assert {row.partition(":")[0] for row in rows} == set(SERVICES)
    assert campaign.without_mutant(rows) == ()
    assert campaign.without_mutant(("host:new-one",)) == ("host:new-one",)


def test_an_anchor_that_does_not_occur_once_makes_no_mutant(tmp_path: Path) -> None:
    twice = Mutant(id="m", file="hosted/limits.py", edits=(("Final", "final"),), check="c", cases=(), why="w")
    with pytest.raises(UsageError, match="an anchor occurs"):
        apply(twice, subject_root(), tmp_path)


def test_what_does_not_exist_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="no mutant matches 'nobody'"):
        campaign.planned(["nobody"], engine="process", store="sqlite", cases=())
    with pytest.raises(UsageError, match="no case"):
        campaign.planned(["host/unicode-removed"], engine="process", store="sqlite", cases=())
    with pytest.raises(UsageError, match="no mutant 'nobody'"):
        find("nobody")
