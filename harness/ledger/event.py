"""The frozen types of the ledger: what each witness can say.

Text that a model sent is never decoded here: bodies are bytes, and bytes travel as base64 in the file. Leaves out all
judgement; `history` gives checks their vocabulary.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.scenario.spec import Case

Witness = Literal["model", "relay", "sql", "workspace", "process"]
WITNESSES: tuple[Witness, ...] = ("model", "relay", "sql", "workspace", "process")


class Frozen(BaseModel):
    """Base of every value that is written down."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")


class Meta(Frozen):
    """First line of a ledger: what was run, where, and under which names."""

    kind: Literal["meta"] = "meta"
    ledger_schema: Literal["loudgate.ledger/1"] = "loudgate.ledger/1"
    case: Case
    seed: int
    nonce: str
    target: str
    engine: str
    store: str
    witnesses: tuple[Witness, ...]
    tenant: str
    workspace: str
    sessions: dict[str, str]
    """Session label of the scenario → id on the wire."""


class ModelExchange(Frozen):
    """One request to the fake model and what it was given back. `order` and `finished` count in the case's logical order."""

    kind: Literal["model"] = "model"
    order: int
    finished: int
    session: str
    step: int | None
    """Index of the scripted step that was served; None if the request matched none."""
    repeated: bool = False
    """The same bytes as the request before: a retry, answered with the same step again."""
    request: bytes
    heard: bytes
    """The request's conversation in wire-neutral, ASCII-escaped JSON: see `harness.model.transcript`."""
    reply: bytes
    problems: tuple[str, ...] = ()
    """Expectations of the step that the request did not meet, in words."""


class Exchange(Frozen):
    """One request and reply through a relay."""

    kind: Literal["exchange"] = "exchange"
    order: int
    finished: int
    edge: str
    session: str
    """Session label, or empty where only the case is known."""
    operation: str
    method: str
    target: str
    request: bytes
    status: int | None
    """None: no reply was had from upstream."""
    reply: bytes
    fault: str | None = None
    """The tap that acted on it."""


class Command(Frozen):
    """One command that was really spawned, as the worker's shell shim reported it before it ran."""

    kind: Literal["command"] = "command"
    order: int
    digest: str
    """`sha256:<hex>` of the command's bytes."""
    length: int
    prefix: bytes
    directory: str


class TreeEntry(Frozen):
    """One file of a workspace; `content` is None for what is larger than the bound, and for what is no plain file."""

    path: str
    type: Literal["file", "folder", "link", "other"]
    size: int
    sha256: str
    content: bytes | None = None


class Tree(Frozen):
    """A workspace as it was at one moment."""

    kind: Literal["tree"] = "tree"
    moment: Literal["before", "after"]
    entries: tuple[TreeEntry, ...]
    truncated: bool = False


class Row(Frozen):
    """One row of one of the system's tables, read by a role that can only read."""

    kind: Literal["row"] = "row"
    database: str
    table: str
    values: dict[str, int | str | None]
    blobs: dict[str, bytes] = {}


# fmt: off
DriverAct = Literal[
    "created", "prompted", "ended", "still_active", "detached", "loaded", "refused", "busy_seen", "busy_not_seen", "cancelled",
    "blocked", "load_refused", "create_refused", "asked", "answered", "expired", "requested", "killed",
]
# fmt: on


class Driven(Frozen):
    """Something the driver did or saw at the session API. `body` is the reply's ASCII JSON, if any."""

    kind: Literal["driven"] = "driven"
    order: int
    act: DriverAct
    session: str
    detail: str = ""
    body: bytes = b""


class Fired(Frozen):
    """What became of a planned fault: how many exchanges it could act on, and on how many it did."""

    kind: Literal["fired"] = "fired"
    edge: str
    operation: str
    tap: str
    seen: int
    times: int


class Doubt(Frozen):
    """Something that makes absence unprovable: stray traffic, no quiet, a missing witness, a deadline of the harness."""

    kind: Literal["doubt"] = "doubt"
    reason: str


class Seal(Frozen):
    """Last line: the digest of every byte before it."""

    kind: Literal["seal"] = "seal"
    sha256: str


Event = Annotated[
    ModelExchange | Exchange | Command | Tree | Row | Driven | Fired | Doubt,
    Field(discriminator="kind"),
]


class Ledger(Frozen):
    """A whole ledger in memory."""

    meta: Meta
    events: tuple[Event, ...]
