"""Run folders: one per live run, with a lock that dies with its owner, and what is needed to clean up after a dead one."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import IO

import psutil

from harness.clock import utc_now
from harness.errors import UsageError
from harness.limits import RUN_FOLDER_MODE
from harness.settings import state_root
from harness.stack import uids


@dataclass
class RunFolder:
    """The folder of a live run. `path` holds databases, workspaces, the FIFO and the mutated copies."""

    path: Path
    uid: uids.Claim | None
    _lock: IO[str] = field(repr=False)
    _noted: list[dict[str, object]] = field(default_factory=list, repr=False)
    _noting: Lock = field(default_factory=Lock, repr=False)
    """Several arms start at one time, and the note is one file."""

    @property
    def tool_uid(self) -> int | None:
        """The uid that tools run under; None where the harness is not root."""
        return self.uid.number if self.uid else None

    def note(self, pid: int, name: str, litter: Sequence[Path] = ()) -> None:
        """Write down a started process, with its start time (a pid alone may be somebody else's later) and the files outside this
        folder that it would leave behind.
        """
        files = [str(path) for path in litter]
        with self._noting:
            with contextlib.suppress(psutil.NoSuchProcess):
                self._noted.append({"pid": pid, "name": name, "started": psutil.Process(pid).create_time(), "litter": files})
            partial = self.path / "processes.partial"
            partial.write_text(json.dumps(self._noted), encoding="ascii")
            partial.replace(self.path / "processes.json")

    def remove(self) -> int:
        """End what stopping the services has left, delete the folder, give the lock back. Gives the number of leaked processes."""
        leaked = strays(self.path, self.tool_uid)
        for process in leaked:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        shutil.rmtree(self.path, ignore_errors=True)
        if self.uid is not None:
            self.uid.release()
        self._lock.close()
        return len(leaked)


@dataclass(frozen=True)
class Leftover:
    """What a dead run left behind and is gone now."""

    run: str
    processes: int


def _prepare_root() -> Path:
    root = state_root()
    try:
        root.mkdir(mode=RUN_FOLDER_MODE, parents=True, exist_ok=True)
        root.chmod(RUN_FOLDER_MODE)
    except OSError as error:
        raise UsageError(f"{root}: cannot be used for run folders: {error.strerror}") from error
    return root


@contextlib.contextmanager
def _alone() -> Iterator[Path]:
    """One at a time makes or removes folders: a folder without its lock yet must not be taken for a dead one."""
    root = _prepare_root()
    with (root / ".lock").open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield root


def open_run(run_id: str) -> RunFolder:
    """Make and lock the folder of a new run."""
    with _alone() as root:
        path = root / run_id
        path.mkdir(mode=RUN_FOLDER_MODE)
        path.chmod(RUN_FOLDER_MODE)
        lock = (path / "lock").open("w", encoding="ascii")
        fcntl.flock(lock, fcntl.LOCK_EX)
        uid = uids.claim() if os.getuid() == 0 else None
        owner = {"pid": os.getpid(), "started_at": utc_now(), "tool_uid": uid.number if uid else None}
        (path / "owner.json").write_text(json.dumps(owner), encoding="ascii")
        return RunFolder(path, uid, lock)


def live() -> tuple[tuple[str, int], ...]:
    """(run id, owner's pid) of every run whose owner lives."""
    folders = sorted(state_root().glob("*/owner.json"))
    return tuple((path.parent.name, json.loads(path.read_text("ascii"))["pid"]) for path in folders if _locked(path.parent))


def _locked(path: Path) -> bool:
    try:
        with (path / "lock").open("r", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def dead() -> tuple[Path, ...]:
    """Folders of runs whose lock is free."""
    root = state_root()
    return tuple(path for path in sorted(root.iterdir()) if path.is_dir() and not _locked(path)) if root.is_dir() else ()


def reap() -> tuple[Leftover, ...]:
    """End the processes of dead runs and remove their folders."""
    with _alone():
        return tuple(_reap(path) for path in dead())


def _reap(path: Path) -> Leftover:
    killed = 0
    for process in _survivors(path):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
            killed += 1
    for file in _litter(path):
        file.unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)
    return Leftover(path.name, killed)


def _litter(path: Path) -> tuple[Path, ...]:
    with contextlib.suppress(OSError, ValueError):
        noted = json.loads((path / "processes.json").read_text(encoding="ascii"))
        return tuple(Path(file) for one in noted for file in one.get("litter", ()))
    return ()


def _survivors(path: Path) -> Iterator[psutil.Process]:
    with contextlib.suppress(OSError, ValueError):
        for noted in json.loads((path / "processes.json").read_text(encoding="ascii")):
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(noted["pid"])
                if process.create_time() == noted["started"]:
                    yield from process.children(recursive=True)
                    yield process
    with contextlib.suppress(OSError, ValueError):
        uid = json.loads((path / "owner.json").read_text(encoding="ascii"))["tool_uid"]
        # The uid may be another run's by now.
        yield from strays(path, None if uid is None or uids.claimed(uid) else uid)


def strays(path: Path, tool_uid: int | None) -> tuple[psutil.Process, ...]:
    """Processes of a run that no service has for a child any more: those of its tools' uid, and those that stand in its folder."""
    found = []
    for process in psutil.process_iter(["uids", "cwd"]):
        uids, where = process.info["uids"], process.info["cwd"] or ""
        if (tool_uid is not None and uids and uids.real == tool_uid) or Path(where).is_relative_to(path):
            found.append(process)
    return tuple(found)
