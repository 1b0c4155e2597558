"""Patches as mutants of somebody's stack: what they say, where they apply, and what is a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import StackError, UsageError
from harness.mutation.catalogue import MUST_DIE, NOOP
from harness.mutation.external import copies_of, read_patches, read_target
from harness.settings import CHECKOUT

EXAMPLE = CHECKOUT / "fixtures" / "external"
HEAD = "Check: zero_acquisition\nCases: a, b\nWhy: because\n\n"
DIFF = "--- a/pkg/one.py\n+++ b/pkg/one.py\n@@ -1,1 +1,1 @@\n-first\n+second\n"


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    """A stack of one file, with one patch and the must-die control."""
    (tmp_path / "source" / "pkg").mkdir(parents=True)
    (tmp_path / "source" / "pkg" / "one.py").write_text("first\n")
    (tmp_path / "patches").mkdir()
    for name in ("must-die", "other"):
        (tmp_path / "patches" / f"{name}.patch").write_text(HEAD + DIFF)
    (tmp_path / "target.toml").write_text('name = "mine"\nsource = "source"\ninclude = ["pkg"]\nbuild = "touch built"\n')
    return tmp_path


def test_the_controls_come_first_and_a_patch_says_what_it_is_for(stack: Path) -> None:
    mutants = read_patches(stack / "patches")
    assert [mutant.id for mutant in mutants] == [NOOP.id, MUST_DIE.id, "patch/other"]
    assert (mutants[2].check, mutants[2].cases, mutants[2].file) == ("zero_acquisition", ("a", "b"), "pkg/one.py")


def test_a_copy_is_patched_and_built_and_the_source_stays(stack: Path) -> None:
    made = copies_of(read_target(stack / "target.toml"), read_patches(stack / "patches"))
    assert (made("patch/other", stack / "copy") / "pkg" / "one.py").read_text() == "second\n"
    assert (made(NOOP.id, stack / "plain") / "pkg" / "one.py").read_text() == "first\n"
    assert (stack / "copy" / "built").exists()
    assert (stack / "source" / "pkg" / "one.py").read_text() == "first\n"


def test_a_patch_that_does_not_apply_or_a_build_that_fails_is_no_trial(stack: Path) -> None:
    mutants, target = read_patches(stack / "patches"), read_target(stack / "target.toml")
    (stack / "source" / "pkg" / "one.py").write_text("something else\n")
    with pytest.raises(StackError, match="does not apply"):
        copies_of(target, mutants)("patch/other", stack / "copy")
    with pytest.raises(StackError, match="false: exit 1"):
        copies_of(target.model_copy(update={"build": "false"}), mutants)(NOOP.id, stack / "plain")


@pytest.mark.parametrize(("text", "said"), [("", "does not say Check, Cases, Why"), (HEAD, "not a unified diff")])
def test_a_file_that_is_no_mutant_is_a_mistake(stack: Path, text: str, said: str) -> None:
    (stack / "patches" / "bad.patch").write_text(text)
    with pytest.raises(UsageError, match=said):
        read_patches(stack / "patches")


def test_a_campaign_needs_its_control_and_a_target_its_source(stack: Path) -> None:
    (stack / "patches" / "must-die.patch").unlink()
    with pytest.raises(UsageError, match=r"no must-die\.patch"):
        read_patches(stack / "patches")
    (stack / "target.toml").write_text('name = "mine"\nsource = "."\ninclude = ["nothing"]\n')
    with pytest.raises(UsageError, match="has no nothing"):
        read_target(stack / "target.toml")


def test_the_example_is_one() -> None:
    assert [mutant.id for mutant in read_patches(EXAMPLE / "patches")][:2] == [NOOP.id, MUST_DIE.id]
    assert read_target(EXAMPLE / "reference.toml").source == CHECKOUT
