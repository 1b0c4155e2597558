"""The containerised stack of a run: database, object store and observer once, and per arm a store, a broker, a worker and a host.

Whatever does not wait for something else starts at once. Leaves out what an arm consists of (`docker_arm`) and how one container is
run (`docker_service`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from harness.clock import wait_until
from harness.errors import LoudgateError, StackError
from harness.limits import SERVICE_READY_S
from harness.seeds import token
from harness.settings import CHECKOUT
from harness.stack import docker_build, images
from harness.stack.assembly import OBSERVER, VARIANTS, ArmServices, Count, Graft, fresh_tokens
from harness.stack.docker_arm import ArmPlan, Ground, Shared, observer
from harness.stack.docker_database import DATABASES, Database, Kind, database_server
from harness.stack.docker_door import Door, connect
from harness.stack.docker_files import CODE, WITNESS, WORKSPACES, arm_files, observer_files
from harness.stack.docker_mariadb import MariaDB
from harness.stack.docker_objects import Objects, objects_server
from harness.stack.docker_postgres import Postgres
from harness.stack.docker_route import remove_default_route
from harness.stack.docker_service import DockerService
from harness.stack.docker_topology import NETWORKS, RUN_LABEL, Found, Topology, find, reap, remove
from harness.stack.runs import RunFolder
from harness.stack.service import Running

STARTERS = 8
"""Things that start at one time; an arm has four containers."""


KINDS: dict[str, Kind] = {kind.name: kind for kind in (Postgres(), MariaDB())}
"""The databases that can stand behind store and broker. To add one: a member of `Kind`, a row here, an image of that name."""


@dataclass(frozen=True)
class Base:
    """What all arms of a run stand on and share."""

    ground: Ground
    shared: Shared


@dataclass
class DockerAssembly:
    """The containers of one run. `arm` starts what is needed; `close` removes everything."""

    run: RunFolder
    logs: Path
    store: str = Postgres.name
    say: Callable[[str], None] = lambda _line: None
    name: str = "docker"
    starters: int = 1
    """An arm starts its four containers at once, and more of them than the machine has processors only delay each other."""
    door: Door = field(default_factory=connect)
    _services: list[DockerService] = field(default_factory=list)
    _arms: int = 0
    _base: Base | None = None
    _images: dict[str, str] = field(default_factory=dict)
    _problems: list[str] = field(default_factory=list)
    _starting: Lock = field(default_factory=Lock)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(STARTERS, "docker"))

    def __post_init__(self) -> None:
        for run_id in reap(self.door):
            self.say(f"removed the containers that run {run_id} left behind")

    def services(self) -> tuple[Running, ...]:
        """Everything that runs, or should."""
        return tuple(self._services)

    def images(self) -> dict[str, str]:
        """Image → its id, of the images in use."""
        return dict(self._images)

    def problems(self) -> tuple[str, ...]:
        """What went wrong with the engine itself, one line each: a run with any of them is incomplete."""
        return tuple(dict.fromkeys(self._problems))

    def lost(self) -> str:
        """Why nothing more can run on this engine; empty while it answers."""
        return "Docker has stopped answering" if self.door.lost else ""

    def arm(self, name: str, source: Path, variant: str = "", graft: Graft | None = None) -> ArmServices:
        """Start an arm (and at first what all arms share) and wait until everything in it is ready."""
        with self._starting:
            base = self._base = self._base or self._start_base()
            tokens = graft.arm.tokens if graft else fresh_tokens()
            ground, shared, plan = base.ground, base.shared, ArmPlan(base.ground, name, self._arms, VARIANTS[variant], tokens)
            self._arms += 1
        databases = self._pool.submit(self._make_databases, shared.database, name) if _keeps(graft) else None
        objects = self._pool.submit(_wait_for_objects, shared.objects, shared.observer)
        code = ground.topology.volume(f"code-{plan.place}")
        archive = arm_files(name, source, plan.uid)
        ground.topology.fill(ground.python, f"arm-{plan.place}", {code: CODE, ground.workspaces: WORKSPACES}, archive)
        workspaces = ground.topology.part(f"workspaces-{plan.place}", ground.workspaces, name)
        planned = plan.services(code, workspaces, shared)
        made = {one: service for one, service in planned.items() if graft is None or one == graft.service}
        self._services += made.values()
        free = {"worker": _start_confined, "host": DockerService.start}
        starts = [self._pool.submit(begin, made[one]) for one, begin in free.items() if one in made]
        if databases is not None:
            databases.result()
        starts += [self._pool.submit(made[one].start) for one in ("store", "broker") if one in made]
        _wait([shared.observer, *made.values()], starts)
        objects.result()
        arm = plan.arm(made, shared)
        return ArmServices(graft.on(arm) if graft else arm, tuple(made.values()))

    def restart(self, name: str, service: str) -> None:
        """The same container: its address stays."""
        killed = next(one for one in self._services if (one.spec.arm, one.spec.name) == (name, service))
        killed.restart()
        _wait([killed], [])

    def drop(self, name: str) -> None:
        """Remove the arm's containers and databases, which are memory; its volumes go with the run."""
        dropped = [one for one in self._services if one.spec.arm == name]
        for service in dropped:
            self._services.remove(service)  # first: what is stopped has not died
        for service in dropped:
            self._problems += filter(None, [_stopped(service)])
        if self._base is not None:
            try:
                self._base.shared.database.remove(name)
            except LoudgateError as error:
                self._problems.append(str(error))

    def _start_base(self) -> Base:
        tags = docker_build.build(self.door, self.say, (images.PYTHON, images.OBJECTS, self.store))
        self._images = docker_build.identities(self.door, tags)
        ground = self._make_ground(tags[images.PYTHON])
        topology, control_token = ground.topology, token()
        database = database_server(KINDS[self.store], tags[self.store], topology, self.logs)
        objects = objects_server(tags[images.OBJECTS], topology, self.logs)
        watching = observer(ground, control_token)
        self._services += [database.service, objects.service, watching]
        starts = [self._pool.submit(database.service.start), self._pool.submit(objects.service.start)]
        mounts = {ground.code: CODE, ground.witness: WITNESS, ground.workspaces: WORKSPACES}
        topology.fill(ground.python, OBSERVER, mounts, observer_files(CHECKOUT))
        watching.start()
        for start in starts:
            start.result()
        return Base(ground, Shared(watching, database, objects, control_token))

    def _make_ground(self, python: str) -> Ground:
        topology = Topology(self.door, self.run.path.name)
        networks = [self._pool.submit(topology.network, network) for network in NETWORKS]
        code, workspaces, witness = self._pool.map(topology.volume, ("code-observer", "workspaces", "witness"))
        for network in networks:
            network.result()
        return Ground(topology, python, self.logs, code, workspaces, witness)

    def _make_databases(self, database: Database, arm: str) -> None:
        _wait([database.service], [])
        database.create(arm)

    def close(self) -> None:
        """Stop everything, keep the logs, remove whatever carries the run's label. Never raises: see `problems` and `leaks`."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        with ThreadPoolExecutor(STARTERS, "docker-stop") as pool:
            self._problems += filter(None, pool.map(_stopped, self._services))
        try:
            self._problems += remove(self.door, self._labelled())
        except LoudgateError as error:
            self._problems.append(str(error))

    def leaks(self) -> Count:
        """After `close`: what still carries the run's label. If the engine does not answer: what was started. The last call."""
        try:
            return self._labelled().count()
        except StackError as error:
            self._problems.append(str(error))
            return Count(len(self._services), len(NETWORKS) if self._base else 0, 0)
        finally:
            self.door.close()

    def _labelled(self) -> Found:
        return find(self.door, f"{RUN_LABEL}={self.run.path.name}")


def _keeps(graft: Graft | None) -> bool:
    """Whether the arm has a service of its own that keeps something: another one's arm needs no databases."""
    return graft is None or graft.service in DATABASES


def _start_confined(worker: DockerService) -> DockerService:
    worker.start()
    remove_default_route(worker)
    return worker


def _wait_for_objects(objects: Objects, beside: DockerService) -> None:
    _wait([objects.service, beside], [])
    objects.write_once(beside)


def _wait(services: Sequence[DockerService], starts: Sequence[Future[DockerService]]) -> None:
    for start in starts:
        start.result()
    for service in services:
        wait_until(service.ready, SERVICE_READY_S, f"start of {service.name}")


def _stopped(service: DockerService) -> str:
    try:
        service.stop()
    except LoudgateError as error:
        return str(error)
    return ""
