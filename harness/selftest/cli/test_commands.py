"""The command line: bad input is one clear message each and exit status 2, with nothing left behind."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from harness.settings import SCENARIOS

THREE_MISTAKES = r"""
title = "A scenario"
colour = "red"
[[act]]
prompt = "main"
[[act.step]]
call = [{ id = "c1", arguments = '<<nothing>>', expect = "maybe" }]
"""


def loudgate(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LOUDGATE_STATE": str(tmp_path / "state")}
    command = [sys.executable, "-c", "from harness.cli.main import entry; entry()", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path, env=environment)


def test_help_teaches(tmp_path: Path) -> None:
    said = loudgate(tmp_path, "--help").stdout
    assert all(word in said for word in ("run", "list", "judge", "stack", "model", "doctor", "Exit status"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "--bogus"), "--bogus"),
        (("run", "nowhere"), "no case matches 'nowhere'"),
        (("run", "--engine", "carrier-pigeon"), "carrier-pigeon"),
        (("run", "--out", "/proc/none"), "/proc/none: reports cannot be written there"),
        (("run", "--scenarios", "/nowhere"), "/nowhere: no such folder"),
        (("judge", "/nowhere"), "/nowhere"),
        (("model", "/nowhere.toml"), "/nowhere.toml"),
        (("stack", "down", "nobody"), "no running stack 'nobody'"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = loudgate(tmp_path, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list((tmp_path / "state").glob("*/owner.json"))


def test_all_mistakes_of_a_scenario_at_once(tmp_path: Path) -> None:
    (tmp_path / "three.toml").write_text(THREE_MISTAKES, encoding="utf-8")
    done = loudgate(tmp_path, "run", "--scenarios", str(tmp_path))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 3


def test_a_busy_port_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = loudgate(tmp_path, "model", str(SCENARIOS / "unicode" / "valid.toml"), "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert "Address already in use" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_list_names_every_kind(tmp_path: Path) -> None:
    assert "unicode/negative" in loudgate(tmp_path, "list").stdout
    for kind, word in (
        ("checks", "zero_acquisition"),
        ("mutants", "host/unicode-removed"),
        ("taps", "nothing"),
        ("targets", "hosted"),
    ):
        assert word in loudgate(tmp_path, "list", "--kind", kind).stdout
