"""A mutant: one change to the system under test, made in a copy by exact anchors that must each occur once."""

from __future__ import annotations

import difflib
import hashlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.settings import SUBJECT_PACKAGE

CONTROL = "unicode/valid/ascii@local-shell2"
"""The case that must still pass on a mutant's arm: a mutant that breaks everything says nothing about its check."""

LEFT_OUT = (".git", ".venv", "__pycache__", "node_modules")
"""Folders of a tree that are no part of its source."""

SERVICES = ("host", "broker", "store", "worker")
_HUNK = re.compile(r"^@@ -(\d+)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """`edits` (anchor → replacement) are made in `file`, below the package; `check` is the one that must notice."""

    id: str
    """`<service>/<what is different>`."""
    file: str
    edits: tuple[tuple[str, str], ...]
    check: str
    cases: tuple[str, ...]
    """The cases that are played on it: at least one of them must turn `check` red."""
    why: str
    """What would go wrong in a real system, in one line."""
    removes: str = ""
    """The admission check that is not there, as `<service>:<id>` of its table."""
    control: str = CONTROL
    stuck_after_s: float = 1.0
    """A turn that is active while nothing has moved for so long is stuck, and that ends the case."""
    once: str = ""
    """The operation that is the evidence: before a relay has seen it, stillness does not count."""
    go_on: bool = False
    """After a stuck turn, let the other sessions go on."""
    stores: tuple[str, ...] = ()
    """The databases on which it makes a difference; empty: all."""

    @property
    def service(self) -> str:
        """The one service that it changes; empty if it is something that they share, or not known."""
        service = self.file.split("/")[1:2]
        return service[0] if service and service[0] in SERVICES and not self.patch else ""

    patch: str = ""
    """Instead of `edits`: a unified diff, with the paths of a tree whose root holds the package."""


def apply(mutant: Mutant, original: Path, folder: Path) -> Path:
    """Copy the package below `original` into `folder` and change it there; gives `folder`. The original is never touched."""
    package = folder / SUBJECT_PACKAGE
    shutil.copytree(
        original / SUBJECT_PACKAGE, package, ignore=shutil.ignore_patterns(*LEFT_OUT, "histories", "images", "external")
    )
    target = package / mutant.file
    target.write_text(changed(mutant, target.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def changed(mutant: Mutant, text: str) -> str:
    """The mutant's file with its edits made; `UsageError` unless each anchor occurs once."""
    for anchor, replacement in mutant.edits:
        if (times := text.count(anchor)) != 1:
            raise UsageError(f"mutant {mutant.id}: an anchor occurs {times} times in {mutant.file}, not once")
        text = text.replace(anchor, replacement)
    return text


def difference(mutant: Mutant, original: Path) -> tuple[str, int]:
    """The change as a unified diff, and the line of the original at which it begins."""
    if mutant.patch:
        hunk = _HUNK.search(mutant.patch)
        return mutant.patch, int(hunk[1]) if hunk else 1
    before = (original / SUBJECT_PACKAGE / mutant.file).read_text(encoding="utf-8")
    after = changed(mutant, before)
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{mutant.file}", f"b/{mutant.file}", n=1, lineterm="")
    anchor = mutant.edits[0][0] if mutant.edits else ""
    return "\n".join(lines), before[: max(before.find(anchor), 0)].count("\n") + 1


def fingerprint(*roots: Path) -> str:
    """SHA-256 over the names and contents of all files below `roots`: whether a tree is still what it was."""
    found = hashlib.sha256()
    for root in roots:
        for path in sorted(path for path in root.rglob("*") if path.is_file() and not set(LEFT_OUT) & set(path.parts)):
            content = path.read_bytes()
            found.update(f"{path.relative_to(root)} {len(content)}\n".encode())
            found.update(content)
    return found.hexdigest()
