"""Ways to fail that only some cases have: on the o2 path, under approvals, in a blocked session, and in the bytes of a text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from harness.ledger.event import Command, Driven, Event, Exchange, Row
from harness.ledger.facts import BROKER_WORKER, HOST_BROKER, HOST_STORE, WORKER_STORE, decoded, publication, sha256
from harness.selftest.checks.cases import ASKED, BLOCKED, BROKEN_OFF, CORRECTED, PUBLISHED, RELOADED
from harness.selftest.checks.change import (
    Change,
    Which,
    added,
    again,
    append,
    appended,
    asked,
    chain,
    edited,
    exchange,
    heard,
    intrusion,
    moved,
    replaced,
    row,
    values,
    without,
)
from harness.selftest.checks.histories import driven, respelled
from harness.selftest.checks.seen import BROKER, PUBLICATION, WORKER
from harness.selftest.checks.survivors import Way

MAIN: dict[str, int | str | None] = {"session_id": "n1-s-main", "harness_session_id": "n1-s-main"}


def published(step: str) -> Which:
    """The requests for this step of a publication."""
    return lambda event: isinstance(event, Exchange) and event.operation == "publication" and publication(event)[0] == step


def state(name: str) -> Which:
    """Appends of approval records in this state."""

    def matches(event: Event) -> bool:
        said = decoded(event.request) if isinstance(event, Exchange) and appended("approval")(event) else {}
        return decoded(str(said.get("text", ""))).get("state") == name

    return matches


def told(**changed: Any) -> Callable[[Any], dict[str, Any]]:
    """An edit of the body of something that the driver noted."""
    return lambda event: {"body": json.dumps(decoded(event.body) | changed).encode("ascii")}


def said(detail: str) -> Callable[[Any], dict[str, Any]]:
    """An edit of the detail of something that the driver noted."""
    return lambda _: {"detail": detail}


def _row(table: str, **found: int | str | None) -> Change:
    return added(Row(database="store", table=table, values=MAIN | found))


def _published(edge: str, path: str, asked: Any) -> Change:
    return intrusion("publication", edge=edge, target=f"{PUBLICATION}/n1-s-main/{path}", asked=asked, reply={})


RESERVED = _published(HOST_STORE, "grants", {"operation": "reserve", "publicationId": "p9", "executionCallId": "e9"})
FINISHED = _published(WORKER_STORE, "publications/p9/finished", {"executionCallId": "e9"})
REGISTER = f"{BROKER}/tool-sessions/r:register-publisher"
REGISTERED = intrusion("publisher", edge=HOST_BROKER, target=REGISTER, asked={"bindingGeneration": 1}, reply={}, step=2)
BOUND = chain(
    added(Row(database="broker", table="executions", values=MAIN | {"execution_call_id": "e9", "tool_call_id": "c2"})),
    added(Row(database="broker", table="bindings", values=MAIN | {"execution_call_id": "e9", "publication_id": "p9"})),
)
O2: tuple[Way, ...] = (
    ("zero_publication", "publication seen by relay host-store (#8, session main) after refused step 1", PUBLISHED, RESERVED),
    (
        "zero_publication",
        "after refused step 1; SQL: grants row publication p9",
        PUBLISHED,
        chain(RESERVED, _row("grants", publication_id="p9", execution_call_id="e9")),
    ),
    ("zero_publication", "publication seen by relay worker-store (#8, session main)", PUBLISHED, FINISHED),
    ("zero_publication", "publication seen by relay worker-store (#8, session main)", CORRECTED, FINISHED),
    ("zero_publication", "publisher registered (#14) on the o2 path", PUBLISHED, REGISTERED),
    ("zero_publication", "publishers row generation 1 on the o2 path", PUBLISHED, _row("publishers", generation=1)),
    (
        "zero_publication",
        "SQL has 2 grants rows of 2 publications",
        PUBLISHED,
        _row("grants", publication_id="p9"),
    ),
    *(
        (
            "zero_publication",
            f"call c2 of step 1, session main: SQL {table} row in state OPEN",
            case,
            chain(BOUND, _row(table, publication_id="p9", execution_call_id="e8", state="OPEN")),
        )
        for table in ("grants", "publications", "admissions", "receipts")
        for case in (PUBLISHED, CORRECTED)
    ),
    ("admitted_order", "no grant was accepted in its place", PUBLISHED, without(published("reserve"))),
    ("admitted_order", "no finished by the worker was accepted in its place", PUBLISHED, without(published("finished"))),
    ("admitted_order", "no admission was accepted in its place", PUBLISHED, without(published("admissions/prepare"))),
    ("admitted_order", "no commit of the receipt was accepted", PUBLISHED, without(published("receipts/commit"))),
    (
        "admitted_order",
        "finished by the worker (#28) was asked for",
        PUBLISHED,
        edited(published("finished"), moved(28)),
    ),
    ("admitted_order", "start (#26) was asked for before grant was answered", PUBLISHED, edited(exchange("start"), moved(26))),
    ("admitted_order", "admission (#33) was asked for before", PUBLISHED, edited(published("admissions/prepare"), moved(33))),
    ("admitted_order", "tool_result append was answered", PUBLISHED, edited(exchange("acknowledge"), moved(20))),
    *(
        ("witnesses_agree", f"SQL {table} has 0", PUBLISHED, without(row(table)))
        for table in ("grants", "publications", "admissions", "receipts")
    ),
    ("witnesses_agree", "SQL receipts has 1", CORRECTED, _row("receipts", publication_id="p9")),
)
C1 = {"callId": "c1", "approvalId": "a9", "state": "requested"}
PREPARE = f"{BROKER}/executions:prepare"
PREPARED = intrusion("prepare", edge=HOST_BROKER, target=PREPARE, asked={"toolCallId": "c5"}, reply={}, step=2)
GOOD_NEWS = heard(3, lambda m: [*m[:-1], m[-1] | {"text": "exit 0"}])
APPROVALS: tuple[Way, ...] = (
    (
        "no_approval_created",
        "append of an approval (#8) seen by relay host-store",
        ASKED,
        append("approval", C1),
    ),
    ("no_approval_created", "call c1 of step 1, session main: approval record requested", ASKED, append("approval", C1, step=2)),
    (
        "no_approval_created",
        "call c2 of step 1, session main: approval record 6 in SQL",
        ASKED,
        edited(row("records", sequence=6), replaced(b'"c3"', b'"c2"')),
    ),
    (
        "no_approval_created",
        "call c1 of step 1, session main: the driver saw it pending",
        ASKED,
        added(Driven(order=9, act="asked", session="main", detail="c1")),
    ),
    ("approval_binds", "its approval records are none, not requested and allowed", ASKED, without(appended("approval"))),
    ("approval_binds", "its approval records are requested, not requested and allowed", ASKED, without(state("allowed"))),
    (
        "approval_binds",
        "requested, denied, not requested",
        ASKED,
        edited(state("allowed"), asked(b"allowed", b"denied")),
    ),
    (
        "approval_binds",
        "c5 of step 2, session main: its approval records are requested, allowed",
        ASKED,
        edited(state("denied"), asked(b"denied", b"allowed")),
    ),
    ("approval_binds", "are of several approvals", ASKED, edited(state("allowed"), asked(b":approval", b":approvals"))),
    (
        "approval_binds",
        "SQL has the approval records requested, the relay requested, allowed",
        ASKED,
        without(row("records", sequence=7)),
    ),
    (
        "approval_binds",
        "the inputDigest of the requested record is not that of the model's arguments",
        ASKED,
        edited(state("requested"), asked(b"sha256:", b"sha256:0")),
    ),
    ("approval_binds", "0 answer(s) were accepted, and it was allowed", ASKED, without(exchange("answer"))),
    ("approval_binds", "2 answer(s) were accepted, and it was allowed", ASKED, again(exchange("answer"))),
    ("approval_binds", "has another decision or inputDigest", ASKED, edited(exchange("answer"), asked(b"sha256:", b"sha256:0"))),
    ("approval_binds", "has another decision or inputDigest", ASKED, edited(exchange("answer"), asked(b'"allow"', b'"deny"'))),
    ("approval_binds", "was not given between question and settlement", ASKED, edited(exchange("answer"), moved(90))),
    ("approval_binds", "before its approval was on record", ASKED, edited(exchange("prepare"), moved(24))),
    ("approval_binds", "though it was denied", ASKED, PREPARED),
    ("approval_binds", "no prepare followed its approval", ASKED, without(exchange("prepare"))),
    ("approval_binds", "the driver never saw its question", ASKED, without(driven("asked"))),
    ("approval_binds", "several questions of session main were pending", ASKED, edited(driven("asked"), told(pending=2))),
    ("approval_binds", "came in another order than its calls", ASKED, edited(lambda e: _about(e, "c5"), moved(22))),
    ("approval_binds", "before the one before it was settled", ASKED, edited(lambda e: _about(e, "c5", "requested"), moved(26))),
    (
        "approval_binds",
        "a late answer in session main was not refused",
        ASKED,
        edited(lambda e: driven("answered")(e) and b"true" in getattr(e, "body", b""), lambda _: {"detail": "accepted"}),
    ),
    ("approval_binds", "0 of 1 late answers were given", ASKED, without(driven("answered"))),
    ("no_false_success", "denied: prepare seen by relay host-broker", ASKED, PREPARED),
    (
        "result_reaches_model",
        "the model was told that call c5 of step 2 of session main, which was denied, went well",
        ASKED,
        GOOD_NEWS,
    ),
    ("no_false_success", "denied: a result that is no error in model request", ASKED, GOOD_NEWS),
    ("result_reaches_model", "0 results of call c5", ASKED, heard(3, lambda m: m[:-1])),
)


def _about(event: Event, call: str, only: str = "") -> bool:
    said = decoded(event.request) if isinstance(event, Exchange) and appended("approval")(event) else {}
    body = decoded(str(said.get("text", "")))
    return body.get("callId") == call and only in ("", body.get("state"))


def _record(sequence: int, body: dict[str, Any], kind: str = "session") -> Change:
    text = json.dumps(body).encode("ascii")
    return added(Row(database="store", table="records", values=MAIN | {"sequence": sequence, "kind": kind}, blobs={"text": text}))


def _execution(**found: int | str | None) -> Change:
    at: dict[str, int | str | None] = {"execution_call_id": "e9", "tool_call_id": "c6"}
    return added(Row(database="broker", table="executions", values=MAIN | at | found))


SUCCESS = {"event": "turn_complete", "promptId": "p2"}
GOOD_RESULT = {"role": "tool_result", "promptId": "p2", "results": [{"id": "c6", "isError": False}]}
LOST = b"printf lost > lost.txt"
SPAWNED = Command(order=70, digest=sha256(LOST), length=len(LOST), prefix=LOST, directory="d")
EXECUTE = f"{WORKER}/executions"
EXECUTED = intrusion("execute", edge=BROKER_WORKER, target=EXECUTE, asked={"executionCallId": "e9"}, reply={}, step=3)
BLOCKS: tuple[Way, ...] = (
    ("recovery_blocked", "does not say recoveryBlocked", BLOCKED, edited(driven("blocked"), told(recoveryBlocked=False))),
    (
        "recovery_blocked",
        "another prompt to session main",
        BLOCKED,
        edited(driven("blocked"), said("the prompt was taken")),
    ),
    ("recovery_blocked", "looked at 0 of 1 times", BLOCKED, without(driven("blocked"))),
    (
        "recovery_blocked",
        "was refused with another code",
        BLOCKED,
        edited(driven("load_refused"), said("session_busy")),
    ),
    ("recovery_blocked", "0 of 1 loads of session main were refused", BLOCKED, without(driven("load_refused"))),
    ("recovery_blocked", "its load must be refused", BLOCKED, edited(driven("load_refused"), lambda _: {"act": "loaded"})),
    ("recovery_blocked", "saw 0 prompt refused so", BLOCKED, edited(exchange("prompt"), lambda _: {"reply": b"{}"})),
    ("recovery_blocked", "saw 0 load refused so", BLOCKED, without(exchange("load"))),
    (
        "turns_end_as_declared",
        "turn 2 of session main was seen to end, though nobody can know",
        BROKEN_OFF,
        edited(driven("load_refused"), lambda _: {"act": "ended"}),
    ),
    ("no_false_success", "SQL has a turn_complete of prompt p2", BROKEN_OFF, _record(90, SUCCESS)),
    ("no_false_success", "SQL has a turn_complete of prompt p2", BLOCKED, _record(90, SUCCESS)),
    ("no_false_success", "an append on host-store has a turn_complete of prompt p2", BLOCKED, append("session", SUCCESS, step=3)),
    (
        "no_false_success",
        "the transcript of session main has a turn_complete of prompt p2",
        BLOCKED,
        edited(driven("ended"), lambda e: {"body": e.body.replace(b"turn_error", b"turn_complete")}),
    ),
    (
        "no_false_success",
        "no transcript of session main shows that prompt p2 ended in an error",
        BLOCKED,
        edited(driven("ended"), lambda e: {"body": e.body.replace(b"turn_error", b"turn_end")}),
    ),
    (
        "no_false_success",
        "abandoned: a result that is no error in SQL",
        BLOCKED,
        _record(90, GOOD_RESULT, "message.committed"),
    ),
    ("no_false_success", "no error in an append on host-store", BLOCKED, append("message.committed", GOOD_RESULT, step=3)),
    (
        "no_false_success",
        "denied: a result that is no error in the transcript",
        ASKED,
        edited(driven("ended"), lambda e: {"body": e.body.replace(b"true", b"false")}),
    ),
    ("no_false_success", "process: its command was spawned", BLOCKED, added(SPAWNED)),
    ("no_false_success", "SQL executions row is settled/success", BLOCKED, _execution(state="settled", result="success")),
    ("no_false_success", "execute seen by relay broker-worker", BLOCKED, chain(_execution(state="executing"), EXECUTED)),
    (
        "lease_released",
        "generation 2 was never released",
        BLOCKED,
        edited(row("leases", generation=2), values(released_ms=None)),
    ),
)
TEXTS: tuple[Way, ...] = (
    (
        "exact_text_in_store",
        "SQL: the text of record 3 of session main differs",
        CORRECTED,
        edited(row("records", sequence=3), respelled),
    ),
    ("exact_text_in_store", "SQL has no record 4 of session main", CORRECTED, without(row("records", sequence=4))),
    (
        "exact_text_in_store",
        "read (#25) of record 3 of session main: the text differs from byte",
        RELOADED,
        edited(exchange("read"), replaced(rb"ud800", rb"uD800")),
    ),
    (
        "exact_text_in_store",
        "record 1 of session main: the text differs from byte 9 on",
        RELOADED,
        edited(exchange("read"), replaced(rb"{\"event\": \"created\"", rb"{\"event\":\"created\"")),
    ),
    (
        "exact_text_in_store",
        "SQL: the text of record 1 of session main differs from byte 19 on (20 bytes appended, 40 found)",
        CORRECTED,
        edited(row("records", sequence=1), replaced(b'"created"', b'"created", "event": "created"')),
    ),
)
MORE: tuple[Way, ...] = (*O2, *APPROVALS, *BLOCKS, *TEXTS)
