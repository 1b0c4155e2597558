"""What a scenario says, as frozen values. Argument text is kept raw; nothing here parses it.

A scenario file stands for many cases: its matrix × profiles × paths. `load` expands it, `catalog` finds it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Expectation = Literal["executed", "stopped", "denied", "abandoned", "refused", "sibling"]
"""What must become of a call.

executed: it runs once, and its result reaches the model.
stopped: it runs once and is ended before its own end, by its timeout or a cancel; the model is told an error.
denied: it does not run, since nobody allowed it; the model is told, and the rest of the batch goes on.
abandoned: it does not run and nobody is told, since its session was blocked first.
refused: admission objects to it, and the model is told why.
sibling: it does not run, since a call beside it was refused.
"""
Path = Literal["local", "o2"]
"""Capture path: the host publishes what a tool has printed (local), or the worker does, under a grant (o2)."""

TapName = Literal["lose_reply", "lose_request", "hold_reply", "unavailable", "slow_down", "full", "slow", "stalled", "altered"]
Stack = Literal["", "impatient", "brief", "bare"]
"""A stack that differs from the shared one. impatient: its services soon give up a capture. brief: its grants expire soon. bare: it
has no object store, so that no capture could ever be admitted."""
IDENTIFIER = r"^[A-Za-z0-9._:-]{1,128}$"


class Spec(BaseModel):
    """Base: frozen, and an unknown key is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Call(Spec):
    """One tool call of one answer of the model, and what must become of it."""

    id: str
    tool: str = "run_shell_command"
    arguments: str | None = None
    """The argument text, character for character."""
    deltas: tuple[str, ...] = ()
    """Instead: the same text in the pieces of the stream."""
    wire_deltas: tuple[str, ...] = ()
    """Instead: pieces as the characters between the quotes of the wire's JSON, so a piece can be half a surrogate pair."""
    fill: int = Field(default=0, ge=0, le=2_000_000)
    """`@fill@` in `arguments` stands for so many characters: a text that is long for its length's sake."""
    expect: Expectation
    names: str | None = None
    """For `refused`: the argument that the error must name."""
    writes: dict[str, str] = {}
    """For `executed`: file in the workspace → the text it must hold afterwards, in UTF-8."""
    effective: str | None = None
    """The input that hooks have made of the arguments, as JSON: what is asked about, reserved and run instead."""
    rewritten: bool = False
    """For `refused`: the arguments are fine, and what a hook has made of them is not. The batch is then not inert."""
    output: str | None = None
    """For `executed`: text that the result given to the model must contain."""
    bound: str | None = None
    """For `executed`: the input that the worker must get, as JSON, where it is not what was asked for to the letter."""
    told: tuple[str, ...] = ()
    """For `executed`: what the result must say of that difference: each of these texts."""
    granted: bool = False
    """For `executed`: nobody is asked, since it only looks; that it was granted is on record."""
    policy: str | None = None
    """For `denied`: the policy denies it, and the error says so with this word."""
    says: str | None = None
    """For `refused`: what the error must say of the argument that it names: what was expected."""
    suggests: str | None = None
    """For `refused`: the known key that the error must suggest."""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.arguments is not None) + bool(self.deltas) + bool(self.wire_deltas) != 1:
            raise ValueError("give exactly one of arguments, deltas, wire_deltas")
        if self.expect != "executed" and (self.writes or self.output is not None):
            raise ValueError("writes and output belong to a call that is expected to be executed")
        if self.expect != "executed" and (self.bound is not None or self.told):
            raise ValueError("bound and told belong to a call that is expected to be executed")
        if self.expect != "refused" and (self.names is not None or self.says is not None or self.suggests is not None):
            raise ValueError("names, says and suggests belong to a call that is expected to be refused")
        if (self.granted and self.expect != "executed") or (self.policy is not None and self.expect != "denied"):
            raise ValueError("granted belongs to a call that is expected to be executed, policy to one that is to be denied")
        if self.names is None and (self.says is not None or self.suggests is not None):
            raise ValueError("says and suggests need names: the argument that they are about")
        try:
            self.argument_text()
        except ValueError:
            raise ValueError("wire_deltas do not join to the inside of a JSON string") from None
        return self

    def argument_text(self) -> str:
        """The argument text as a client that joins the deltas has it; pairs split over two wire deltas are whole again."""
        if self.wire_deltas:
            return str(json.loads('"' + "".join(self.wire_deltas) + '"'))
        return "".join(self.deltas) if self.arguments is None else self.arguments.replace("@fill@", "x" * self.fill)


class Step(Spec):
    """One answer of the model."""

    call: tuple[Call, ...] = ()
    text: str | None = None
    finish: str | None = None
    """The finish reason; by default the one that fits the content."""
    hold: str | None = None
    """Name of a gate: the answer is held until an act opens it."""

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        expected = {call.expect for call in self.call}
        if not self.call and self.text is None:
            raise ValueError("a step needs text or at least one call")
        if "refused" in expected and expected - {"refused", "sibling"}:
            raise ValueError("a refused call refuses its whole batch: its siblings are expected as 'sibling'")
        if "sibling" in expected and "refused" not in expected:
            raise ValueError("a sibling needs a refused call beside it")
        return self

    @property
    def refused(self) -> bool:
        """Whether the batch must be refused."""
        return any(call.expect == "refused" for call in self.call)

    @property
    def inert(self) -> bool:
        """Whether the batch must be refused as the model gave it: then nothing at all may come of it."""
        return self.refused and not any(call.rewritten for call in self.call)


VERBS = (
    *("prompt", "finish", "cancel", "detach", "load", "open", "await_held", "await_busy", "await_command"),
    *("answer", "expire", "blocked", "load_refused", "create_refused", "request", "kill"),
)
DIRECT = ("broker", "store", "worker")
"""The services that a scenario may ask directly."""
_SESSION = re.compile(r"\$\{session:([A-Za-z0-9._-]{1,60})\}")


class Send(Spec):
    """One request straight to a service, and the answer that it must get.

    In `path`, `body` and `token`, `${tenant}`, `${workspace}` and `${session:LABEL}` stand for ids of the case, and
    `${LABEL.field.field}` for what an earlier reply said, by its label.
    """

    label: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,59}$")
    method: Literal["GET", "POST", "PUT"] = "POST"
    path: str
    body: str | None = None
    token: str | None = None
    """The bearer's token; by default the service's own."""
    status: int = 200
    code: str = ""
    """The error code of the answer."""
    fill: int = Field(default=0, ge=0, le=2_000_000)
    """`@fill@` in `body` stands for so many characters."""

    def sessions(self) -> tuple[str, ...]:
        """The labels of the sessions that it names."""
        return tuple(_SESSION.findall(f"{self.path} {self.body or ''}"))


class Tools(Spec):
    """What the session's policy lets its tools do."""

    allow: tuple[str, ...] | None = None
    """The tools there are; what it does not name is denied."""
    modes: dict[str, str] = {}
    """Tool → allow, ask or deny."""
    paths: Literal["any", "workspace"] = "any"
    read_only: Literal["ask", "grant"] = "ask"


class Approval(Spec):
    """How the session of a case asks for approvals."""

    mode: Literal["allow", "ask"] = "ask"
    timeout_ms: int = Field(default=15_000, ge=1, le=600_000)


class Hook(Spec):
    """A command of the session's owner that runs at an event of a batch."""

    id: str = Field(pattern=IDENTIFIER)
    event: Literal["PermissionRequest", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch"]
    command: str = Field(min_length=1)
    matcher: str = "*"
    """Glob on the tool's name."""
    timeout_ms: int = Field(default=15_000, ge=1, le=600_000)


class HookPlans(Spec):
    """How the hooks of each event run."""

    PermissionRequest: Literal["sequential", "parallel"] = "sequential"
    PreToolUse: Literal["sequential", "parallel"] = "sequential"
    PostToolUse: Literal["sequential", "parallel"] = "sequential"
    PostToolUseFailure: Literal["sequential", "parallel"] = "sequential"
    PostToolBatch: Literal["sequential", "parallel"] = "sequential"


class Act(Spec):
    """One thing the driver does; exactly one of the verbs is given. Its value is a session's label or a gate's name."""

    prompt: str | None = None
    detach: str | None = None
    load: str | None = None
    await_held: str | None = None
    """Wait until an answer or a reply is held at this gate."""
    await_command: str | None = None
    """Wait until a command of this session's last prompt was spawned."""
    await_busy: str | None = None
    """Wait until this session was told `workspace_busy`."""
    cancel: str | None = None
    """Cancel the active turn of this session; its `ends` is then `turn_error`."""
    answer: str | None = None
    """Wait until this session asks for an approval (unless `late`), then give `decision`."""
    expire: str | None = None
    """Wait until an approval that this session asks for has lapsed unanswered."""
    blocked: str | None = None
    """See that this session is recovery-blocked: its status says so, and a prompt is refused."""
    load_refused: str | None = None
    """Try to load this session, which must be refused."""
    create_refused: str | None = None
    """Try to create this session, whose configuration must be refused."""
    open: str | None = None
    """Let the answer go that is held at this gate; replies that a fault holds there are never given."""
    kill: Literal["host"] | None = None
    """End this service as kill -9 does and start it again, with what it has on record. Only on a stack of the case's own."""
    request: Literal["broker", "store", "worker"] | None = None
    """Ask this service directly: the request is `send`."""
    send: Send | None = None
    """For `request`."""
    finish: str | None = None
    """Wait for the end of a prompt that was sent with `wait = false`."""
    decision: Literal["allow", "deny"] = "allow"
    """For `answer`."""
    late: bool = False
    """For `answer`: answer the last request that was seen, though it is settled; the answer must be refused."""
    text: str | None = None
    """For `prompt`: the user's words; by default seeded ones."""
    wait: bool = True
    """For `prompt`: wait for the end of its turn."""
    ends: Literal["turn_complete", "turn_error", "unknown"] = "turn_complete"
    """For `prompt`: how the turn must end; `unknown`: its host is killed where nobody can say, and it must not be loaded."""
    step: tuple[Step, ...] = ()
    """For `prompt`: the model's answers in this turn."""

    @model_validator(mode="after")
    def _one_verb(self) -> Self:
        if sum(getattr(self, verb) is not None for verb in VERBS) != 1:
            raise ValueError(f"give exactly one of {', '.join(VERBS)}")
        if (self.prompt is not None) != bool(self.step):
            raise ValueError("a prompt needs steps, and only a prompt has them")
        if (self.request is None) != (self.send is None):
            raise ValueError("a request needs send, and only a request has it")
        return self


class Fault(Spec):
    """One fault on one edge: a tap that acts on some of the exchanges there. It must fire, or the case proves nothing."""

    edge: Literal["host-broker", "host-store", "broker-worker", "worker-store", "objects"]
    operation: str
    tap: TapName
    session: str | None = None
    contains: str | None = None
    """Only on requests whose body contains these bytes."""
    skip: int = Field(default=0, ge=0)
    """Leave the first so many of them alone."""
    times: int = Field(default=1, ge=1, le=100)
    """Act on so many of them at the most."""
    gate: str | None = None
    """For `hold_reply`: where replies are held, every one of them, until an act opens it."""

    @model_validator(mode="after")
    def _held_at_a_gate(self) -> Self:
        if (self.tap == "hold_reply") != (self.gate is not None):
            raise ValueError("hold_reply needs a gate, and only it has one")
        return self


class MustFail(Spec):
    """A case that must be red: on which mutant, by which check, with which words in its finding."""

    mutant: str
    check: str
    finding: str
    same_as: str
    """The same case on the real arm."""
    go_on: bool = False
    """After a turn that is stuck, let the other sessions go on: how long they are kept out is the point."""
    stuck_after_s: float
    """A turn that is active while nothing has moved for this long is positive evidence, not a deadline of the harness."""
    once: str = ""
    """The operation whose exchange is the evidence: before a relay has seen it, stillness does not count."""


class Case(Spec):
    """One scripted scenario on one target, capture path and profile."""

    id: str
    area: str
    title: str
    target: str = "hosted"
    path: Path = "local"
    profile: str
    stream: bool = True
    engines: tuple[str, ...] = ()
    """The engines it makes sense on; empty: all."""
    extended: bool = False
    """One of a large matrix whose row has cases without it: `--core` leaves it out."""
    stack: Stack = ""
    """The stack it is played on, where that is not the shared one."""
    private: bool = False
    """It disturbs the worker that it runs on, so it gets an arm of its own."""
    acts: tuple[Act, ...]
    faults: tuple[Fault, ...] = ()
    approval: Approval | None = None
    tools: Tools | None = None
    hooks: tuple[Hook, ...] = ()
    hook_plans: HookPlans = HookPlans()
    findings: tuple[int, ...] = ()
    """Findings of the audit of silent arguments (`scenarios/arguments/README.md`) that it is evidence for."""
    must_fail: MustFail | None = None

    @property
    def needs_s3(self) -> bool:
        """Whether it plans a fault between the services and an S3 server: a folder has no such edge."""
        return any(fault.edge == "objects" for fault in self.faults)

    def sessions(self) -> tuple[str, ...]:
        """Labels in the order of their first prompt, then those that only direct requests name."""
        prompted = (act.prompt for act in self.acts if act.prompt is not None)
        refused = (act.create_refused for act in self.acts if act.create_refused is not None)
        named = (label for act in self.acts if act.send is not None for label in act.send.sessions())
        return tuple(dict.fromkeys((*prompted, *refused, *named)))

    def prompts(self, session: str) -> Iterator[tuple[int, Act]]:
        """The session's prompt acts, with their place among all acts."""
        return ((place, act) for place, act in enumerate(self.acts) if act.prompt == session)

    def steps(self, session: str) -> tuple[Step, ...]:
        """Every answer that the model gives to this session, in order."""
        return tuple(step for _, act in self.prompts(session) for step in act.step)

    def calls(self, *expect: Expectation) -> Iterator[tuple[str, Call]]:
        """(session, call) of every call with one of these expectations; of every call without arguments."""
        for session in self.sessions():
            for step in self.steps(session):
                yield from ((session, call) for call in step.call if not expect or call.expect in expect)
