"""The keeper: owns every service of a run. It lives in the pytest controller; xdist workers ask it through a socket.

It starts each arm once, on first use (the shared one, one per mutant, private ones), and knows which service died. All services are
started from one thread that lives as long as the keeper, because their parent-death signal is tied to it.
"""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from threading import Lock, Thread
from typing import Protocol

from harness.errors import LoudgateError, StackError
from harness.stack.assembly import SHARED, ArmServices, Assembly, Count
from harness.stack.runs import RunFolder
from harness.stack.service import Arm

Sources = Callable[[str, Path], Path]
"""(mutant id, empty folder) → folder with the mutated package."""


class Arms(Protocol):
    """Whoever can say where an arm is: the keeper itself, or a client of it."""

    def arm(self, name: str = SHARED, mutant: str | None = None) -> Arm:
        """The arm of that name, with that mutant in it; started on first use."""
        ...


@dataclass
class Keeper:
    """Owner of a run's services."""

    assembly: Assembly
    run: RunFolder
    source: Path
    mutated: Sources
    key: bytes = field(default_factory=lambda: secrets.token_bytes(24), repr=False)
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "keeper"))
    _arms: dict[str, Future[ArmServices]] = field(default_factory=dict)
    _asking: Lock = field(default_factory=Lock)
    _listener: Listener | None = None

    def arm(self, name: str = SHARED, mutant: str | None = None) -> Arm:
        """The arm, once it is ready; `ServiceDied` or `StackError` if it cannot be had."""
        return self.begin(name, mutant).result().arm

    def begin(self, name: str = SHARED, mutant: str | None = None) -> Future[ArmServices]:
        """Start an arm without waiting for it."""
        with self._asking:
            if name not in self._arms:
                self._arms[name] = self._thread.submit(self._start, name, mutant)
        return self._arms[name]

    def _start(self, name: str, mutant: str | None) -> ArmServices:
        source = self.source if mutant is None else self.mutated(mutant, self.run.path / "mutants" / name)
        return self.assembly.arm(name, source)

    def died(self) -> tuple[str, ...]:
        """Names of the services that ended by themselves."""
        return tuple(f"{one.spec.arm}/{one.spec.name}" for one in self.assembly.services() if not one.alive())

    def secrets(self) -> tuple[str, ...]:
        """Everything that must not reach a file."""
        started = [arm.result() for arm in self._arms.values() if arm.done() and arm.exception() is None]
        return tuple(dict.fromkeys(secret for one in started for secret in one.arm.secrets))

    def serve(self) -> str:
        """Answer other processes of this run; gives the socket's path."""
        path = str(self.run.path / "keeper.sock")
        self._listener = Listener(path, "AF_UNIX", authkey=self.key)
        Thread(target=self._accept, args=(self._listener,), name="keeper-socket", daemon=True).start()
        return path

    def _accept(self, listener: Listener) -> None:
        while True:
            try:
                connection = listener.accept()
            except OSError:
                return  # The listener was closed.
            Thread(target=self._answer, args=(connection,), name="keeper-client", daemon=True).start()

    def _answer(self, connection: Connection) -> None:
        with connection, contextlib.suppress(EOFError, OSError):
            while True:
                name, mutant = json.loads(connection.recv_bytes())
                reply: dict[str, object]
                try:
                    reply = {"arm": self.arm(name, mutant).model_dump(mode="json")}
                except LoudgateError as error:
                    reply = {"error": str(error)}
                connection.send_bytes(json.dumps(reply).encode())

    def close(self) -> tuple[int, Count]:
        """Stop everything and remove the run folder; gives what that had left behind: processes, and what the engine holds."""
        if self._listener is not None:
            self._listener.close()
        self._thread.shutdown(wait=True, cancel_futures=True)
        self.assembly.close()
        return self.run.remove(), self.assembly.leaks()


@dataclass
class KeeperClient:
    """The keeper as an xdist worker sees it."""

    path: str
    key: bytes = field(repr=False)
    _known: dict[str, Arm] = field(default_factory=dict)

    def arm(self, name: str = SHARED, mutant: str | None = None) -> Arm:
        """Ask once, remember the answer."""
        if name not in self._known:
            with Client(self.path, "AF_UNIX", authkey=self.key) as connection:
                connection.send_bytes(json.dumps([name, mutant]).encode())
                reply = json.loads(connection.recv_bytes())
            if "error" in reply:
                raise StackError(reply["error"])
            self._known[name] = Arm.model_validate(reply["arm"])
        return self._known[name]
