"""Which containers an arm consists of, and the observer: their commands, rights and volumes. Starts nothing.

The reference stack's flags and variables are those of `fixtures/hosted/README.md`.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from pathlib import Path

from harness.stack.assembly import OBSERVER, SHARED, Variant, upstreams
from harness.stack.docker_database import Database
from harness.stack.docker_files import CODE, FIFO, SHIM, WITNESS, WORKSPACES
from harness.stack.docker_objects import Objects
from harness.stack.docker_service import MIB, PORT, Confinement, DockerService, Placement
from harness.stack.docker_topology import INNER, OUTER, TOOLS, Topology
from harness.stack.service import Arm, ServiceSpec

WORKER_BYTES = 512 * MIB
"""Memory of the worker and all its tools together; a tool that takes more is ended by the kernel."""

WORKER_PROCESSES = 512
"""Processes and threads of the worker and all its tools together: eight commands at once take some 60."""

TOOL_PROCESSES = 384
"""Of the tools alone: the worker can still act when they have all of theirs."""

WORKER_UIDS = 200_000
"""Where the uids of workers begin: above what systems hand out. The kernel counts processes by uid across containers, so each
worker has one of its own."""

_UIDS = 1_000_000_000
_ON: dict[str, tuple[tuple[str, ...], int | None]] = {OBSERVER: ((OUTER, INNER, TOOLS), PORT), "worker": ((TOOLS,), None)}
"""Service → its networks and what it publishes, where it is not on the services' own network alone."""

Mounts = dict[str, tuple[str, str]]
_LISTEN = ("--listen", "0.0.0.0", "--port", str(PORT))  # noqa: S104 -- inside a container, on a network without a way out


@dataclass(frozen=True)
class Ground:
    """What every container of a run stands on."""

    topology: Topology
    python: str
    logs: Path
    code: str
    workspaces: str
    witness: str
    """Volumes: the observer's code, all workspaces, the shim and its FIFO."""


def _service(ground: Ground, spec: ServiceSpec, alias: str, volumes: Mounts, rights: Confinement) -> DockerService:
    command = ("python", "-m", spec.module, *spec.arguments)
    networks, publish = _ON.get(spec.name, ((INNER,), None))
    placement = Placement(ground.python, alias, command, volumes, rights, networks, publish)
    return DockerService(spec, placement, ground.topology, ground.logs / f"{spec.arm}-{spec.name}.log")


def observer(ground: Ground, control_token: str) -> DockerService:
    """The observer, not started yet."""
    arguments = (*_LISTEN, "--workspaces", WORKSPACES, "--processes", FIFO)
    spec = ServiceSpec(OBSERVER, SHARED, "harness.observer", arguments, {"LOUDGATE_CONTROL_TOKEN": control_token})
    volumes = {ground.code: (CODE, "ro"), ground.witness: (WITNESS, "ro"), ground.workspaces: (WORKSPACES, "ro")}
    # It reads workspaces that are open to the worker's uid alone. All that it mounts is read-only, and the narrower capability
    # (DAC_READ_SEARCH) would open a system call that reads files of the machine itself.
    return _service(ground, spec, OBSERVER, volumes, Confinement(user="0:0", capabilities=("DAC_OVERRIDE",)))


@dataclass(frozen=True)
class Shared:
    """The containers that all arms of a run share."""

    observer: DockerService
    database: Database
    objects: Objects
    control_token: str = field(repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Everything that must not reach a file."""
        return (self.control_token, *self.database.secrets, *self.objects.secrets)


@dataclass(frozen=True)
class ArmPlan:
    """One arm before it starts. `place` numbers the arms of a run: it keeps addresses short and apart."""

    ground: Ground
    name: str
    place: int
    differs: Variant
    tokens: dict[str, str] = field(repr=False)

    @property
    def uid(self) -> int:
        """The uid of this arm's worker and of its tools."""
        return WORKER_UIDS + zlib.crc32(f"{self.ground.topology.run_id}/{self.name}".encode()) % _UIDS

    def services(self, code: str, workspaces: str, shared: Shared) -> dict[str, DockerService]:
        """The four services, not started yet, by name."""
        database, relays = shared.database, f"{shared.observer.address}/r/-"
        objects = shared.objects.environment(shared.observer.address) if self.differs.objects else {}
        rights = {"worker": Confinement(user=f"{self.uid}:{self.uid}", memory_bytes=WORKER_BYTES, processes=WORKER_PROCESSES)}
        volumes: dict[str, Mounts] = {
            "worker": {workspaces: (f"{WORKSPACES}/{self.name}", "rw"), self.ground.witness: (WITNESS, "ro")}
        }

        def make(service: str, *arguments: str, **environment: str) -> DockerService:
            own = {"LOUDGATE_TOKEN": self.tokens[service], **environment}
            words = (*_LISTEN, *arguments, *self.differs.words.get(service, ()))
            spec = ServiceSpec(service, self.name, f"fixtures.hosted.{service}", words, own)
            mounts = {code: (CODE, "ro")} | volumes.get(service, {})
            return _service(self.ground, spec, f"{service}-{self.place}", mounts, rights.get(service, Confinement()))

        made = (
            make("store", LOUDGATE_DATABASE=database.for_services(self.name, "store"), **objects),
            make(
                "broker",
                *("--worker", f"{relays}/worker"),
                LOUDGATE_DATABASE=database.for_services(self.name, "broker"),
                LOUDGATE_WORKER_TOKEN=self.tokens["worker"],
            ),
            make(
                "worker",
                *("--workspaces", f"{WORKSPACES}/{self.name}", "--shell", SHIM, "--shell-report", FIFO),
                *("--tool-processes", str(TOOL_PROCESSES), "--store", f"{relays}/publications"),
                *("--web", f"{shared.observer.address}/web"),
                **objects,
            ),
            make("host", LOUDGATE_BROKER_TOKEN=self.tokens["broker"], LOUDGATE_STORE_TOKEN=self.tokens["store"]),
        )
        return {service.spec.name: service for service in made}

    def arm(self, made: dict[str, DockerService], shared: Shared) -> Arm:
        """The arm as the test process sees it, once everything is started."""
        return Arm(
            name=self.name,
            workspaces=self.name,
            engine="docker",
            store=shared.database.kind.name,
            objects=shared.objects.name,
            observer=f"http://127.0.0.1:{shared.observer.published()}",
            relays=shared.observer.address,
            upstreams=upstreams({name: service.address for name, service in made.items()}, shared.objects.address),
            sql=shared.database.for_reading(self.name),
            control_token=shared.control_token,
            tokens=self.tokens,
            secrets=(*shared.secrets, *self.tokens.values()),
        )
