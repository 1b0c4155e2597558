"""The workspace witness: exact bytes, no link followed, bounded."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from harness.limits import TREE_ENTRIES, TREE_FILE_BYTES
from harness.witness.workspace import snapshot


def test_files_are_known_by_digest_and_small_ones_by_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\x00")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "large").write_bytes(b"x" * (TREE_FILE_BYTES + 1))
    entries, truncated = snapshot(tmp_path)
    assert [(entry.path, entry.type) for entry in entries] == [("a", "file"), ("b", "folder"), ("b/large", "file")]
    assert entries[0].content == b"\xff\x00"
    assert entries[2].content is None
    assert entries[2].sha256 == hashlib.sha256(b"x" * (TREE_FILE_BYTES + 1)).hexdigest()
    assert not truncated


def test_links_and_fifos_are_named_and_not_opened(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe")
    entries, _ = snapshot(tmp_path)
    assert [(entry.path, entry.type) for entry in entries] == [("link", "link"), ("pipe", "other")]


def test_a_workspace_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert snapshot(tmp_path / "none") == ((), False)


def test_the_list_is_bounded(tmp_path: Path) -> None:
    for number in range(TREE_ENTRIES + 1):
        (tmp_path / f"{number:05}").touch()
    entries, truncated = snapshot(tmp_path)
    assert len(entries) == TREE_ENTRIES
    assert truncated
