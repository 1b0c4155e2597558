"""Run folders: what a dead run left behind is found and removed, what lives is left alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from harness.clock import wait_until
from harness.errors import UsageError
from harness.stack import runs

SLEEPER = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOUDGATE_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def die(run: runs.RunFolder) -> None:
    """What the kernel does to locks when their owner dies."""
    run._lock.close()
    if run.uid is not None:
        run.uid.release()


def test_a_live_run_is_left_alone() -> None:
    run = runs.open_run("one")
    assert [name for name, _ in runs.live()] == ["one"]
    assert runs.reap() == ()
    assert run.path.is_dir()
    run.remove()
    assert runs.live() == ()


def test_a_dead_run_loses_its_processes_and_its_folder() -> None:
    run = runs.open_run("one")
    with subprocess.Popen(SLEEPER) as sleeper:
        run.note(sleeper.pid, "sleeper")
        die(run)
        assert runs.reap() == (runs.Leftover("one", 1),)
        sleeper.wait(10)
    assert not run.path.exists()


def test_a_pid_that_is_somebody_elses_now_is_left_alone(state: Path) -> None:
    run = runs.open_run("one")
    with subprocess.Popen(SLEEPER) as other:
        noted = [{"pid": other.pid, "name": "x", "started": psutil.Process(other.pid).create_time() - 5}]
        (state / "one" / "processes.json").write_text(json.dumps(noted), encoding="ascii")
        die(run)
        assert runs.reap() == (runs.Leftover("one", 0),)
        assert other.poll() is None
        other.kill()


def test_services_die_with_whoever_started_them(tmp_path: Path) -> None:
    script = tmp_path / "owner.py"
    script.write_text(
        "import subprocess, sys, time\n"
        "from harness.stack.process import _die_with_parent\n"
        f"child = subprocess.Popen({SLEEPER!r}, preexec_fn=_die_with_parent)\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n",
        encoding="ascii",
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        child = int(owner.stdout.readline())
        owner.kill()
        wait_until(lambda: not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie", 10, "the child's end")


def test_an_unusable_state_folder_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LOUDGATE_STATE", str(tmp_path / "file" / "state"))
    with pytest.raises(UsageError, match="cannot be used for run folders"):
        runs.open_run("one")


@pytest.mark.skipif(os.getuid() != 0, reason="only root's runs have a uid for tools")
def test_two_runs_never_share_a_uid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = runs.open_run("one")
    monkeypatch.setenv("LOUDGATE_STATE", str(tmp_path / "elsewhere"))
    two = runs.open_run("two")
    assert one.tool_uid != two.tool_uid
    one.remove()
    two.remove()
