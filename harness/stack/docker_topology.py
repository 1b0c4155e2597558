"""The networks and volumes of a run, and everything that carries its label: finding, counting, removing.

Leaves out containers' contents and their start (`docker_service`).
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.errors import StackError
from harness.settings import state_root
from harness.stack import runs
from harness.stack.assembly import Count
from harness.stack.docker_door import Door

RUN_LABEL, OWNER_LABEL = "loudgate.run", "loudgate.owner"

REMOVERS = 8
"""Removals at one time: the engine works on them one by one for the most part."""

OUTER, INNER, TOOLS = "outer", "inner", "tools"
NETWORKS = (OUTER, INNER, TOOLS)
"""The bridge that publishes on 127.0.0.1 (an internal network publishes nothing); the services' own; the workers' own, where tools
reach the observer and nothing else. Only the first is not internal."""

_OPTIONS = {
    OUTER: {
        "com.docker.network.bridge.host_binding_ipv4": "127.0.0.1",  # published ports are for this machine alone
        "com.docker.network.bridge.enable_ip_masquerade": "false",  # and nothing behind them needs a way out
    }
}
_INTERNAL = {"com.docker.network.bridge.inhibit_ipv4": "true"}
"""The machine itself takes no address on an internal network: otherwise whatever listens on it could be reached from inside."""


def owner() -> str:
    """Who can tell whether a run lives: the holders of its lock are on this machine and below this folder."""
    return f"{socket.gethostname()}:{state_root()}"


def labels(run_id: str) -> dict[str, str]:
    """What everything of a run carries."""
    return {RUN_LABEL: run_id, OWNER_LABEL: owner()}


@dataclass(frozen=True)
class Found:
    """Everything that carries a label."""

    containers: list[Any]
    networks: list[Any]
    volumes: list[Any]

    def count(self) -> Count:
        """Its numbers."""
        return Count(len(self.containers), len(self.networks), len(self.volumes))


def find(door: Door, label: str) -> Found:
    """Everything with this label (`name` or `name=value`), running or not."""
    chosen = {"label": label}
    return Found(
        door.call("listing containers", lambda: door.api.containers(all=True, filters=chosen)),
        door.call("listing networks", lambda: door.api.networks(filters=chosen)),
        door.call("listing volumes", lambda: door.api.volumes(filters=chosen)["Volumes"] or []),
    )


def remove(door: Door, found: Found) -> tuple[str, ...]:
    """Remove it all, containers first; gives one line for each thing that would not go."""
    api = door.api
    steps: list[tuple[str, Callable[[str], object], list[str]]] = [
        ("container", lambda one: api.remove_container(one, force=True, v=True), [one["Id"] for one in found.containers]),
        ("network", api.remove_network, [one["Id"] for one in found.networks]),
        ("volume", lambda one: api.remove_volume(one, force=True), [one["Name"] for one in found.volumes]),
    ]
    problems: list[str] = []
    with ThreadPoolExecutor(REMOVERS, "docker-remove") as pool:
        for kind, work, ids in steps:
            problems += filter(None, pool.map(partial(_removed, door, kind, work), ids))
    return tuple(problems)


def _removed(door: Door, kind: str, work: Callable[[str], object], thing: str) -> str:
    try:
        door.gone(f"removing {kind} {thing[:40]}", lambda: work(thing))
    except StackError as error:
        return str(error)
    return ""


def _labels_of(one: Mapping[str, Any]) -> Mapping[str, str]:
    return one.get("Labels") or {}


def reap(door: Door) -> tuple[str, ...]:
    """Remove what dead runs of this owner left behind; gives their ids. A run whose lock is held is left alone."""
    found = find(door, f"{OWNER_LABEL}={owner()}")
    living = {run for run, _ in runs.live()}

    def dead(things: list[Any]) -> list[Any]:
        return [one for one in things if _labels_of(one).get(RUN_LABEL) not in living]

    left = Found(dead(found.containers), dead(found.networks), dead(found.volumes))
    if problems := remove(door, left):
        raise StackError(f"what a dead run left behind cannot be removed: {problems[0]}")
    everything = [*left.containers, *left.networks, *left.volumes]
    return tuple(sorted({_labels_of(one).get(RUN_LABEL, "") for one in everything}))


@dataclass
class Topology:
    """The networks of a run, and its volumes by purpose."""

    door: Door
    run_id: str

    def name(self, purpose: str) -> str:
        """A name that no other run has."""
        return f"loudgate-{self.run_id}-{purpose}"

    def network(self, purpose: str) -> None:
        """Make one of the networks."""
        name, create, inside = self.name(purpose), self.door.client.networks.create, purpose != OUTER
        options = _OPTIONS.get(purpose, _INTERNAL)
        self.door.call(
            f"making network {name}",
            lambda: create(
                name, driver="bridge", internal=inside, options=options, labels=labels(self.run_id), check_duplicate=True
            ),
        )

    def join(self, container: str, purpose: str, alias: str) -> None:
        """Let a running container into one more network."""
        api, name = self.door.api, self.name(purpose)
        self.door.call(f"joining {alias} to {name}", lambda: api.connect_container_to_network(container, name, aliases=[alias]))

    def volume(self, purpose: str) -> str:
        """Make a volume; gives its name."""
        return self._volume(purpose, {})

    def part(self, purpose: str, whole: str, folder: str) -> str:
        """Make a volume of its own out of one folder of another; who mounts it sees nothing beside that folder."""
        point = self.door.call("asking for a volume", lambda: self.door.api.inspect_volume(whole)["Mountpoint"])
        return self._volume(purpose, {"type": "none", "o": "bind", "device": f"{point}/{folder}"})

    def _volume(self, purpose: str, options: dict[str, str]) -> str:
        name, api = self.name(purpose), self.door.api
        self.door.call(
            f"making volume {name}",
            lambda: api.create_volume(name, driver="local", driver_opts=options, labels=labels(self.run_id)),
        )
        return name

    def fill(self, image: str, purpose: str, volumes: Mapping[str, str], archive: bytes) -> None:
        """Unpack an archive into volumes (name → mount point), through a container that is never started."""
        api, name = self.door.api, self.name(f"porter-{purpose}")

        def unpack() -> None:
            binds = api.create_host_config(binds={volume: {"bind": point, "mode": "rw"} for volume, point in volumes.items()})
            made = api.create_container(image, command=["true"], name=name, host_config=binds, labels=labels(self.run_id))
            api.put_archive(made["Id"], "/", archive)
            api.remove_container(made["Id"], force=True)

        self.door.call(f"filling the volumes of {purpose}", unpack)
