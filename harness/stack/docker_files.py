"""What enters containers, as archives: code, the shell shim, the process FIFO, folders with their owners. Pure but for reading.

Owners and modes are in the archive, so no container needs a start-up script that runs with more rights than its service.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

from harness.settings import SUBJECT_PACKAGE
from harness.witness.processes import FIFO_MODE, shim_text

CODE, WORKSPACES, WITNESS = "/code", "/workspaces", "/witness"
"""Mount points; the same in every container, so that a path means the same to the worker and to the observer."""

FIFO, SHIM = f"{WITNESS}/processes.fifo", f"{WITNESS}/shim"
LEFT_OUT = frozenset({"__pycache__", "selftest", "histories", "images"})
"""Folders that no service imports."""


class Archive:
    """A tar archive to be unpacked at the root of a container."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._tar = tarfile.open(fileobj=self._buffer, mode="w")  # noqa: SIM115 -- closed by finish

    def _add(self, path: str, mode: int, *, kind: bytes = tarfile.REGTYPE, uid: int = 0, content: bytes = b"") -> None:
        entry = tarfile.TarInfo(path.lstrip("/"))
        entry.mode, entry.type, entry.uid, entry.gid, entry.size = mode, kind, uid, uid, len(content)
        self._tar.addfile(entry, io.BytesIO(content))

    def folder(self, path: str, mode: int, *, uid: int = 0) -> None:
        """A folder, or the owner and mode of one that is there."""
        self._add(path, mode, kind=tarfile.DIRTYPE, uid=uid)

    def file(self, path: str, content: bytes, mode: int = 0o644) -> None:
        """A file of root's."""
        self._add(path, mode, content=content)

    def fifo(self, path: str, mode: int) -> None:
        """A FIFO of root's."""
        self._add(path, mode, kind=tarfile.FIFOTYPE)

    def code(self, source: Path, package: str) -> None:
        """The Python files of a package below `source`."""
        self.folder(CODE, 0o755)
        for path in _python_files(source / package):
            self.file(f"{CODE}/{path.relative_to(source).as_posix()}", path.read_bytes())

    def finish(self) -> bytes:
        """The archive."""
        self._tar.close()
        return self._buffer.getvalue()


def _python_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in LEFT_OUT:
            yield from _python_files(path)
        elif path.suffix == ".py":
            yield path


def observer_files(harness: Path) -> bytes:
    """The harness's own code, and the two files by which the worker's shell reports to the observer."""
    archive = Archive()
    archive.code(harness, "harness")
    archive.folder(WITNESS, 0o755)
    archive.fifo(FIFO, FIFO_MODE)
    archive.file(SHIM, shim_text(FIFO).encode(), 0o755)
    archive.folder(WORKSPACES, 0o755)
    return archive.finish()


def arm_files(arm: str, source: Path, worker_uid: int) -> bytes:
    """The code of one arm, mutated or not, and the folder of its workspaces."""
    archive = Archive()
    archive.code(source, SUBJECT_PACKAGE)
    archive.folder(WORKSPACES, 0o755)
    archive.folder(f"{WORKSPACES}/{arm}", 0o711, uid=worker_uid)
    return archive.finish()
