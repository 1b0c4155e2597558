"""The database of a run: one PostgreSQL server, two databases per arm, one role that owns and one that only reads.

Passwords travel in the environment and in URLs, never in arguments. Leaves out tables: the services make them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from harness.seeds import token
from harness.stack.docker_service import MIB, Confinement, DockerService, Placement
from harness.stack.docker_topology import INNER, OUTER, Topology
from harness.stack.service import ServiceSpec

PORT = 5432
DATABASES = ("store", "broker")
OWNER, READER = "service_rw", "ledger_ro"
DATA_BYTES = 512 * MIB
"""The cluster takes 30 MiB and each arm's two databases 15 MiB; on a tmpfs, so it counts as memory."""

SERVER_BYTES = 1024 * MIB
SERVER_PROCESSES = 400
"""One per connection; the server allows 300."""

CONNECT_S = 5
"""Seconds for one connection."""

_NAME_CHARS = 48
"""PostgreSQL cuts names at 63 bytes."""


def database_name(arm: str, database: str) -> str:
    """The name of an arm's database."""
    return f"{re.sub('[^a-z0-9]', '_', arm.lower())[:_NAME_CHARS]}_{database}"


@dataclass
class Postgres:
    """The server of a run."""

    service: DockerService
    owner_password: str = field(repr=False)
    reader_password: str = field(repr=False)

    def create(self, arm: str) -> None:
        """Make the databases of an arm."""
        command = ["psql", "--host=/tmp", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname=postgres"]
        for database in DATABASES:
            name = database_name(arm, database)
            command += ["-c", f"CREATE DATABASE {name} OWNER {OWNER}", "-c", f"REVOKE ALL ON DATABASE {name} FROM PUBLIC"]
            command += ["-c", f"GRANT CONNECT ON DATABASE {name} TO {READER}"]
        self.service.execute(command, "postgres")

    def for_services(self, arm: str, database: str) -> str:
        """URL of the owner, inside the stack's network."""
        at = f"{OWNER}:{self.owner_password}@{self.service.placement.alias}:{PORT}"
        return f"postgresql+psycopg://{at}/{database_name(arm, database)}?connect_timeout={CONNECT_S}"

    def for_reading(self, arm: str) -> dict[str, str]:
        """Database → URL of the role that only reads, on 127.0.0.1."""
        at = f"{READER}:{self.reader_password}@127.0.0.1:{self.service.published()}"
        return {
            database: f"postgresql+psycopg://{at}/{database_name(arm, database)}?connect_timeout={CONNECT_S}"
            for database in DATABASES
        }


def postgres(image: str, topology: Topology, logs: Path, arm: str) -> Postgres:
    """The server, not started yet."""
    owner, reader = token(), token()
    spec = ServiceSpec("postgres", arm, "", (), {"LOUDGATE_OWNER_PASSWORD": owner, "LOUDGATE_READER_PASSWORD": reader})
    placement = Placement(
        image=image,
        alias="postgres",
        command=("/bin/sh", "/opt/loudgate/entry.sh"),
        volumes={},
        confinement=Confinement(
            user="postgres",
            memory_bytes=SERVER_BYTES,
            processes=SERVER_PROCESSES,
            tmpfs={"/run/loudgate": f"size={DATA_BYTES},mode=1777", "/tmp": "size=16m,mode=1777"},  # noqa: S108 -- the container's
        ),
        networks=(OUTER, INNER),
        publish=PORT,
        announces="database system is ready to accept connections",
    )
    return Postgres(DockerService(spec, placement, topology, logs / f"{arm}-postgres.log"), owner, reader)
