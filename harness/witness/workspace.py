"""The workspace witness: which files a workspace holds, by digest, and the bytes of the small ones. Follows no link."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from harness.ledger.event import TreeEntry
from harness.limits import TREE_ENTRIES, TREE_FILE_BYTES


def snapshot(root: Path) -> tuple[tuple[TreeEntry, ...], bool]:
    """Entries below `root`, by path, and whether the bound cut the list. A workspace that does not exist yet is empty."""
    found: list[TreeEntry] = []
    for path in _walk(root):
        if len(found) >= TREE_ENTRIES:
            return tuple(found), True
        found.append(_entry(path, path.relative_to(root)))
    return tuple(found), False


def _walk(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders.sort()
        yield from (Path(folder) / name for name in sorted([*folders, *files]))


def _entry(path: Path, relative: Path) -> TreeEntry:
    name = os.fsencode(relative).decode("utf-8", "backslashreplace")
    status = path.lstat()
    if stat.S_ISREG(status.st_mode):
        # No link is followed even if the file is swapped for one between the two calls.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            content = file.read(TREE_FILE_BYTES + 1)
            digest = hashlib.sha256(content)
            while block := file.read(TREE_FILE_BYTES):
                digest.update(block)
        kept = content if len(content) <= TREE_FILE_BYTES else None
        return TreeEntry(path=name, type="file", size=status.st_size, sha256=digest.hexdigest(), content=kept)
    if stat.S_ISLNK(status.st_mode):
        digest = hashlib.sha256(os.fsencode(os.readlink(path)))
        return TreeEntry(path=name, type="link", size=status.st_size, sha256=digest.hexdigest())
    return TreeEntry(path=name, type="folder" if stat.S_ISDIR(status.st_mode) else "other", size=0, sha256="")
