"""The keeper: owns every service of a run. It lives in the pytest controller; xdist workers ask it through a socket.

It starts each arm once, on first use (the shared one, one per mutant, private ones), and knows which service died. All services are
started from threads that live as long as the keeper, because their parent-death signal is tied to the thread.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Protocol

from harness.errors import LoudgateError, StackError
from harness.stack.assembly import EDGES_BEHIND, SHARED, ArmServices, Assembly, Count, Graft
from harness.stack.runs import RunFolder
from harness.stack.service import Arm

Sources = Callable[[str, Path], Path]
"""(mutant id, empty folder) → folder with the mutated package."""


@dataclass(frozen=True)
class Wanted:
    """Which arm: by its name, with a mutant in it, different from the shared one (`variant`), or with its own `service` alone."""

    name: str = SHARED
    mutant: str = ""
    variant: str = ""
    service: str = ""


SHARED_ARM = Wanted()


class Arms(Protocol):
    """Whoever can say where an arm is: the keeper itself, or a client of it."""

    def arm(self, wanted: Wanted = SHARED_ARM) -> Arm:
        """The arm; started on first use."""
        ...

    def died(self) -> tuple[str, ...]:
        """Names of the services that ended by themselves."""
        ...

    def restart(self, name: str, service: str) -> None:
        """End an arm's own service as kill -9 does, and start it again at the same address; `StackError` if it has none."""
        ...

    def drop(self, name: str) -> None:
        """Stop an arm that nobody needs any more, and remove what it held."""
        ...


@dataclass
class Keeper:
    """Owner of a run's services."""

    assembly: Assembly
    run: RunFolder
    source: Path
    mutated: Sources
    key: bytes = field(default_factory=lambda: secrets.token_bytes(24), repr=False)
    _threads: ThreadPoolExecutor = field(init=False)
    _arms: dict[str, Future[ArmServices]] = field(default_factory=dict)
    _lost: tuple[str, ...] = ()
    _asking: Lock = field(default_factory=Lock)
    _listener: Listener | None = None

    def __post_init__(self) -> None:
        self._threads = ThreadPoolExecutor(self.assembly.starters, "keeper")

    def arm(self, wanted: Wanted = SHARED_ARM) -> Arm:
        """The arm, once it is ready; `ServiceDied` or `StackError` if it cannot be had, or was seen to have lost a service."""
        parts = (f"{wanted.name}/", f"{SHARED}/") if wanted.service else (f"{wanted.name}/",)
        if lost := [one for one in self._lost if one.startswith(parts) or one.partition("/")[2] not in EDGES_BEHIND]:
            raise StackError(f"{lost[0]} has died")
        if engine := self.assembly.lost():
            raise StackError(engine)
        # Waited for here: a thread that starts arms must not wait for another one of them.
        graft = Graft(self.begin().result().arm, wanted.service) if wanted.service else None
        return self.begin(wanted, graft).result().arm

    def begin(self, wanted: Wanted = SHARED_ARM, graft: Graft | None = None) -> Future[ArmServices]:
        """Start an arm without waiting for it."""
        with self._asking:
            if wanted.name not in self._arms:
                self._arms[wanted.name] = self._threads.submit(self._start, wanted, graft)
        return self._arms[wanted.name]

    def _start(self, wanted: Wanted, graft: Graft | None) -> ArmServices:
        if not wanted.mutant:
            return self.assembly.arm(wanted.name, self.source, wanted.variant, graft)
        source = self.mutated(wanted.mutant, self.run.path / "mutants" / wanted.name)
        made = self.assembly.arm(wanted.name, source, wanted.variant, graft)
        return replace(made, arm=made.arm.model_copy(update={"mutated": True}))

    def restart(self, name: str, service: str) -> None:
        """See `Arms`. Only on an arm that one case has to itself."""
        arm = self._arms.get(name)
        own = {one.spec.name for one in arm.result().services} if arm is not None and name != SHARED else set()
        if service not in own:
            raise StackError(f"{name} has no {service} of its own that could be killed")
        self._threads.submit(self.assembly.restart, name, service).result()

    def drop(self, name: str) -> None:
        """Stop an arm and forget it, once it has started."""
        with self._asking:
            arm = self._arms.pop(name, None)
        if arm is None:
            return
        with contextlib.suppress(LoudgateError):
            arm.result()
        self.assembly.drop(name)
        shutil.rmtree(self.run.path / "mutants" / name, ignore_errors=True)

    def died(self) -> tuple[str, ...]:
        """Names of the services that ended by themselves."""
        found = [f"{one.spec.arm}/{one.spec.name}" for one in self.assembly.services() if not one.alive()]
        self._lost = tuple(dict.fromkeys((*self._lost, *found)))
        return self._lost

    def _ready(self) -> list[Arm]:
        started = [arm for arm in self._arms.values() if arm.done() and not arm.cancelled() and arm.exception() is None]
        return [arm.result().arm for arm in started]

    def objects(self) -> str:
        """What the object store of this run is; empty before the first arm is ready."""
        return next((arm.objects for arm in self._ready()), "")

    def secrets(self) -> tuple[str, ...]:
        """Everything that must not reach a file."""
        return tuple(dict.fromkeys(secret for arm in self._ready() for secret in arm.secrets))

    def serve(self) -> str:
        """Answer other processes of this run; gives host:port. The key that both sides must prove to have never crosses it."""
        self._listener = Listener(("127.0.0.1", 0), authkey=self.key)
        Thread(target=self._accept, args=(self._listener,), name="keeper-socket", daemon=True).start()
        host, port = self._listener.address
        return f"{host}:{port}"

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
                question = json.loads(connection.recv_bytes())
                connection.send_bytes(json.dumps(self._reply(question)).encode())

    def _reply(self, question: dict[str, Any]) -> dict[str, object]:
        try:
            match question["ask"]:
                case "died":
                    return {"died": self.died()}
                case "restart":
                    self.restart(question["name"], question["service"])
                    return {}
                case "drop":
                    self.drop(question["name"])
                    return {}
                case _:
                    return {"arm": self.arm(Wanted(**question["wanted"])).model_dump(mode="json")}
        except LoudgateError as error:
            return {"error": str(error.args[0])}
        except Exception as error:  # a question must not go unanswered: whoever asked would take it for the end of the run
            return {"error": f"the keeper failed: {type(error).__name__}"}

    def close(self) -> tuple[int, Count]:
        """Stop everything and remove the run folder; gives what that had left behind: processes, and what the engine holds."""
        if self._listener is not None:
            self._listener.close()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.assembly.close()
        return self.run.remove(), self.assembly.leaks()


@dataclass
class KeeperClient:
    """The keeper as an xdist worker sees it."""

    address: str
    key: bytes = field(repr=False)
    _line: Connection | None = field(default=None, repr=False)
    """Kept open: each new connection pays for the proof of the key, some 40 ms, once a case."""

    def arm(self, wanted: Wanted = SHARED_ARM) -> Arm:
        """Ask the keeper; `StackError` with its words if the arm cannot be had."""
        reply = self._ask(ask="arm", wanted=asdict(wanted))
        return Arm.model_validate(reply["arm"])

    def died(self) -> tuple[str, ...]:
        """Names of the services that ended by themselves."""
        return tuple(self._ask(ask="died")["died"])

    def restart(self, name: str, service: str) -> None:
        """Ask the keeper to kill a service and to start it again."""
        self._ask(ask="restart", name=name, service=service)

    def drop(self, name: str) -> None:
        """Ask the keeper to stop an arm."""
        self._ask(ask="drop", name=name)

    def _ask(self, **question: Any) -> dict[str, Any]:
        try:
            if self._line is None:
                host, _, port = self.address.rpartition(":")
                self._line = Client((host, int(port)), authkey=self.key)
            self._line.send_bytes(json.dumps(question).encode())
            reply = dict(json.loads(self._line.recv_bytes()))
        except (OSError, EOFError) as error:
            raise StackError(f"the keeper of this run does not answer: {type(error).__name__}") from error
        if "error" in reply:
            raise StackError(str(reply["error"]))
        return reply
