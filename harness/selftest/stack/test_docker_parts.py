"""The parts of the docker engine that need no engine: recipes, archives, names, and the deadline on every call."""

from __future__ import annotations

import gc
import io
import tarfile
import threading
from pathlib import Path
from types import SimpleNamespace

import docker
import pytest
import requests
from testcontainers.core.container import DockerContainer

from harness.errors import EnvironmentMissing, StackError
from harness.settings import subject_root
from harness.stack import images
from harness.stack.docker_database import database_name
from harness.stack.docker_door import Door, connect
from harness.stack.docker_files import FIFO, SHIM, arm_files, observer_files
from harness.stack.docker_service import DockerService, Placement
from harness.stack.service import ServiceSpec


@pytest.fixture
def door() -> Door:
    return Door(SimpleNamespace(api=None))  # type: ignore[arg-type]  # no call here reaches an engine


def test_a_tag_changes_with_its_inputs_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = images.recipe(images.PYTHON, images.DEBOOTSTRAP).tag
    assert images.recipe(images.PYTHON, images.DEBOOTSTRAP).tag == before
    assert images.recipe(images.PYTHON, images.REGISTRY).tag != before
    copy = tmp_path / "images" / images.PYTHON
    copy.mkdir(parents=True)
    for file in (images.contexts() / images.PYTHON).iterdir():
        (copy / file.name).write_bytes(file.read_bytes() + b"\n# changed\n")
    monkeypatch.setattr(images, "contexts", lambda: tmp_path / "images")
    assert images.recipe(images.PYTHON, images.DEBOOTSTRAP).tag != before


def test_an_unknown_provider_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(images.PROVIDER_VARIABLE, "carrier-pigeon")
    with pytest.raises(EnvironmentMissing, match="carrier-pigeon: no such base provider"):
        images.wanted_providers()


def test_the_fifo_is_write_only_for_tools_and_the_shim_is_roots() -> None:
    with tarfile.open(fileobj=io.BytesIO(observer_files(subject_root()))) as archive:
        fifo, shim = archive.getmember(FIFO.lstrip("/")), archive.getmember(SHIM.lstrip("/"))
    assert (fifo.isfifo(), fifo.mode, fifo.uid) == (True, 0o622, 0)
    assert (shim.mode, shim.uid) == (0o755, 0)


def test_an_arm_gets_the_code_it_was_given_and_a_workspace_folder_of_its_worker() -> None:
    with tarfile.open(fileobj=io.BytesIO(arm_files("shared", subject_root(), 4711))) as archive:
        names = archive.getnames()
        folder = archive.getmember("workspaces/shared")
    assert "code/fixtures/hosted/host/turn.py" in names
    assert not [name for name in names if "histories" in name or "images" in name or name.startswith("code/harness")]
    assert (folder.mode, folder.uid) == (0o711, 4711)


def test_a_service_whose_container_is_still_being_made_has_not_died(door: Door) -> None:
    spec = ServiceSpec("worker", "mutant", "fixtures.hosted.worker", (), {})
    topology = SimpleNamespace(door=door)
    service = DockerService(spec, Placement("python", "worker-1", (), {}), topology)  # type: ignore[arg-type]  # of it only the door
    assert service.alive()
    service.box = DockerContainer("python")  # the engine's answer is yet to come
    assert service.alive()
    with pytest.raises(StackError, match="mutant/worker was not started"):
        _ = service.identity


@pytest.mark.parametrize("arm", ["shared", "host-unicode-removed", "private-7f7f221cb953", "x" * 90])
def test_database_names_are_plain_and_within_the_limit(arm: str) -> None:
    name = database_name(arm, "broker")
    assert name.replace("_", "").isalnum()
    assert len(name) <= 63


def test_a_call_that_hangs_is_given_up_and_later_ones_sooner(door: Door) -> None:
    never = threading.Event()
    with pytest.raises(StackError, match=r"did not answer within 0\.05 s: asking"):
        door.call("asking", never.wait, seconds=0.05)
    assert door.lost
    assert door.call("asking again", lambda: "answer") == "answer"
    never.set()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (docker.errors.DockerException("out of space"), "Docker failed: asking: out of space"),
        (requests.exceptions.ConnectionError("broken"), "Docker failed: asking: broken"),
        (requests.exceptions.ReadTimeout("slow"), "Docker did not answer in time: asking"),
    ],
)
def test_foreign_errors_become_one_line(door: Door, error: Exception, said: str) -> None:
    def work() -> None:
        raise error

    with pytest.raises(StackError) as caught:
        door.call("asking", work)
    assert str(caught.value).startswith(said)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the library forgets a socket it could not connect
def test_no_engine_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(EnvironmentMissing, match="no Docker engine"):
        connect()
    gc.collect()
