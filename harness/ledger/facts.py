"""Small frozen values that `history` answers with, and the decoding of bodies.

Repeats the few names of edges and operations that checks speak of: the ledger must not know the relay. Leaves out all
search; `history` does that.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from harness.ledger.event import Command, Exchange, ModelExchange, Row
from harness.scenario.spec import Call, Step

HOST_BROKER, HOST_STORE, BROKER_WORKER = "host-broker", "host-store", "broker-worker"
WORKER_STORE, DRIVER_HOST = "worker-store", "driver-host"
DIRECT_EDGE = "direct-{}"
"""The edge of requests that the harness sends to a service itself."""
SHELL_TOOL = "run_shell_command"
ERROR_PREFIX = "Error: "
TURN_ENDS = ("turn_complete", "turn_error")
RECOVERY_REQUIRED = "hosted_turn_recovery_required"
"""The code with which a blocked session refuses."""
SERVER_ERRORS = 500
"""The first status that promises nothing about the effect."""

Body = dict[str, Any]


@lru_cache(maxsize=2048)
def decoded(raw: bytes | str) -> Body:
    """The JSON object in `raw`; empty for anything else, so that a check finds a field missing instead of crashing.

    Many checks read the same bodies, so each is parsed once: what is given must not be changed.
    """
    try:
        value = json.loads(raw)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def listed(body: Body, key: str) -> list[Body]:
    """The objects in the list `body[key]`; empty if there is no such list."""
    value = body.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def utf8(text: str) -> bytes:
    """UTF-8 that also takes lone surrogates, as the store keeps them."""
    return text.encode("utf-8", "surrogatepass")


def sha256(content: bytes) -> str:
    """`sha256:<hex>`."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def canonical(value: object) -> bytes:
    """Canonical JSON: keys sorted, no white space, ASCII; so equal bytes are equal values, code point for code point."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def input_digest(value: object) -> str:
    """The protocol's `managedToolDigest`, by the harness's own reckoning."""
    return sha256(canonical(value))


def succeeded(exchange: Exchange) -> bool:
    """Whether the relay saw a reply of success."""
    return exchange.status is not None and 200 <= exchange.status < 300


def uncertain(exchange: Exchange) -> bool:
    """Whether nobody can tell from the reply if it took effect: there was none, or one that promises nothing."""
    return exchange.status is None or exchange.status >= SERVER_ERRORS


def publication(exchange: Exchange) -> tuple[str, str]:
    """What a publication request does (`reserve`, `finished`, `admissions/prepare`, ...), and to which publication."""
    _, _, rest = exchange.target.split("?", 1)[0].partition("/publications/")
    if rest:
        identity, _, verb = rest.partition("/")
        return verb, unquote(identity)
    asked = decoded(exchange.request)
    return str(asked.get("operation", "")), str(asked.get("publicationId", ""))


def error_code(exchange: Exchange) -> str | None:
    """The code of the error that a reply tells of."""
    error = decoded(exchange.reply).get("error")
    return str(error.get("code")) if isinstance(error, dict) else None


def subject(exchange: Exchange) -> str:
    """The id that the path ends with, without its verb: `…/executions/e1:start` is about `e1`."""
    last = unquote(exchange.target.split("?", 1)[0].rsplit("/", 1)[-1])
    return last.removesuffix(f":{exchange.operation}")


def execution_id(exchange: Exchange) -> str:
    """The execution that a prepare, start or execute is about."""
    if exchange.operation == "start":
        return subject(exchange)
    said_by = exchange.reply if exchange.operation == "prepare" else exchange.request
    return str(decoded(said_by).get("executionCallId", ""))


def input_command(arguments: object) -> bytes | None:
    """The bytes of a shell tool's command; None if there is none."""
    command = arguments.get("command") if isinstance(arguments, dict) else None
    return utf8(command) if isinstance(command, str) else None


@dataclass(frozen=True)
class Heard:
    """One message of a model request, as `ModelExchange.heard` has it."""

    role: str
    text: str
    calls: tuple[tuple[str, str, str], ...] = ()
    """(id, name, argument text) of each call."""
    call: str = ""

    @property
    def is_error(self) -> bool:
        """Whether this result tells the model of an error."""
        return self.text.startswith(ERROR_PREFIX)


def heard(exchange: ModelExchange) -> tuple[Heard, ...]:
    """The messages of a model request."""
    return tuple(
        Heard(
            role=message["role"],
            text=message.get("text") or "",
            calls=tuple((call["id"], call["name"], call["arguments"]) for call in message.get("calls") or ()),
            call=message.get("call") or "",
        )
        for message in json.loads(exchange.heard)
    )


def results_after_last_assistant(messages: tuple[Heard, ...]) -> tuple[Heard, ...]:
    """The tool results that follow the last assistant message."""
    last = max((place for place, message in enumerate(messages) if message.role == "assistant"), default=len(messages))
    return tuple(message for message in messages[last + 1 :] if message.role == "result")


@dataclass(frozen=True)
class Planned:
    """One call of the script, and where it stands."""

    session: str
    number: int
    """Of its step in the session, counted from 1."""
    call: Call
    inert: bool = False
    """Whether its batch must be refused as the model gave it."""

    @property
    def given(self) -> str:
        """Its input as JSON text: the model's arguments, or what hooks must have made of them."""
        return self.call.argument_text() if self.call.effective is None else self.call.effective

    @property
    def bound(self) -> str:
        """The input that the worker must get, as JSON text."""
        return self.given if self.call.bound is None else self.call.bound

    @property
    def where(self) -> str:
        """For findings."""
        return f"call {self.call.id} of step {self.number}, session {self.session}"

    @property
    def command(self) -> bytes | None:
        """The bytes of the command, for a shell call whose arguments can be read."""
        return input_command(decoded(self.bound)) if self.call.tool == SHELL_TOOL else None


@dataclass(frozen=True)
class Served:
    """A scripted step that the model served: the request that got it, and the next request of that session."""

    session: str
    number: int
    step: Step
    request: ModelExchange
    after: ModelExchange | None
    turn: int
    """The place of its prompt among the acts."""
    ends_turn: bool
    """Whether the script has no more answer for this turn."""

    @property
    def where(self) -> str:
        """For findings."""
        kind = "refused step" if self.step.refused else "step"
        return f"{kind} {self.number} of session {self.session}"

    def covers(self, order: int) -> bool:
        """Whether something that arrived at `order` falls between the request and the next one."""
        return self.request.order <= order and (self.after is None or order < self.after.order)

    @property
    def answers(self) -> tuple[Heard, ...]:
        """The results with which the next request answers this step's calls."""
        return () if self.after is None else results_after_last_assistant(heard(self.after))


@dataclass(frozen=True)
class Record:
    """One session record, as SQL holds it or as the relay saw it appended or read."""

    order: int
    """Of the exchange; 0 for SQL."""
    sequence: int
    kind: str
    text: bytes
    command_id: str = ""
    body: Body = field(default_factory=dict, compare=False)

    @property
    def role(self) -> str:
        """Of a committed message; empty for other records."""
        return str(self.body.get("role", "")) if self.kind == "message.committed" else ""

    @property
    def calls(self) -> tuple[tuple[str, str, str], ...]:
        """(id, name, argument text) of each call of an assistant message."""
        found = listed(self.body, "calls") if self.role == "assistant" else []
        return tuple((str(call.get("id")), str(call.get("name")), str(call.get("arguments"))) for call in found)

    @property
    def results(self) -> tuple[tuple[str, bool], ...]:
        """(call id, is error) of each result of a tool_result group."""
        found = listed(self.body, "results") if self.role == "tool_result" else []
        return tuple((str(result.get("id")), result.get("isError") is True) for result in found)


@dataclass(frozen=True)
class Trace:
    """What every witness saw of one call."""

    prepares: tuple[Exchange, ...]
    starts: tuple[Exchange, ...]
    executes: tuple[Exchange, ...]
    rows: tuple[Row, ...]
    commands: tuple[Command, ...]
    unsure: tuple[Exchange, ...] = ()
    """Starts and executes of unknown effect."""

    def perhaps(self, operation: str) -> bool:
        """Whether one of these was asked for and may have taken effect, though no reply says so."""
        return any(exchange.operation == operation for exchange in self.unsure)

    @property
    def ids(self) -> frozenset[str]:
        """The executions that were prepared for the call."""
        return frozenset(execution_id(exchange) for exchange in self.prepares)

    @property
    def settled(self) -> bool:
        """Whether SQL has exactly one execution of it, and it ended well."""
        ends = [(row.values.get("state"), row.values.get("result")) for row in self.rows]
        return ends == [("settled", "success")]
