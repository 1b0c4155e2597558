"""The embedded stack of a run: one observer, and per arm a store, a broker, a worker and a host, as subprocesses on loopback.

The services of an arm need no address of each other: every edge goes through the observer's relays, and a case names the services
behind them when it registers. So all of them start at once.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from harness.clock import wait_until
from harness.limits import RUN_FOLDER_MODE, SERVICE_READY_S
from harness.seeds import token
from harness.stack.assembly import OBSERVER, SHARED, VARIANTS, ArmServices, Count, Graft, fresh_tokens, upstreams
from harness.stack.process import ProcessService, start
from harness.stack.process_objects import Objects, start_objects
from harness.stack.runs import RunFolder
from harness.stack.service import Arm, Running, ServiceSpec
from harness.witness.processes import make_fifo, shim_text

STORE = "sqlite"
SHIM_MODE = stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH


@dataclass(frozen=True)
class Base:
    """What all arms of a run share."""

    observer: ProcessService
    token: str = field(repr=False)
    workspaces: Path
    shim: Path
    fifo: Path
    objects: Objects


@dataclass
class ProcessAssembly:
    """The subprocesses of one run. `arm` starts what is needed; `close` stops everything."""

    run: RunFolder
    logs: Path
    name: str = "process"
    starters: int = 3
    _services: list[ProcessService] = field(default_factory=list)
    _base: Base | None = None
    _starting: Lock = field(default_factory=Lock)

    def services(self) -> tuple[Running, ...]:
        """Everything that runs, or should."""
        return tuple(self._services)

    def images(self) -> dict[str, str]:
        """None: the embedded stack has no images."""
        return {}

    def problems(self) -> tuple[str, ...]:
        """None: there is no engine that could fail by itself."""
        return ()

    def lost(self) -> str:
        """Never: see `problems`."""
        return ""

    def leaks(self) -> Count:
        """None of what only an engine has."""
        return Count()

    def arm(self, name: str, source: Path, variant: str = "", graft: Graft | None = None) -> ArmServices:
        """Start the services of an arm (and at first the observer) and wait until all are ready."""
        with self._starting:
            base = self._base = self._base or self._start_base()
        data, workspaces = self.run.path / "arms" / name, base.workspaces / name
        data.mkdir(mode=0o700, parents=True)
        workspaces.mkdir(mode=RUN_FOLDER_MODE)
        workspaces.chmod(RUN_FOLDER_MODE)
        _wait([base.observer])
        tokens = graft.arm.tokens if graft else fresh_tokens()
        differs = VARIANTS[variant]
        arguments, known = self._arguments(base, data, workspaces), _known_tokens(tokens)
        for service in ("worker", "store") if differs.objects else ():
            known[service] |= base.objects.through(base.observer.address)
        arguments = {one: (*words, *differs.words.get(one, ())) for one, words in arguments.items()}
        services = {
            one: self._start(ServiceSpec(one, name, f"fixtures.hosted.{one}", words, known[one], source))
            for one, words in arguments.items()
            if graft is None or one == graft.service
        }
        _wait(list(services.values()))
        base.objects.wait()
        arm = Arm(
            name=name,
            workspaces=name,
            engine=self.name,
            store=STORE,
            objects=base.objects.name,
            observer=base.observer.address,
            relays=base.observer.address,
            upstreams=upstreams({one: running.address for one, running in services.items()}, base.objects.address),
            sql={database: f"sqlite:///file:{data}/{database}.db?mode=ro&uri=true" for database in ("store", "broker")},
            control_token=base.token,
            tokens=tokens,
            secrets=(base.token, *base.objects.secrets, *tokens.values()),
        )
        return ArmServices(graft.on(arm) if graft else arm, tuple(services.values()))

    def restart(self, name: str, service: str) -> None:
        """The same program and words, at the port that it had: whoever knows its address still does."""
        killed = next(one for one in self._services if (one.spec.arm, one.spec.name) == (name, service))
        self._services.remove(killed)  # before it ends: nobody may think that it died by itself
        killed.kill()
        port = killed.address.rpartition(":")[2]
        _wait([self._start(replace(killed.spec, arguments=(*killed.spec.arguments, "--port", port)))])

    def drop(self, name: str) -> None:
        """Stop the arm's services and remove its folders."""
        dropped = [one for one in self._services if one.spec.arm == name]
        for service in dropped:
            self._services.remove(service)  # first: what is stopped has not died
        for service in dropped:
            service.grace_s = 0.0  # what it holds is removed with it
            service.stop()
        for folder in ("arms", "workspaces"):
            shutil.rmtree(self.run.path / folder / name, ignore_errors=True)

    def _arguments(self, base: Base, data: Path, workspaces: Path) -> dict[str, tuple[str, ...]]:
        uid = () if self.run.tool_uid is None else ("--tool-uid", str(self.run.tool_uid))
        relay, publications = f"{base.observer.address}/r/-/worker", f"{base.observer.address}/r/-/publications"
        return {
            "store": ("--database", f"sqlite:///{data}/store.db"),
            "broker": ("--database", f"sqlite:///{data}/broker.db", "--worker", relay),
            "worker": (
                "--workspaces",
                str(workspaces),
                "--shell",
                str(base.shim),
                "--shell-report",
                str(base.fifo),
                *("--store", publications, "--web", f"{base.observer.address}/web"),
                *uid,
            ),
            "host": (),
        }

    def _start(self, spec: ServiceSpec) -> ProcessService:
        service = start(spec, self.run, self.logs)
        self._services.append(service)
        return service

    def _start_base(self) -> Base:
        workspaces, shim, fifo = (self.run.path / name for name in ("workspaces", "shim", "processes.fifo"))
        workspaces.mkdir(mode=RUN_FOLDER_MODE)
        make_fifo(fifo)
        shim.write_text(shim_text(str(fifo)), encoding="ascii")
        shim.chmod(SHIM_MODE)
        control = token()
        spec = ServiceSpec(
            name=OBSERVER,
            arm=SHARED,
            module="harness.observer",
            arguments=("--workspaces", str(workspaces), "--processes", str(fifo)),
            environment={"LOUDGATE_CONTROL_TOKEN": control},
        )
        objects = start_objects(self.run, self.logs)
        self._services += filter(None, [objects.service])
        return Base(self._start(spec), control, workspaces, shim, fifo, objects)

    def close(self) -> None:
        """Stop all, newest first."""
        while self._services:
            self._services.pop().stop()


def _wait(services: Sequence[ProcessService]) -> None:
    for service in services:
        wait_until(service.ready, SERVICE_READY_S, f"start of {service.spec.arm}/{service.spec.name}")


def _known_tokens(tokens: dict[str, str]) -> dict[str, dict[str, str]]:
    """Service → the tokens it knows: its own, and those of the services that it calls."""
    others = {
        "broker": {"LOUDGATE_WORKER_TOKEN": tokens["worker"]},
        "host": {"LOUDGATE_BROKER_TOKEN": tokens["broker"], "LOUDGATE_STORE_TOKEN": tokens["store"]},
    }
    return {service: {"LOUDGATE_TOKEN": own, **others.get(service, {})} for service, own in tokens.items()}
