"""Ways to fail around hooks that deny, that change what somebody has allowed, and that were over when their host was killed."""

from __future__ import annotations

import json
from typing import Any

from harness.ledger.event import Command, Driven, Event, Exchange, Row
from harness.ledger.facts import HOST_BROKER, decoded, input_digest, sha256
from harness.selftest.checks.cases import CHANGING, DENIED, DENYING, KILLED
from harness.selftest.checks.change import (
    Change,
    Which,
    added,
    append,
    appended,
    asked,
    edited,
    exchange,
    heard,
    intrusion,
    moved,
    row,
    without,
)
from harness.selftest.checks.seen import BROKER
from harness.selftest.checks.survivors import Way

PREPARE = f"{BROKER}/executions:prepare"
RESERVED = intrusion("prepare", edge=HOST_BROKER, target=PREPARE, asked={"toolCallId": "c5", "kind": "tool"}, reply={})
_NO = b"printf no > no.txt"
SPAWNED = Command(order=70, digest=sha256(_NO), length=len(_NO), prefix=_NO, directory="d")


def child_of(hook: str) -> Which:
    """Appends of this hook's result."""

    def matches(event: Event) -> bool:
        said = decoded(event.request) if isinstance(event, Exchange) and appended("hook_execution")(event) else {}
        body = decoded(str(said.get("text", "")))
        return (body.get("state"), body.get("hookId")) == ("child", hook)

    return matches


def _completes(hook: str) -> Which:
    """Appends of the result of a plan that this hook ended."""
    return lambda event: appended("hook_execution")(event) and f'executed\\": [\\"{hook}'.encode() in getattr(event, "request", b"")


def _completed_row(event: Event) -> bool:
    """The row of a plan's result."""
    return isinstance(event, Row) and event.table == "records" and b'"completed"' in event.blobs["text"]


LATE = {"state": "child", "hookId": "looks", "event": "PreToolUse", "callId": "c7", "occurrenceId": "n1-s-main:PreToolUse:c7"}


def answer(digest: str) -> Which:
    """Answers about the input of this digest, as its last characters tell it apart."""
    return lambda event: exchange("answer")(event) and digest.encode() in getattr(event, "request", b"")


def _digests() -> tuple[str, str]:
    """The digests of the old input and of the changed one."""
    call = CHANGING.acts[0].step[0].call[0]
    return input_digest(decoded(call.argument_text())), input_digest(decoded(str(call.effective)))


OLD, NEW = _digests()


def _heard_first(**changed: Any) -> Change:
    """The second request's first result is another one."""
    return heard(2, lambda messages: [*messages[:-2], messages[-2] | changed, messages[-1]])


def _shown(old: str, new: str) -> Change:
    """The transcript says something else."""
    at = lambda event: isinstance(event, Driven) and event.act == "ended"  # noqa: E731 - reads best in place
    return edited(at, lambda event: {"body": event.body.replace(json.dumps(old)[1:-1].encode(), json.dumps(new)[1:-1].encode())})


HOOK_WAYS: tuple[Way, ...] = (
    ("deny_means_not_run", "denied: prepare seen by relay host-broker", DENYING, RESERVED),
    ("deny_means_not_run", "no hook's result on record denies it", DENYING, without(child_of("guard"))),
    (
        "deny_means_not_run",
        "no hook's result on record denies it",
        DENYING,
        edited(child_of("guard"), asked(b"deny", b"allow")),
    ),
    ("deny_means_not_run", "process: its command was spawned", DENYING, added(SPAWNED)),
    (
        "deny_means_not_run",
        "SQL has 1 executions row(s) of the call, not 0",
        DENYING,
        edited(row("executions", tool_call_id="c3"), lambda e: {"values": e.values | {"tool_call_id": DENIED.id}}),
    ),
    (
        "reapproved",
        "only its input before the hooks had been allowed by then",
        CHANGING,
        without(answer(NEW)),
    ),
    ("reapproved", "no input of it had been allowed by then", CHANGING, without(exchange("answer"))),
    ("reapproved", "no input of it had been allowed by then", CHANGING, edited(exchange("answer"), asked(b"allow", b"deny"))),
    ("reapproved", "had been allowed by then", CHANGING, edited(answer(NEW), lambda _: {"order": 90, "finished": 91})),
    ("reapproved", "nothing was reserved for it", CHANGING, without(exchange("prepare"))),
    (
        "reapproved",
        "SQL has no approval record allowed for the input that hooks have made",
        CHANGING,
        without(lambda event: row("records")(event) and b"allowed" in event.blobs["text"] and NEW.encode() in event.blobs["text"]),  # type: ignore[union-attr]
    ),
    (
        "marker_completed_from_prefix",
        "hook looks at PreToolUse has a result from after the kill",
        KILLED,
        append("hook_execution", LATE, sequence=40, step=2),
    ),
    (
        "marker_completed_from_prefix",
        "with another input than the one its hooks had left",
        KILLED,
        edited(_completes("breaks"), asked(b'Digest\\": \\"sha256:', b'Digest\\": \\"sha256:0')),
    ),
    ("marker_completed_from_prefix", "was not completed after the kill", KILLED, without(_completes("breaks"))),
    ("marker_completed_from_prefix", "SQL has no result of the plan", KILLED, without(_completed_row)),
    (
        "marker_completed_from_prefix",
        "was completed 2 times",
        KILLED,
        append("hook_execution", LATE | {"state": "completed", "executed": ["breaks"]}, sequence=40, step=2),
    ),
    (
        "marker_completed_from_prefix",
        "a hook at PreToolUse was started after the kill",
        KILLED,
        edited(lambda event: exchange("start")(event) and b"run_hook" in getattr(event, "request", b""), moved(90)),
    ),
    ("operator_text_agrees", "told as if it had run, and no worker has", DENYING, _heard_first(text="exit 0")),
    ("operator_text_agrees", "not told that it was not executed", DENYING, _heard_first(text='Error: hook "guard" minded')),
    ("operator_text_agrees", "does not name the hook that denied it first", DENYING, _heard_first(text="Error: not executed")),
    (
        "operator_text_agrees",
        "the transcript: call c5 of step 1, session main: not told that it was not executed",
        DENYING,
        _shown("not executed", "executed"),
    ),
    (
        "operator_text_agrees",
        "the transcript tells something else than the model was told",
        DENYING,
        _shown("exit 0", "exit 1"),
    ),
    ("operator_text_agrees", "no transcript shows its result", DENYING, _shown("tool_result", "result")),
    (
        "operator_text_agrees",
        "told that it was not executed, and the worker has run it",
        DENYING,
        heard(2, lambda messages: [*messages[:-1], messages[-1] | {"text": "Error: not executed"}]),
    ),
)
