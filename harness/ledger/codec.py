"""Ledger ↔ file: ASCII-escaped JSON lines, a meta line first and a seal line last."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from harness.errors import LedgerError
from harness.ledger.event import Event, Frozen, Ledger, Meta, Seal
from harness.ledger.redact import Redactor

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def line(value: Frozen) -> str:
    """One value as one line of ASCII JSON."""
    return json.dumps(value.model_dump(mode="json"), ensure_ascii=True, separators=(",", ":"), sort_keys=True) + "\n"


def write(ledger: Ledger, path: Path, redactor: Redactor) -> None:
    """Write and seal; every line is redacted before it reaches the disk. The file is complete or absent."""
    body = "".join(redactor.clean(line(value)) for value in (ledger.meta, *ledger.events))
    seal = Seal(sha256=hashlib.sha256(body.encode("ascii")).hexdigest())
    write_whole(path, body + line(seal))


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all: an interrupted run is rebuilt from what is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def read(path: Path) -> Ledger:
    """Read a sealed ledger; `LedgerError` if a byte of it was changed."""
    try:
        lines = path.read_text(encoding="ascii").splitlines(keepends=True)
        if len(lines) < 2:
            raise LedgerError(f"{path}: not a sealed ledger")
        seal = Seal.model_validate_json(lines[-1])
        if hashlib.sha256("".join(lines[:-1]).encode("ascii")).hexdigest() != seal.sha256:
            raise LedgerError(f"{path}: the seal does not match; the ledger was changed after it was sealed")
        meta = Meta.model_validate_json(lines[0])
        return Ledger(meta=meta, events=tuple(_EVENT.validate_json(text) for text in lines[1:-1]))
    except OSError as error:
        raise LedgerError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise LedgerError(f"{path}: not a ledger") from error
    except ValidationError as error:
        raise LedgerError(f"{path}: not a ledger of this version ({error.error_count()} mistakes in a line)") from error
