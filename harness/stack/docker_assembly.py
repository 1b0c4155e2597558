"""The containerised stack of a run: database and observer once, and per arm a store, a broker, a worker and a host.

Everything that does not wait for something else starts at once. Leaves out how one container is run (`docker_service`).
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from harness.clock import wait_until
from harness.errors import LoudgateError, StackError
from harness.limits import SERVICE_READY_S
from harness.settings import CHECKOUT
from harness.stack import docker_build, images
from harness.stack.assembly import OBSERVER, SHARED, ArmServices
from harness.stack.assembly import _EDGE_BEHIND as EDGE_BEHIND
from harness.stack.docker_door import Door, connect
from harness.stack.docker_files import CODE, FIFO, SHIM, WITNESS, WORKSPACES, arm_files, observer_files
from harness.stack.docker_postgres import Postgres, postgres
from harness.stack.docker_service import MIB, PORT, Confinement, DockerService, Placement
from harness.stack.docker_topology import RUN_LABEL, Count, Topology, find, reap, remove
from harness.stack.runs import RunFolder
from harness.stack.service import Arm, Running, ServiceSpec

STARTERS = 8
"""Containers that start at one time; an arm has four."""

LOOK_S = 0.05
"""Between two looks at a container's log: each costs the engine some 5 ms."""

WORKER_BYTES = 1024 * MIB
"""Memory of the worker and all its tools together; a tool that takes more is ended by the kernel."""

WORKER_PROCESSES = 512
"""Processes of the worker and all its tools together."""

WORKER_UIDS = 200_000
"""Where the uids of workers begin: above what systems hand out. The kernel counts processes by uid across containers, so each
worker has one of its own."""


def _worker_uid(run_id: str, arm: str) -> int:
    return WORKER_UIDS + zlib.crc32(f"{run_id}/{arm}".encode()) % 1_000_000_000


@dataclass
class Base:
    """What all arms of a run share."""

    topology: Topology
    python: str
    database: Postgres
    observer: DockerService
    token: str = field(repr=False)
    workspaces: str = ""
    witness: str = ""


@dataclass
class DockerAssembly:
    """The containers of one run. `arm` starts what is needed; `close` removes everything."""

    run: RunFolder
    logs: Path
    say: Callable[[str], None] = lambda _line: None
    name: str = "docker"
    door: Door = field(default_factory=connect)
    _services: list[DockerService] = field(default_factory=list)
    _base: Base | None = None
    _tags: dict[str, str] = field(default_factory=dict)
    _images: dict[str, str] = field(default_factory=dict)
    _problems: list[str] = field(default_factory=list)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(STARTERS, "docker"))

    def __post_init__(self) -> None:
        for run_id in reap(self.door):
            self.say(f"removed the containers that run {run_id} left behind")

    @property
    def run_id(self) -> str:
        """The id that labels everything."""
        return self.run.path.name

    def services(self) -> tuple[Running, ...]:
        """Everything that runs, or should."""
        return tuple(self._services)

    def images(self) -> dict[str, str]:
        """Image → its id, of the images in use."""
        return dict(self._images)

    def problems(self) -> tuple[str, ...]:
        """What went wrong with the engine itself, one line each: a run with any of them is incomplete."""
        return tuple(dict.fromkeys(self._problems + (["Docker stopped answering during the run"] if self.door.lost else [])))

    def arm(self, name: str, source: Path) -> ArmServices:
        """Start an arm (and at first what all arms share) and wait until everything in it is ready."""
        base = self._base = self._base or self._start_base()
        uid = _worker_uid(self.run_id, name)
        database = self._pool.submit(self._create_databases, base, name)
        code = base.topology.volume(f"code-{name}")
        base.topology.fill(
            base.python, name, {code: CODE, base.workspaces: WORKSPACES}, arm_files(name, source, uid)
        )
        own = base.topology.part(f"workspaces-{name}", base.workspaces, name)
        tokens = {service: secrets.token_urlsafe(24) for service in EDGE_BEHIND}
        made = self._arm_services(base, name, code, own, tokens, uid)
        starts = [self._pool.submit(made[service].start) for service in ("worker", "host")]
        database.result()
        starts += [self._pool.submit(made[service].start) for service in ("store", "broker")]
        self._wait([base.observer, *made.values()], starts)
        return ArmServices(self._arm(base, name, made, tokens), tuple(made.values()))

    def _start_base(self) -> Base:
        self._tags = docker_build.build(self.door, self.say)
        self._images = docker_build.identities(self.door, self._tags)
        topology = Topology(self.door, self.run_id)
        networks = [self._pool.submit(topology.network, network) for network in (topology.inner, topology.outer)]
        volumes = list(self._pool.map(topology.volume, ("workspaces", "witness", "code-observer")))
        for network in networks:
            network.result()
        workspaces, witness, code = volumes
        database = postgres(self._tags[images.POSTGRES], topology, self.logs, SHARED)
        token = secrets.token_urlsafe(24)
        observer = self._observer(topology, token, {code: (CODE, "ro"), witness: (WITNESS, "ro"), workspaces: (WORKSPACES, "ro")})
        self._services += [database.service, observer]
        started = self._pool.submit(database.service.start)
        topology.fill(self._tags[images.PYTHON], OBSERVER, {code: CODE, witness: WITNESS, workspaces: WORKSPACES}, observer_files(CHECKOUT))
        observer.start()
        started.result()
        return Base(topology, self._tags[images.PYTHON], database, observer, token, workspaces, witness)

    def _create_databases(self, base: Base, arm: str) -> None:
        self._wait([base.database.service], [])
        base.database.create(arm)

    def _wait(self, services: Sequence[DockerService], starts: Sequence[Future[DockerService]]) -> None:
        for start in starts:
            start.result()
        for service in services:
            wait_until(service.ready, SERVICE_READY_S, f"start of {service.name}", every=LOOK_S)

    def _observer(self, topology: Topology, token: str, volumes: dict[str, tuple[str, str]]) -> DockerService:
        arguments = ("--listen", "0.0.0.0", "--port", str(PORT), "--workspaces", WORKSPACES, "--processes", FIFO)  # noqa: S104 -- in a container
        spec = ServiceSpec(OBSERVER, SHARED, "harness.observer", arguments, {"LOUDGATE_CONTROL_TOKEN": token})
        # It reads workspaces that are open to the worker's uid alone. All it mounts is read-only, and the narrower capability
        # (DAC_READ_SEARCH) would open a system call that reads files of the machine itself.
        confinement = Confinement(user="0:0", capabilities=("DAC_OVERRIDE",))
        placement = Placement(self._tags[images.PYTHON], OBSERVER, _command(spec), volumes, confinement, publish=PORT)
        return DockerService(spec, placement, topology, self.logs / f"{SHARED}-{OBSERVER}.log")

    def _arm_services(
        self, base: Base, arm: str, code: str, workspaces: str, tokens: dict[str, str], uid: int
    ) -> dict[str, DockerService]:
        place = sum(1 for service in self._services if service.spec.name == "worker")
        listen = ("--listen", "0.0.0.0", "--port", str(PORT))  # noqa: S104 -- inside a container, on a network without a way out
        worker = Confinement(user=f"{uid}:{uid}", memory_bytes=WORKER_BYTES, processes=WORKER_PROCESSES)

        def make(service: str, *arguments: str, **environment: str) -> DockerService:
            own = {"LOUDGATE_TOKEN": tokens[service], **environment}
            spec = ServiceSpec(service, arm, f"fixtures.hosted.{service}", (*listen, *arguments), own)
            volumes = {code: (CODE, "ro")}
            if service == "worker":
                volumes |= {workspaces: (f"{WORKSPACES}/{arm}", "rw"), base.witness: (WITNESS, "ro")}
            confinement = worker if service == "worker" else Confinement()
            placement = Placement(base.python, f"{service}-{place}", _command(spec), volumes, confinement)
            return DockerService(spec, placement, base.topology, self.logs / f"{arm}-{service}.log")

        made = {
            "store": make("store", LOUDGATE_DATABASE=base.database.for_services(arm, "store")),
            "broker": make(
                "broker",
                *("--worker", f"{base.observer.address}/r/-/worker"),
                LOUDGATE_DATABASE=base.database.for_services(arm, "broker"),
                LOUDGATE_WORKER_TOKEN=tokens["worker"],
            ),
            "worker": make("worker", "--workspaces", f"{WORKSPACES}/{arm}", "--shell", SHIM),
            "host": make("host", LOUDGATE_BROKER_TOKEN=tokens["broker"], LOUDGATE_STORE_TOKEN=tokens["store"]),
        }
        self._services += made.values()
        return made

    def _arm(self, base: Base, name: str, made: dict[str, DockerService], tokens: dict[str, str]) -> Arm:
        return Arm(
            name=name,
            engine=self.name,
            store="postgres",
            observer=f"http://127.0.0.1:{base.observer.published()}",
            relays=base.observer.address,
            upstreams={EDGE_BEHIND[service]: running.address for service, running in made.items()},
            sql=base.database.for_reading(name),
            control_token=base.token,
            host_token=tokens["host"],
            secrets=(base.token, base.database.owner_password, base.database.reader_password, *tokens.values()),
        )

    def close(self) -> None:
        """Stop everything, keep the logs, remove whatever carries the run's label. Never raises: see `problems` and `leaks`."""
        for problem in self._pool.map(_stopped, self._services):
            self._problems += [problem] if problem else []
        self._pool.shutdown(wait=True, cancel_futures=True)
        try:
            self._problems += remove(self.door, find(self.door, f"{RUN_LABEL}={self.run_id}"))
        except LoudgateError as error:
            self._problems.append(str(error))

    def leaks(self) -> Count:
        """What still carries the run's label. If the engine does not answer: what was not seen to go."""
        try:
            return find(self.door, f"{RUN_LABEL}={self.run_id}").count()
        except StackError as error:
            self._problems.append(str(error))
            return Count(len(self._services), 2 if self._base else 0, 0)


def _command(spec: ServiceSpec) -> tuple[str, ...]:
    return ("python", "-m", spec.module, *spec.arguments)


def _stopped(service: DockerService) -> str:
    try:
        service.stop()
    except LoudgateError as error:
        return str(error)
    return ""
