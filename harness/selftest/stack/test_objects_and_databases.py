"""The object stores and the databases, as far as they need no server: command lines, URLs, grants, signatures, reserved ports."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from botocore.auth import S3SigV4Auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]

from harness.errors import EnvironmentMissing, StackError, UsageError
from harness.settings import STORE_NAMES
from harness.stack import images, process_objects, runs, s3, seaweed
from harness.stack.docker_assembly import KINDS
from harness.stack.docker_database import Database, Kind
from harness.stack.engines import ENGINES, store_of

KEY, SECRET = "key-of-a-test", "secret-of-a-test"
NAMES = ("host_broken_store", "host_broken_broker")


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


def test_a_signature_is_the_one_that_the_official_library_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    own = s3.signed("PUT", "127.0.0.1:8333", "/captures/ready", b"content", key=KEY, secret=SECRET, now=now)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda: now.replace(tzinfo=None))
    request = AWSRequest("PUT", "http://127.0.0.1:8333/captures/ready", data=b"content")
    request.context = {"payload_signing_enabled": True}
    S3SigV4Auth(Credentials(KEY, SECRET), "s3", s3.REGION).add_auth(request)
    assert own["authorization"] == request.headers["Authorization"]


def test_a_store_that_does_not_answer_is_one_clear_line() -> None:
    with ExitStack() as held:
        told = s3.environment(f"127.0.0.1:{process_objects.reserve(held)}", seaweed.BUCKET, KEY, SECRET)
        with pytest.raises(StackError, match=r"did not take its first write: ConnectionRefusedError") as caught:
            s3.write_once(told)
    assert SECRET not in str(caught.value)


def test_in_a_container_nothing_but_s3_listens_to_others() -> None:
    words = seaweed.contained("/data", 8333)
    assert {word for word in words if word.endswith("=0.0.0.0")} == {"-s3.ip.bind=0.0.0.0"}
    assert {"-ip.bind=127.0.0.1", "-s3.port=8333", "-master.telemetry=false"} <= set(words)


def test_every_port_of_the_embedded_server_is_given_and_on_the_loopback() -> None:
    ports = {name: 1000 + number for number, name in enumerate(seaweed.port_names())}
    words = seaweed.embedded("/folder", ports)
    assert "-ip.bind=127.0.0.1" in words
    assert {f"-{name}={port}" for name, port in ports.items()} <= set(words)
    assert len(seaweed.sockets(ports)) == 5
    assert not [word for word in words if KEY in word or SECRET in word]


def test_a_reserved_port_is_nobody_elses_and_still_to_be_had() -> None:
    with ExitStack() as held, socket.socket() as server:
        ports = {process_objects.reserve(held) for _ in range(20)}
        assert len(ports) == 20
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", next(iter(ports))))
        server.listen()


def test_the_directory_can_be_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(process_objects.CHOICE_VARIABLE, process_objects.DIRECTORY)
    made = process_objects.start_objects(SimpleNamespace(path=tmp_path), tmp_path)  # type: ignore[arg-type]  # its path is all it needs
    made.wait()
    assert (made.name, made.service, made.secrets) == ("directory", None, ())
    assert made.environment == {"LOUDGATE_OBJECTS": f"file://{tmp_path}/objects"}


@pytest.mark.parametrize("choice", ["tape", process_objects.SEAWEEDFS])
def test_an_object_store_that_cannot_be_had_is_one_clear_line(choice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(process_objects.CHOICE_VARIABLE, choice)
    monkeypatch.setattr(process_objects, "PACKAGE", "no-such-package-here")
    with pytest.raises(EnvironmentMissing, match=f"{process_objects.CHOICE_VARIABLE}={choice}"):
        process_objects.chosen()


def test_without_the_package_there_is_the_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(process_objects.CHOICE_VARIABLE, raising=False)
    monkeypatch.setattr(process_objects, "PACKAGE", "no-such-package-here")
    assert process_objects.chosen() is None


def test_a_database_url_names_role_server_and_database(kind: Kind) -> None:
    service = SimpleNamespace(placement=SimpleNamespace(alias=kind.name), published=lambda: 4711)
    database = Database(kind, service, "owner-word", "reader-word")  # type: ignore[arg-type]  # the two things that it is asked for
    inside, outside = urlsplit(database.for_services("shared", "store")), urlsplit(database.for_reading("shared")["broker"])
    assert (inside.username, inside.hostname, inside.port, inside.path) == ("service_rw", kind.name, kind.port, "/shared_store")
    assert (outside.username, outside.hostname, outside.port, outside.path) == ("ledger_ro", "127.0.0.1", 4711, "/shared_broker")
    assert (inside.password, outside.password) == database.secrets


def test_the_reader_is_granted_no_more_than_reading(kind: Kind) -> None:
    statements = [one for word in kind.creation(NAMES) for one in word.split("; ") if "ledger_ro" in one]
    assert len(statements) == len(NAMES)
    assert all(one.startswith(("GRANT CONNECT ON DATABASE ", "GRANT SELECT ON ")) for one in statements)


def test_a_grant_of_mariadbs_is_for_one_database_alone() -> None:
    statements = KINDS["mariadb"].creation(NAMES)[-1]
    assert r"ON `host\_broken\_store`.*" in statements
    assert "CREATE DATABASE `host_broken_store`" in statements


def test_every_store_has_an_engine_and_every_database_an_image() -> None:
    assert {store for engine in ENGINES.values() for store in engine.stores} == set(STORE_NAMES)
    assert set(ENGINES["docker"].stores) == set(KINDS) <= set(images.IMAGES)
    with pytest.raises(UsageError, match="engine process has no store mariadb"):
        store_of("process", "mariadb")


def test_what_a_dead_run_would_leave_outside_its_folder_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOUDGATE_STATE", str(tmp_path / "state"))
    run, litter = runs.open_run("one"), tmp_path / "outside.sock"
    litter.touch()
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        run.note(ended.pid, "objects", [litter])
    run._lock.close()
    if run.uid is not None:
        run.uid.release()
    runs.reap()
    assert not litter.exists()
