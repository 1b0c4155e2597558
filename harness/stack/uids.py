"""Uids for tools: a run of root's claims one that no account, no process and no other run has.

The claim is a lock in one place for the whole machine, whatever folder a run keeps its state in.
"""

from __future__ import annotations

import fcntl
import os
import pwd
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil

from harness.errors import EnvironmentMissing

RANGE = range(61184, 65500)
"""Above what distributions hand out and below `nobody`."""

PLACES = (Path("/run/lock"), Path("/var/tmp"))  # noqa: S108 -- a folder of root's is made in it
FOLDER = "loudgate-uids"


@dataclass
class Claim:
    """A uid, for as long as the lock is held."""

    number: int
    _lock: IO[str] = field(repr=False)

    def release(self) -> None:
        """Give it back. The file stays: removing it would let two runs lock two files of one name."""
        self._lock.close()


def _folder() -> Path:
    place = next((place for place in PLACES if place.is_dir()), None)
    if place is None:
        raise EnvironmentMissing("no folder for locks: neither /run/lock nor /var/tmp is there")
    folder = place / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise EnvironmentMissing(f"{folder} belongs to somebody else")
    return folder


def _lock(number: int) -> IO[str] | None:
    lock = (_folder() / str(number)).open("w", encoding="ascii")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def claim() -> Claim:
    """The first free uid; `EnvironmentMissing` if there is none."""
    running = {process.info["uids"].real for process in psutil.process_iter(["uids"]) if process.info["uids"]}
    accounts = {account.pw_uid for account in pwd.getpwall()}
    for number in RANGE:
        if number not in running and number not in accounts and (lock := _lock(number)) is not None:
            return Claim(number, lock)
    raise EnvironmentMissing("no unused uid for the tools is left")


def claimed(number: int) -> bool:
    """Whether a live run has it."""
    lock = _lock(number)
    if lock is not None:
        lock.close()
    return lock is None
