"""A mutant: one change to the system under test, made in a copy by exact anchors that must each occur once."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.settings import SUBJECT_PACKAGE


@dataclass(frozen=True)
class Mutant:
    """`edits` (anchor → replacement) are made in `file`, below the package; `check` is the one that must notice."""

    id: str
    file: str
    edits: tuple[tuple[str, str], ...]
    check: str
    why: str


def apply(mutant: Mutant, original: Path, folder: Path) -> Path:
    """Copy the package below `original` into `folder` and change it there; gives `folder`. The original is never touched."""
    package = folder / SUBJECT_PACKAGE
    shutil.copytree(original / SUBJECT_PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "histories", "images"))
    target = package / mutant.file
    text = target.read_text(encoding="utf-8")
    for anchor, replacement in mutant.edits:
        if (times := text.count(anchor)) != 1:
            raise UsageError(f"mutant {mutant.id}: an anchor occurs {times} times in {mutant.file}, not once")
        text = text.replace(anchor, replacement)
    target.write_text(text, encoding="utf-8")
    return folder
