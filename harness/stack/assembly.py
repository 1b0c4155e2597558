"""What an engine must be able to do for a run: start arms, say what runs, stop everything, count what is left.

An arm is one complete stack of store, broker, worker and host; all arms of a run share one observer. Members: `process_assembly`
(subprocesses) and `docker_assembly` (containers). The keeper never asks which one it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from harness.limits import IMPATIENT_MS
from harness.relay import operations
from harness.relay.operations import BROKER_WORKER, DIRECT, DRIVER_HOST, HOST_BROKER, HOST_STORE, WORKER_STORE
from harness.seeds import token
from harness.stack.service import Arm, Running

OBSERVER = "observer"
OBJECTS = "objects"
SHARED = "shared"


@dataclass(frozen=True)
class Variant:
    """How a stack differs from the shared one: flags by service, and whether it has an object store."""

    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    objects: bool = True


VARIANTS: dict[str, Variant] = {
    "": Variant(),
    # On the shared stack a broken object store holds a case up for ten seconds. The host's patience begins with the end of the
    # execution, which is at the latest when the worker's is over.
    "impatient": Variant(
        {"worker": ("--publish-ms", str(IMPATIENT_MS)), "host": ("--admission-ms", str(IMPATIENT_MS))},
    ),
    "brief": Variant({"store": ("--grant-ms", str(IMPATIENT_MS))}),
    "bare": Variant(objects=False),
}
"""Name, as scenarios give it (`stack`) → how that stack differs."""

EDGES_BEHIND: dict[str, tuple[str, ...]] = {
    "broker": (HOST_BROKER, DIRECT["broker"]),
    "store": (HOST_STORE, WORKER_STORE, DIRECT["store"]),
    "worker": (BROKER_WORKER, DIRECT["worker"]),
    "host": (DRIVER_HOST,),
}
"""Service → the edges whose relays stand in front of it."""


def upstreams(addresses: Mapping[str, str], objects: str = "") -> dict[str, str]:
    """Edge → base URL of the service behind it, from service → base URL; `objects` is the object store's, if it has one."""
    behind = {edge: address for service, address in addresses.items() for edge in EDGES_BEHIND[service]}
    return behind | ({operations.OBJECTS: objects} if objects else {})


def fresh_tokens() -> dict[str, str]:
    """Service → the token that its callers show, for a new arm."""
    return {service: token() for service in EDGES_BEHIND}


@dataclass(frozen=True)
class Count:
    """What an engine still holds of a run."""

    containers: int = 0
    networks: int = 0
    volumes: int = 0


@dataclass(frozen=True)
class Graft:
    """An arm that is another one but for one service: that one alone is started, with its own database or its own workspaces."""

    arm: Arm
    service: str

    def on(self, own: Arm) -> Arm:
        """The joined arm, from what was started for it."""
        databases = {database: url for database, url in own.sql.items() if database == self.service}
        return self.arm.model_copy(
            update={
                "name": own.name,
                "workspaces": own.name if self.service == "worker" else self.arm.workspaces,
                "upstreams": {**self.arm.upstreams, **own.upstreams},
                "sql": {**self.arm.sql, **databases},
            }
        )


@dataclass(frozen=True)
class ArmServices:
    """The services of one arm."""

    arm: Arm
    services: tuple[Running, ...]


class Assembly(Protocol):
    """Everything that one run has started on one engine."""

    name: str
    starters: int
    """Arms that start at one time: each has four services, which need processor time for their start."""

    def services(self) -> tuple[Running, ...]:
        """Everything that runs, or should."""
        ...

    def images(self) -> dict[str, str]:
        """Image → digest, of the images in use."""
        ...

    def problems(self) -> tuple[str, ...]:
        """What went wrong with the engine itself, one line each; a run with any of them is incomplete."""
        ...

    def lost(self) -> str:
        """Why nothing more can run on this engine; empty while it answers."""
        ...

    def arm(self, name: str, source: Path, variant: str = "", graft: Graft | None = None) -> ArmServices:
        """Start an arm whose services run the package below `source`, or the one service that is grafted on another arm.

        Returns when all are ready. Safe to call from threads.
        """
        ...

    def drop(self, name: str) -> None:
        """Stop an arm and remove what it held; nothing if there is none of that name."""
        ...

    def restart(self, name: str, service: str) -> None:
        """End a service of an arm as kill -9 does, and start it again at the same address; returns when it is ready."""
        ...

    def leaks(self) -> Count:
        """After `close`: what is still there."""
        ...

    def close(self) -> None:
        """Stop everything, newest first. Safe to call twice."""
        ...
