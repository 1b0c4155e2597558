"""The explicit table of engines. To add one: an assembly in a module of its own, a row here."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import EnvironmentMissing, UsageError
from harness.stack.assembly import Assembly
from harness.stack.process_assembly import ProcessAssembly
from harness.stack.process_objects import chosen
from harness.stack.runs import RunFolder

Say = Callable[[str], None]
REQUIRE_DOCKER = "LOUDGATE_REQUIRE_DOCKER"
"""Set to 1 where a missing Docker engine must fail the run."""


def _process(run: RunFolder, logs: Path, _store: str, _say: Say) -> Assembly:
    return ProcessAssembly(run, logs)


def _docker(run: RunFolder, logs: Path, store: str, say: Say) -> Assembly:
    from harness.stack.docker_assembly import DockerAssembly  # noqa: PLC0415 -- half a second that the embedded stack does not need

    return DockerAssembly(run, logs, store, say)


@dataclass(frozen=True)
class Engine:
    """A way to run the stack: how to assemble it, and which databases it can put behind store and broker, the default first."""

    assemble: Callable[[RunFolder, Path, str, Say], Assembly]
    stores: tuple[str, ...]


ENGINES: dict[str, Engine] = {
    "process": Engine(_process, ("sqlite",)),
    "docker": Engine(_docker, ("postgres", "mariadb")),
}


def store_of(engine: str, store: str | None) -> str:
    """The database to use; `UsageError` for one that the engine does not have."""
    known = ENGINES[engine].stores
    if store is not None and store not in known:
        raise UsageError(f"engine {engine} has no store {store} (it has {', '.join(known)})")
    return store or known[0]


def has_s3(engine: str) -> bool:
    """Whether an S3 server stands behind the services: always in containers, else where its package is installed."""
    return engine != "process" or chosen() is not None


def docker_missing() -> str:
    """Why no Docker engine can be used; empty if one answers. `EnvironmentMissing` where one is required."""
    from harness.stack.docker_door import connect  # noqa: PLC0415 -- as above

    try:
        connect().close()
    except EnvironmentMissing as error:
        if os.environ.get(REQUIRE_DOCKER) == "1":
            raise
        return str(error)
    return ""
