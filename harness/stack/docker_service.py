"""One service in a container: how it is confined, started, watched and stopped. testcontainers does the life cycle.

Leaves out which services there are (`docker_assembly`).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docker.types import LogConfig
from testcontainers.core.container import DockerContainer
from testcontainers.core.exceptions import ContainerStartException

from harness.errors import ServiceDied, StackError
from harness.limits import LOG_TAIL_LINES
from harness.stack.docker_door import SILENCE_S, Door
from harness.stack.docker_topology import INNER, Topology, labels
from harness.stack.service import ServiceSpec

PORT = 8080
"""Every HTTP service listens here: each has an address of its own."""

MIB = 1024 * 1024
MEMORY_BYTES = 512 * MIB
"""A service takes 60 MiB; one that wants more than this is broken, and must not take the machine with it."""

PROCESSES = 128
"""A service is one process with a few threads."""

TMP_BYTES = 64 * MIB
"""The temporary folder of a container: a tmpfs, since its root is read-only."""

LOOK_S = 5.0
"""A look takes 5 ms; an engine that needs longer than this has stopped answering, and the run must not wait for it."""

STOP_S = 3
"""From SIGTERM to SIGKILL: services promise to stop within a second."""

LOG_LIMIT = "32m"
"""Largest log that the engine keeps of one container."""


@dataclass(frozen=True)
class Confinement:
    """What a container may do. The default is what a service needs: no capability, no file to write but /tmp."""

    user: str = "10001:10001"
    capabilities: tuple[str, ...] = ()
    read_only: bool = True
    memory_bytes: int = MEMORY_BYTES
    processes: int = PROCESSES
    tmpfs: Mapping[str, str] = field(default_factory=lambda: {"/tmp": f"size={TMP_BYTES},mode=1777,nosuid,nodev"})  # noqa: S108 -- the container's

    def options(self) -> dict[str, Any]:
        """As the engine's API names them."""
        return {
            "user": self.user,
            "cap_drop": ["ALL"],
            "cap_add": list(self.capabilities),
            "security_opt": ["no-new-privileges:true"],
            "read_only": self.read_only,
            "mem_limit": self.memory_bytes,
            "memswap_limit": self.memory_bytes,
            "pids_limit": self.processes,
            "tmpfs": dict(self.tmpfs),
            "dns": ["127.0.0.1"],  # names inside the stack are the engine's; any other is asked of nobody,
            "dns_opt": ["timeout:1", "attempts:1"],  # and that is known within a second
            "log_config": LogConfig(type=LogConfig.types.JSON, config={"max-size": LOG_LIMIT, "max-file": "1"}),
        }


@dataclass(frozen=True)
class Placement:
    """Where a container stands: its image, its address on the stack's network, its volumes, and what it publishes."""

    image: str
    alias: str
    command: tuple[str, ...]
    volumes: Mapping[str, tuple[str, str]]
    """Volume → (mount point, "ro" or "rw")."""
    confinement: Confinement = Confinement()
    networks: tuple[str, ...] = (INNER,)
    """The network that it is made on, and those that it joins afterwards."""
    publish: int | None = None
    """Port that the test process needs; the first network is then the outer one."""
    stop_s: int = STOP_S
    port: int = PORT
    """Where it listens."""
    announces: str = r'^\{"event": "listening".*\n'
    """What a line of its output looks like when it is ready."""


@dataclass
class DockerService:
    """One container. `box` is set by `start`."""

    spec: ServiceSpec
    placement: Placement
    topology: Topology = field(repr=False)
    log: Path = Path()
    address: str = ""
    box: DockerContainer | None = field(default=None, repr=False)
    started: bool = False
    stopped: bool = False
    _told: int = 0
    """Characters of its output that are those of an earlier start."""

    @property
    def name(self) -> str:
        """As reports show it."""
        return f"{self.spec.arm}/{self.spec.name}"

    @property
    def _door(self) -> Door:
        return self.topology.door

    @property
    def identity(self) -> str:
        with contextlib.suppress(ContainerStartException):  # there is no container yet
            if self.box is not None:
                return self.box.get_container_id()
        raise StackError(f"{self.name} was not started")

    def start(self) -> DockerService:
        """Create and start the container, without waiting for the service in it."""

        def run() -> DockerContainer:
            self.box = self._box()
            return self.box.start()

        self._door.call(f"starting {self.name}", run)
        self.started = True
        for network in self.placement.networks[1:]:
            self.topology.join(self.identity, network, self.placement.alias)
        self.address = f"http://{self.placement.alias}:{self.placement.port}"
        return self

    def _box(self) -> DockerContainer:
        placement, topology = self.placement, self.topology
        network = topology.name(placement.networks[0])
        aliases = self._door.api.create_endpoint_config(aliases=[placement.alias])
        options = placement.confinement.options()
        tmpfs = options.pop("tmpfs")
        box = DockerContainer(placement.image, docker_client_kw={"timeout": SILENCE_S})
        box.with_name(topology.name(placement.alias)).with_command(list(placement.command)).with_envs(**self.spec.environment)
        box.with_kwargs(network=network, networking_config={network: aliases}, labels=labels(topology.run_id), **options)
        for volume, (point, mode) in placement.volumes.items():
            box.with_volume_mapping(volume, point, mode)
        for point, how in tmpfs.items():
            box.with_tmpfs_mount(point, how)
        return box if placement.publish is None else box.with_exposed_ports(placement.publish)

    def published(self) -> int:
        """The port on 127.0.0.1 under which the test process reaches it."""
        ports = self._door.call(
            f"asking for the port of {self.name}", lambda: self._door.api.port(self.identity, self.placement.publish)
        )
        for port in ports or ():
            if port["HostIp"] == "127.0.0.1":
                return int(port["HostPort"])
        raise StackError(f"{self.name} is not published on 127.0.0.1")

    def _state(self) -> dict[str, Any]:
        look = lambda: self._door.api.inspect_container(self.identity)["State"]  # noqa: E731 -- a line of its own reads better
        return dict(self._door.call(f"looking at {self.name}", look, seconds=LOOK_S))

    def alive(self) -> bool:
        """Whether it has not ended by itself: one whose start is not over, or that was stopped, has not.

        An engine that does not answer says nothing about it: see `DockerAssembly.problems`.
        """
        if not self.started or self.stopped:
            return True
        try:
            return bool(self._state()["Running"])
        except StackError:
            return self._door.lost

    def output(self) -> str:
        """All that it has printed."""
        raw = self._door.call(f"reading the log of {self.name}", lambda: self._door.api.logs(self.identity))
        return bytes(raw).decode("utf-8", "backslashreplace")

    def ready(self) -> bool:
        """Whether it has announced itself."""
        text = self.output()[self._told :]
        if re.search(self.placement.announces, text, re.MULTILINE):
            return True
        state = self._state()
        if not state["Running"]:
            self.keep_log()
            raise ServiceDied(self.name, int(state["ExitCode"]), "\n".join(text.splitlines()[-LOG_TAIL_LINES:]), self.log)
        return False

    def execute(self, command: list[str], user: str, environment: Mapping[str, str] | None = None) -> None:
        """Run something inside, as an administrator would; `StackError` with its last line if it fails."""
        api = self._door.api

        def run() -> tuple[int, bytes]:
            made = api.exec_create(self.identity, command, user=user, environment=dict(environment or {}))
            output = api.exec_start(made["Id"])
            return int(api.exec_inspect(made["Id"])["ExitCode"]), output

        status, output = self._door.call(f"working in {self.name}", run)
        if status != 0:
            raise StackError(
                f"{self.name}: {command[0]} ended with status {status}: {output.decode(errors='replace').strip()[-300:]}"
            )

    def restart(self) -> None:
        """End it as kill -9 does, and start the same container again, without waiting for the service in it."""
        api, own = self._door.api, self.identity
        self._told, self.started = len(self.output()), False

        def again() -> None:
            api.kill(own, "SIGKILL")
            api.wait(own)
            api.start(own)

        self._door.call(f"starting {self.name} again", again)
        self.started = True

    def keep_log(self) -> None:
        """Write down what it has printed."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text(self.output(), encoding="utf-8")

    def stop(self) -> None:
        """Stop it, keep its log, remove it. Safe to call twice."""
        if self.stopped or self.box is None:
            return
        self.stopped = True
        api = self._door.api
        try:
            own = self.identity
            self._door.gone(f"stopping {self.name}", lambda: api.stop(own, timeout=self.placement.stop_s))
            self.keep_log()
            self._door.gone(f"removing {self.name}", self.box.stop)
        finally:
            self.box.get_docker_client().client.close()
