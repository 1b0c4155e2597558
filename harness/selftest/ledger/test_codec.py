"""Ledger files: sealed, complete or absent, and without secrets."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from harness.errors import LedgerError
from harness.ledger import codec
from harness.ledger.event import WITNESSES, Driven, Exchange, Ledger, Meta
from harness.ledger.redact import Redactor
from harness.scenario.spec import Act, Case, Step

CASE = Case(id="x", area="x", title="x", profile="p", acts=(Act(prompt="main", step=(Step(text="x"),)),))
META = Meta(
    case=CASE,
    seed=1,
    nonce="n",
    target="t",
    engine="e",
    store="s",
    witnesses=WITNESSES,
    tenant="t",
    workspace="w",
    sessions={"main": "s"},
)


def exchange(body: bytes) -> Exchange:
    return Exchange(
        order=1, finished=2, edge="host-store", session="main", operation="append", method="POST", target="/",
        request=body, status=200, reply=b"\xff\x00",
    )  # fmt: skip


def test_a_ledger_comes_back_as_it_was(tmp_path: Path) -> None:
    ledger = Ledger(meta=META, events=(exchange(b'{"a": "\\ud83d"}'), Driven(order=3, act="created", session="main")))
    codec.write(ledger, tmp_path / "one.jsonl", Redactor())
    assert codec.read(tmp_path / "one.jsonl") == ledger


def test_a_changed_byte_breaks_the_seal(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    codec.write(Ledger(meta=META, events=(exchange(b"1"),)), path, Redactor())
    path.write_text(path.read_text(encoding="ascii").replace('"status":200', '"status":201'), encoding="ascii")
    with pytest.raises(LedgerError, match="seal"):
        codec.read(path)


@pytest.mark.parametrize("text", ["", "{}\n", '{"kind":"seal","sha256":"x"}\n' * 2])
def test_what_is_no_ledger_is_one_clear_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "one.jsonl").write_text(text, encoding="ascii")
    with pytest.raises(LedgerError):
        codec.read(tmp_path / "one.jsonl")


@pytest.mark.parametrize("secret", ["zq-Secret_Token-0123456789", "zq-~~~???>>>_-_-_-ooo~~~???"])
@pytest.mark.parametrize("offset", range(6))
def test_secrets_reach_no_file(tmp_path: Path, offset: int, secret: str) -> None:
    body = b"x" * offset + secret.encode() + b"tail"
    codec.write(Ledger(meta=META, events=(exchange(body),)), tmp_path / "one.jsonl", Redactor((secret,)))
    written = (tmp_path / "one.jsonl").read_text(encoding="ascii")
    kept = codec.read(tmp_path / "one.jsonl").events[0]
    assert isinstance(kept, Exchange)
    assert secret[4:20].encode() not in kept.request
    assert base64.urlsafe_b64encode(body).decode() not in written
    assert secret not in repr(Redactor((secret,)))
