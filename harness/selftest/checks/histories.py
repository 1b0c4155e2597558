"""For every check: the case of its histories, and how the good one becomes the bad and the indeterminate one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.ledger.event import Driven, Exchange, Ledger, Row, Tree, TreeEntry
from harness.ledger.facts import HOST_BROKER, sha256
from harness.scenario.spec import Case
from harness.selftest.checks.cases import (
    ALONE,
    ASKED,
    BLOCKED,
    CHANGING,
    CORRECTED,
    DENYING,
    GOVERNED,
    HOOKED,
    KILLED,
    MISCONFIGURED,
    OWNED,
    RELOADED,
    SEAM,
    SECOND,
    STRAIGHT,
)
from harness.selftest.checks.change import (
    Change,
    Which,
    added,
    again,
    append,
    appended,
    asked,
    chain,
    cut,
    doubted,
    edited,
    emptied,
    exchange,
    heard,
    intrusion,
    moved,
    replaced,
    request,
    row,
    same,
    values,
    without,
)
from harness.selftest.checks.hook_ways import NEW, RESERVED, answer
from harness.selftest.checks.perfect import Perfect
from harness.selftest.checks.seen import BROKER

STRAY = doubted("acquire on host-broker belongs to no open case")
OWNER: dict[str, int | str | None] = {"harness_session_id": "n1-s-main", "generation": 7}


@dataclass(frozen=True)
class Variation:
    """A case, played, and changed."""

    change: Change
    case: Case = CORRECTED

    def ledger(self) -> Ledger:
        """The history."""
        return self.change(Perfect(self.case).play())


@dataclass(frozen=True)
class Four:
    """The four histories of one check."""

    bad: Variation
    indeterminate: Variation
    good: Variation = Variation(same)

    def all(self) -> Mapping[str, Variation]:
        """By name; the empty one is of the good one's case."""
        empty = Variation(emptied, self.good.case)
        return {"empty": empty, "good": self.good, "bad": self.bad, "indeterminate": self.indeterminate}


def _intruding(operation: str, path: str, *, asked: Any, reply: Any, left: Row) -> Change:
    seen = intrusion(operation, edge=HOST_BROKER, target=f"{BROKER}{path}", asked=asked, reply=reply)
    return chain(seen, added(left))


def _broker_row(table: str, **found: int | str | None) -> Row:
    return Row(database="broker", table=table, values=OWNER | found)


def _swapped(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*messages[:-2], messages[-1], messages[-2]]


def _last(text: str, *, step: int = 2) -> Change:
    """The last message of a request, the second by default, holds this text."""
    return heard(step, lambda messages: [*messages[:-1], messages[-1] | {"text": text}])


def _stray_file(event: Tree) -> dict[str, Any]:
    entry = TreeEntry(path="broken.txt", type="file", size=1, sha256=sha256(b"x")[7:], content=b"x")
    return {"entries": (*event.entries, entry)}


ACQUIRED = _intruding(
    "acquire",
    "/tool-sessions:acquire",
    asked={},
    reply={"acquired": True, "generation": 7},
    left=_broker_row("leases", released_ms=None),
)
REGISTERED = _intruding(
    "publisher",
    "/tool-sessions/r1:register-publisher",
    asked={"bindingGeneration": 7},
    reply={"registered": True},
    left=_broker_row("publishers"),
)
PREPARED = _intruding(
    "prepare",
    "/executions:prepare",
    asked={"toolCallId": "c1", "kind": "tool"},
    reply={"executionCallId": "exec-9"},
    left=_broker_row("executions", execution_call_id="exec-9", tool_call_id="c1", state="executing"),
)


REPAIRS = {"state": "child", "hookId": "repairs", "event": "PreToolUse", "occurrenceId": "n1-s-main:PreToolUse:c7", "output": ""}


def hooking(operation: str) -> Which:
    """Exchanges of this operation that carry a hook."""
    return lambda event: isinstance(event, Exchange) and event.operation == operation and b"run_hook" in event.request


def on(edge: str) -> Which:
    """Exchanges on this edge."""
    return lambda event: isinstance(event, Exchange) and event.edge == edge


def driven(act: str) -> Which:
    """What the driver noted of this act."""
    return lambda event: isinstance(event, Driven) and event.act == act


def respelled(event: Row) -> dict[str, Any]:
    """The same JSON value, as a column that parses JSON gives it back."""
    text = json.dumps(json.loads(event.blobs["text"]), sort_keys=True, separators=(",", ":"))
    return {"blobs": {"text": text.encode("ascii")}}


HUNG = chain(
    without(lambda event: isinstance(event, Driven) and (event.act, event.session) == ("ended", "second")),
    added(Driven(order=900, act="still_active", session="second", detail="after 1.5 s")),
)
RELEASED = intrusion("release", edge=HOST_BROKER, target=f"{BROKER}/tool-sessions/r1:release", asked={}, reply={}, step=2)
FOUR: Mapping[str, Four] = {
    "zero_acquisition": Four(Variation(ACQUIRED), Variation(same, ALONE)),
    "zero_publication": Four(Variation(REGISTERED), Variation(STRAY)),
    "zero_execution": Four(Variation(PREPARED), Variation(same, ALONE)),
    "zero_side_effects": Four(
        Variation(edited(lambda event: isinstance(event, Tree) and event.moment == "after", _stray_file)),
        Variation(same, ALONE),
    ),
    "ordered_paired_errors": Four(Variation(heard(2, _swapped)), Variation(cut)),
    "refusal_appends_nothing_else": Four(Variation(append("tool.intent", {"callId": "c1"})), Variation(cut)),
    "names_field_not_value": Four(Variation(_last("Error: not executed, command was printf \ud800 > broken.txt")), Variation(cut)),
    "arguments_preserved": Four(Variation(edited(row("records"), replaced(rb"\\ud800", rb"\\ufffd"))), Variation(cut)),
    "bytes_identical": Four(
        Variation(edited(exchange("execute"), asked(rb"e\\u0301", rb"\\u00e9")), OWNED),
        Variation(cut, OWNED),
        Variation(same, OWNED),
    ),
    "digest_unchanged": Four(
        Variation(edited(exchange("prepare"), asked(b'"argsDigest": "sha256:', b'"argsDigest": "sha256:0'))), Variation(cut)
    ),
    "admitted_order": Four(Variation(edited(exchange("start"), moved(24))), Variation(cut)),
    "exactly_one_execution": Four(
        Variation(again(lambda event: exchange("execute")(event) or event.kind == "command")), Variation(cut)
    ),
    "result_reaches_model": Four(Variation(_last("exit 0", step=3)), Variation(cut)),
    "owner_kept": Four(Variation(RELEASED, OWNED), Variation(STRAY, OWNED), Variation(same, OWNED)),
    "lease_released": Four(
        Variation(chain(without(exchange("release")), edited(row("leases"), values(released_ms=None)))),
        Variation(STRAY),
    ),
    "second_session_completes": Four(Variation(HUNG, SECOND), Variation(cut, SECOND), Variation(same, SECOND)),
    "reload_identical": Four(
        Variation(edited(exchange("read"), replaced(b"ud800", b"ufffd")), RELOADED),
        Variation(STRAY, RELOADED),
        Variation(same, RELOADED),
    ),
    "no_duplicate_history": Four(Variation(again(row("records", sequence=4))), Variation(STRAY)),
    "witnesses_agree": Four(
        Variation(without(row("records", sequence=4))),
        Variation(STRAY),
    ),
    "no_false_success": Four(
        Variation(edited(driven("ended"), lambda e: {"body": e.body.replace(b"turn_error", b"turn_complete")}), BLOCKED),
        Variation(STRAY, BLOCKED),
        Variation(same, BLOCKED),
    ),
    "recovery_blocked": Four(
        Variation(edited(driven("blocked"), lambda _: {"body": b'{"recoveryBlocked": false}'}), BLOCKED),
        Variation(cut, BLOCKED),
        Variation(same, BLOCKED),
    ),
    "no_hook_saw_invalid": Four(
        Variation(edited(hooking("start"), moved(10)), HOOKED), Variation(STRAY, HOOKED), Variation(same, HOOKED)
    ),
    "no_post_callback": Four(
        Variation(append("hook_execution", {"state": "planned", "event": "PostToolBatch"}, step=2), HOOKED),
        Variation(STRAY, HOOKED),
        Variation(same, HOOKED),
    ),
    "hook_prefix_kept": Four(
        Variation(append("hook_execution", REPAIRS, step=2), HOOKED), Variation(cut, HOOKED), Variation(same, HOOKED)
    ),
    "marker_completed_from_prefix": Four(
        Variation(edited(appended("hook_execution"), asked(b'\\"executed\\": [\\"breaks', b'\\"executed\\": [\\"repairs')), KILLED),
        Variation(cut, KILLED),
        Variation(same, KILLED),
    ),
    "hook_once": Four(Variation(again(hooking("execute")), HOOKED), Variation(cut, HOOKED), Variation(same, HOOKED)),
    "reapproved": Four(Variation(without(answer(NEW)), CHANGING), Variation(cut, CHANGING), Variation(same, CHANGING)),
    "deny_means_not_run": Four(Variation(RESERVED, DENYING), Variation(STRAY, DENYING), Variation(same, DENYING)),
    "operator_text_agrees": Four(
        Variation(_last("Error: not executed"), DENYING),
        Variation(cut, DENYING),
        Variation(same, DENYING),
    ),
    "no_silent_drop": Four(Variation(_last("Error: no", step=3), SEAM), Variation(cut, SEAM), Variation(same, SEAM)),
    "override_told": Four(Variation(_last("Error: no", step=3), SEAM), Variation(cut, SEAM), Variation(same, SEAM)),
    "error_names_key": Four(Variation(_last("Error: no"), SEAM), Variation(cut, SEAM), Variation(same, SEAM)),
    "suggestion_offered": Four(Variation(_last("Error: no"), SEAM), Variation(cut, SEAM), Variation(same, SEAM)),
    "not_run_with_defaults": Four(
        Variation(again(exchange("execute")), SEAM),
        Variation(STRAY, SEAM),
        Variation(same, SEAM),
    ),
    "policy_denied": Four(
        Variation(_last("Error: no"), GOVERNED),
        Variation(STRAY, GOVERNED),
        Variation(same, GOVERNED),
    ),
    "audited": Four(Variation(without(appended("approval")), GOVERNED), Variation(cut, GOVERNED), Variation(same, GOVERNED)),
    "configuration_refused": Four(
        Variation(edited(driven("create_refused"), lambda _: {"act": "created"}), MISCONFIGURED),
        Variation(STRAY, MISCONFIGURED),
        Variation(same, MISCONFIGURED),
    ),
    "answers_as_declared": Four(
        Variation(edited(on("direct-broker"), lambda _: {"status": 200, "reply": b"{}"}), STRAIGHT),
        Variation(without(driven("requested")), STRAIGHT),
        Variation(same, STRAIGHT),
    ),
    "faults_fired": Four(
        Variation(edited(lambda event: event.kind == "fired", lambda _: {"seen": 0, "times": 0}), BLOCKED),
        Variation(without(lambda event: event.kind == "fired"), BLOCKED),
        Variation(same, BLOCKED),
    ),
    "no_approval_created": Four(
        Variation(append("approval", {"callId": "c1", "state": "requested"}), ASKED),
        Variation(STRAY, ASKED),
        Variation(same, ASKED),
    ),
    "approval_binds": Four(Variation(edited(exchange("prepare"), moved(24)), ASKED), Variation(cut, ASKED), Variation(same, ASKED)),
    "exact_text_in_store": Four(
        Variation(edited(row("records"), respelled), RELOADED),
        Variation(chain(without(row("records", sequence=4)), STRAY), RELOADED),
        Variation(same, RELOADED),
    ),
    "script_followed": Four(
        Variation(edited(request(2), lambda _: {"problems": ("call c1: expected an error, was told the opposite",)})),
        Variation(cut),
    ),
    "turns_end_as_declared": Four(
        Variation(
            edited(
                lambda event: isinstance(event, Driven) and event.act == "ended",
                lambda event: {"body": event.body.replace(b"turn_complete", b"turn_error"), "detail": "turn_error"},
            )
        ),
        Variation(cut),
    ),
}
"""Check → its four histories."""
