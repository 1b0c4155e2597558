"""A mutant: one change to the system under test, made in a copy by an exact anchor that must occur once."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.settings import SUBJECT_PACKAGE


@dataclass(frozen=True)
class Mutant:
    """`anchor` in `file` (below the package) becomes `replacement`; `check` is the one that must notice."""

    id: str
    file: str
    anchor: str
    replacement: str
    check: str
    why: str


def apply(mutant: Mutant, original: Path, folder: Path) -> Path:
    """Copy the package below `original` into `folder` and change it there; gives `folder`. The original is never touched."""
    package = folder / SUBJECT_PACKAGE
    shutil.copytree(original / SUBJECT_PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "histories", "images"))
    target = package / mutant.file
    text = target.read_text(encoding="utf-8")
    if (times := text.count(mutant.anchor)) != 1:
        raise UsageError(f"mutant {mutant.id}: its anchor occurs {times} times in {mutant.file}, not once")
    target.write_text(text.replace(mutant.anchor, mutant.replacement), encoding="utf-8")
    return folder
