"""The database of a run, whichever server it is: two databases per arm, one role that owns and one that only reads.

Passwords travel in the environment and in URLs, never in arguments. Members: `docker_postgres`, `docker_mariadb`. Leaves out
tables: the services make them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from harness.seeds import token
from harness.stack.assembly import SHARED
from harness.stack.docker_service import MIB, Confinement, DockerService, Placement
from harness.stack.docker_topology import INNER, OUTER, Topology
from harness.stack.service import ServiceSpec

DATABASES = ("store", "broker")
OWNER, READER = "service_rw", "ledger_ro"
DATA_BYTES = 1024 * MIB
"""A prepared cluster takes 30 MiB and each arm's two databases 15 MiB; on a tmpfs, so it counts as memory."""

SERVER_BYTES = 1536 * MIB
SERVER_PROCESSES = 400
"""One per connection; the servers allow 300."""

CONNECT_S = 5
"""Seconds for one connection."""

_NAME_CHARS = 48
"""PostgreSQL cuts names at 63 bytes, MariaDB refuses more than 64."""


class Kind(Protocol):
    """What one kind of server does in its own way."""

    name: str
    """As the user asks for it; its image has the same name."""
    port: int
    user: str
    """The account that it runs under, who may administer it from inside its container."""
    announces: str

    def url(self, at: str, database: str) -> str:
        """SQLAlchemy's, for `user:password@host:port`."""
        ...

    def removal(self, names: tuple[str, ...]) -> list[str]:
        """The command that takes these databases away, whoever is still connected."""
        ...

    def creation(self, names: tuple[str, ...]) -> list[str]:
        """The command that makes these databases: the owner may do anything in them, the reader only read."""
        ...


@dataclass
class Database:
    """The server of a run."""

    kind: Kind
    service: DockerService
    owner_password: str = field(repr=False)
    reader_password: str = field(repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Everything that must not reach a file."""
        return self.owner_password, self.reader_password

    def create(self, arm: str) -> None:
        """Make the databases of an arm."""
        self.service.execute(self.kind.creation(tuple(database_name(arm, one) for one in DATABASES)), self.kind.user)

    def remove(self, arm: str) -> None:
        """Take the databases of an arm away; nothing where it has none."""
        self.service.execute(self.kind.removal(tuple(database_name(arm, one) for one in DATABASES)), self.kind.user)

    def for_services(self, arm: str, database: str) -> str:
        """URL of the owner, inside the stack's network."""
        at = f"{OWNER}:{self.owner_password}@{self.service.placement.alias}:{self.kind.port}"
        return self.kind.url(at, database_name(arm, database))

    def for_reading(self, arm: str) -> dict[str, str]:
        """Database → URL of the role that only reads, on 127.0.0.1."""
        at = f"{READER}:{self.reader_password}@127.0.0.1:{self.service.published()}"
        return {database: self.kind.url(at, database_name(arm, database)) for database in DATABASES}


def database_name(arm: str, database: str) -> str:
    """The name of an arm's database."""
    return f"{re.sub('[^a-z0-9]', '_', arm.lower())[:_NAME_CHARS]}_{database}"


def database_server(kind: Kind, image: str, topology: Topology, logs: Path) -> Database:
    """The server, not started yet."""
    owner, reader = token(), token()
    spec = ServiceSpec(kind.name, SHARED, "", (), {"LOUDGATE_OWNER_PASSWORD": owner, "LOUDGATE_READER_PASSWORD": reader})
    placement = Placement(
        image=image,
        alias=kind.name,
        command=("/bin/sh", "/opt/loudgate/entry.sh"),
        volumes={},
        confinement=Confinement(
            user=kind.user,
            memory_bytes=SERVER_BYTES,
            processes=SERVER_PROCESSES,
            tmpfs={"/run/loudgate": f"size={DATA_BYTES},mode=1777", "/tmp": "size=64m,mode=1777"},  # noqa: S108 -- the container's
        ),
        networks=(OUTER, INNER),
        publish=kind.port,
        port=kind.port,
        announces=kind.announces,
    )
    return Database(kind, DockerService(spec, placement, topology, logs / f"{SHARED}-{kind.name}.log"), owner, reader)
