"""Composes services into arms: one shared observer, and per arm a store, a broker, a worker and a host.

The services of an arm need no address of each other: every edge goes through the observer's relays, and a case names the services
behind them when it registers. So all of them start at once.
"""

from __future__ import annotations

import secrets
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.clock import wait_until
from harness.limits import RUN_FOLDER_MODE, SERVICE_READY_S
from harness.relay.operations import BROKER_WORKER, DRIVER_HOST, HOST_BROKER, HOST_STORE
from harness.stack.runs import RunFolder
from harness.stack.service import Arm, Engine, Running, ServiceSpec
from harness.witness.processes import make_fifo, shim_text

OBSERVER = "observer"
SHARED = "shared"
_EDGE_BEHIND = {"broker": HOST_BROKER, "store": HOST_STORE, "worker": BROKER_WORKER, "host": DRIVER_HOST}


def _token() -> str:
    return secrets.token_urlsafe(24)


@dataclass
class Observer:
    """The running observer, and the files it shares with workers."""

    service: Running
    token: str = field(repr=False)
    workspaces: Path = Path()
    shim: Path = Path()


def start_observer(engine: Engine, run: RunFolder) -> Observer:
    """Start the observer, without waiting."""
    workspaces, shim, fifo = run.path / "workspaces", run.path / "shim", run.path / "processes.fifo"
    workspaces.mkdir(mode=RUN_FOLDER_MODE)
    make_fifo(fifo)
    shim.write_text(shim_text(str(fifo)), encoding="ascii")
    shim.chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IXUSR | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
    token = _token()
    spec = ServiceSpec(
        name=OBSERVER,
        arm=SHARED,
        module="harness.observer",
        arguments=("--workspaces", str(workspaces), "--processes", str(fifo)),
        environment={"LOUDGATE_CONTROL_TOKEN": token},
    )
    return Observer(engine.start(spec), token, workspaces, shim)


def wait_ready(services: Sequence[Running]) -> None:
    """Until each has announced itself; `ServiceDied` with its evidence if one ended instead."""
    for service in services:
        wait_until(service.ready, SERVICE_READY_S, f"start of {service.spec.arm}/{service.spec.name}")


@dataclass
class ArmServices:
    """The services of one arm."""

    arm: Arm
    services: tuple[Running, ...]


def start_arm(name: str, engine: Engine, run: RunFolder, observer: Observer, source: Path) -> ArmServices:
    """Start the four services of an arm and wait until all are ready. `source` holds the package of the system under test."""
    data, workspaces = run.path / "arms" / name, observer.workspaces / name
    data.mkdir(mode=0o700, parents=True)
    workspaces.mkdir(mode=RUN_FOLDER_MODE)
    workspaces.chmod(RUN_FOLDER_MODE)
    wait_ready([observer.service])
    tokens = {service: _token() for service in _EDGE_BEHIND}
    uid = () if run.tool_uid is None else ("--tool-uid", str(run.tool_uid))

    def start(service: str, *arguments: str, **environment: str) -> Running:
        own = {"LOUDGATE_TOKEN": tokens[service], **environment}
        return engine.start(ServiceSpec(service, name, f"fixtures.hosted.{service}", arguments, own, source))

    services = {
        "store": start("store", "--database", f"sqlite:///{data}/store.db"),
        "broker": start(
            "broker",
            *("--database", f"sqlite:///{data}/broker.db", "--worker", f"{observer.service.address}/r/-/worker"),
            LOUDGATE_WORKER_TOKEN=tokens["worker"],
        ),
        "worker": start("worker", "--workspaces", str(workspaces), "--shell", str(observer.shim), *uid),
        "host": start("host", LOUDGATE_BROKER_TOKEN=tokens["broker"], LOUDGATE_STORE_TOKEN=tokens["store"]),
    }
    wait_ready(list(services.values()))
    arm = Arm(
        name=name,
        engine=engine.name,
        store="sqlite",
        observer=observer.service.address,
        relays=observer.service.address,
        upstreams={_EDGE_BEHIND[service]: running.address for service, running in services.items()},
        sql={database: f"sqlite:///file:{data}/{database}.db?mode=ro&uri=true" for database in ("store", "broker")},
        control_token=observer.token,
        host_token=tokens["host"],
        secrets=(observer.token, *tokens.values()),
    )
    return ArmServices(arm, tuple(services.values()))
