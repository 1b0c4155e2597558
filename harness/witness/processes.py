"""The process witness: a shell shim that reports each command before it runs it, and the reader of its records.

The shim is the worker's configured shell. It writes one record to a FIFO that tools may write and not read; a write of at most
PIPE_BUF bytes is atomic, so records never mix. If the record cannot be written, the shim exits 125 and nothing runs.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SHIM_FAILED = 125
PREFIX_BYTES = 1536
"""Bytes of the command that a record shows; with its base64, a digest and a directory a record stays below PIPE_BUF (4096)."""

FIFO_MODE = 0o622
"""Write-only for everyone but the owner: a tool can neither read the records of others nor take any away."""

READ_BYTES = 65536
_RECORD = re.compile(rb"v1 ([0-9a-f]{64}) (\d{1,12}) ([A-Za-z0-9+/=]*) ([A-Za-z0-9+/=]+)")

_SHIM = """#!/bin/sh
# Reports the command to the process witness, then becomes the real shell. Nothing runs that was not reported.
PATH=/usr/local/bin:/usr/bin:/bin
export PATH
[ "$1" = "-c" ] || exit {failed}
record=$(
  digest=$(printf %s "$2" | sha256sum) || exit 1
  length=$(printf %s "$2" | wc -c) || exit 1
  prefix=$(printf %s "$2" | head -c {prefix} | base64 -w0) || exit 1
  where=$(pwd -P | base64 -w0) || exit 1
  printf 'v1 %s %s %s %s' "${{digest%% *}}" "$((length))" "$prefix" "$where"
) || exit {failed}
[ "${{#record}}" -lt 4096 ] || exit {failed}
[ -p '{fifo}' ] || exit {failed}
printf '%s\\n' "$record" >>'{fifo}' || exit {failed}
exec /bin/sh "$@"
"""


def shim_text(fifo: str) -> str:
    """The shim that reports to the FIFO at this path."""
    if "'" in fifo:
        raise ValueError("a quote in the FIFO's path")
    return _SHIM.format(failed=SHIM_FAILED, prefix=PREFIX_BYTES, fifo=fifo)


def make_fifo(path: Path) -> None:
    """Make the FIFO, writable for every uid whatever the umask."""
    os.mkfifo(path)
    path.chmod(FIFO_MODE)


@dataclass(frozen=True)
class Record:
    """One command that was about to run."""

    digest: str
    length: int
    prefix: bytes
    directory: str


def parse(line: bytes) -> Record | None:
    """The record in one line, or None where the line is none."""
    hit = _RECORD.fullmatch(line)
    if hit is None:
        return None
    try:
        directory = base64.b64decode(hit[4], validate=True).removesuffix(b"\n").decode()
        prefix = base64.b64decode(hit[3], validate=True)
    except (binascii.Error, UnicodeDecodeError):
        return None
    return Record(f"sha256:{hit[1].decode()}", int(hit[2]), prefix, directory)


@dataclass
class RecordReader:
    """Reads records without ever blocking. Opened for reading and writing, so that the FIFO never ends."""

    path: Path
    _rest: bytes = b""
    _file: int = field(init=False)

    def __post_init__(self) -> None:
        self._file = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)

    def fileno(self) -> int:
        """For an event loop."""
        return self._file

    def drain(self) -> Iterator[Record | None]:
        """Every complete record that is there now; None for a line that is no record."""
        while True:
            try:
                block = os.read(self._file, READ_BYTES)
            except BlockingIOError:
                return
            *lines, self._rest = (self._rest + block).split(b"\n")
            yield from (parse(line) for line in lines)
