"""The shell shim and its records: nothing runs that was not reported."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from harness.witness.processes import PREFIX_BYTES, SHIM_FAILED, RecordReader, make_fifo, parse, shim_text


def run(tmp_path: Path, command: str) -> subprocess.CompletedProcess[bytes]:
    shim = tmp_path / "shim"
    shim.write_text(shim_text(str(tmp_path / "fifo")), encoding="ascii")
    shim.chmod(0o755)
    return subprocess.run([shim, "-c", command], cwd=tmp_path, capture_output=True, check=False, timeout=20)


@pytest.mark.parametrize("command", ["printf hi", "printf '%s' \"🦊 \x01\u2028\" # 'x'\n", "true " + "x" * 5000])
def test_a_command_is_reported_and_run(tmp_path: Path, command: str) -> None:
    make_fifo(tmp_path / "fifo")
    reader = RecordReader(tmp_path / "fifo")
    done = run(tmp_path, command)
    (record,) = list(reader.drain())
    assert record is not None
    assert done.returncode == 0
    assert record.digest == "sha256:" + hashlib.sha256(command.encode()).hexdigest()
    assert (record.length, record.prefix) == (len(command.encode()), command.encode()[:PREFIX_BYTES])
    assert record.directory == str(tmp_path.resolve())


def test_without_a_fifo_nothing_runs(tmp_path: Path) -> None:
    done = run(tmp_path, "printf hi > ran.txt")
    assert done.returncode == SHIM_FAILED
    assert not (tmp_path / "ran.txt").exists()


def test_a_fifo_that_cannot_be_written_stops_the_command(tmp_path: Path) -> None:
    (tmp_path / "fifo").write_text("", encoding="ascii")
    assert run(tmp_path, "printf hi > ran.txt").returncode == SHIM_FAILED
    assert not (tmp_path / "ran.txt").exists()


def test_tools_may_write_records_and_not_read_them(tmp_path: Path) -> None:
    make_fifo(tmp_path / "fifo")
    mode = (tmp_path / "fifo").stat().st_mode & 0o777
    assert mode & 0o022 == 0o022
    assert mode & 0o044 == 0


@pytest.mark.parametrize("line", [b"", b"v1 x 1 a b", b"v2 " + b"0" * 64 + b" 1 YQ== YQ==", b"v1 " + b"0" * 64 + b" 1 YQ= YQ=="])
def test_what_is_no_record_is_none(line: bytes) -> None:
    assert parse(line) is None


def test_half_a_record_waits_for_its_rest(tmp_path: Path) -> None:
    make_fifo(tmp_path / "fifo")
    reader = RecordReader(tmp_path / "fifo")
    with open(tmp_path / "fifo", "wb", buffering=0) as writer:
        writer.write(b"v1 " + b"0" * 64)
        assert list(reader.drain()) == []
        writer.write(b" 3 YWJj L3RtcA==\n")
        (record,) = list(reader.drain())
    assert record is not None
    assert record.directory == "/tmp"
    os.close(reader.fileno())
