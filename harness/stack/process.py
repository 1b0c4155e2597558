"""The process engine: each service is a subprocess in a session of its own that dies with the harness.

Linux gives the parent-death signal; elsewhere leftovers are removed at the next start. The signal is tied to the thread that
forked, so all services must be started from a thread that lives as long as they should (the keeper's).
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from harness.errors import ServiceDied
from harness.limits import LOG_TAIL_LINES, SERVICE_STOP_S
from harness.stack.runs import RunFolder
from harness.stack.service import ServiceSpec

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR")
"""The only variables of the user's environment that services see: no credentials, no proxies."""


def _die_with_parent() -> None:
    # Runs between fork and exec: nothing but one prepared system call.
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _environment(spec: ServiceSpec) -> dict[str, str]:
    own = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    own |= {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONSAFEPATH": "1"}
    return own | ({"PYTHONPATH": str(spec.source)} if spec.source else {}) | dict(spec.environment)


def listening(log: str) -> str:
    """The address that the first line of a service's log tells; empty if that line is not there yet."""
    first, ended, _ = log.partition("\n")
    if not ended or not first.startswith("{"):
        return ""
    said = json.loads(first)
    return f"http://{said['host']}:{said['port']}"


@dataclass
class ProcessService:
    """One subprocess."""

    spec: ServiceSpec
    process: subprocess.Popen[bytes]
    log: Path
    address: str = ""
    announced: Callable[[str], str] = listening
    """The log so far → its address, once it can be used."""
    grace_s: float = SERVICE_STOP_S
    """From SIGTERM to SIGKILL."""
    told: int = 0
    """Bytes of its log that are those of an earlier start."""
    litter: tuple[Path, ...] = ()
    """Files outside the run's folder that it may leave behind."""

    def alive(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None

    def ready(self) -> bool:
        """Whether it has announced itself."""
        if not self.alive():
            raise ServiceDied(f"{self.spec.arm}/{self.spec.name}", self.process.returncode, self.tail(), self.log)
        self.address = self.announced(self._text())
        return bool(self.address)

    def _text(self) -> str:
        return self.log.read_bytes()[self.told :].decode("utf-8", "backslashreplace")

    def tail(self) -> str:
        """The last lines of its log."""
        return "\n".join(self._text().splitlines()[-LOG_TAIL_LINES:])

    def kill(self) -> None:
        """SIGKILL to the service alone, as when the machine's memory runs out."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """SIGTERM, then SIGKILL to whatever is left of its tree."""
        family = _family(self.process.pid)
        if self.alive():
            self.process.terminate()
            try:
                self.process.wait(self.grace_s)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()  # psutil knows a process by its start as well: never somebody else's of the same number
        for path in self.litter:
            path.unlink(missing_ok=True)


def _family(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def start(spec: ServiceSpec, run: RunFolder, logs: Path) -> ProcessService:
    """Start one of the Python services."""
    return launch(spec, [sys.executable, "-m", spec.module, *spec.arguments], run, logs)


def launch(spec: ServiceSpec, command: Sequence[str], run: RunFolder, logs: Path, litter: tuple[Path, ...] = ()) -> ProcessService:
    """Start a program as a service and note it in the run folder, so that a later run can end it if this one cannot."""
    log = logs / f"{spec.arm}-{spec.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        told = output.tell()
        process = subprocess.Popen(  # noqa: S603 -- our own programs and words
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=_environment(spec),
            cwd=run.path,
            start_new_session=True,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 -- see its comment
        )
    run.note(process.pid, f"{spec.arm}/{spec.name}", litter)
    return ProcessService(spec, process, log, told=told, litter=litter)
