"""Ways to fail that mutants of the reference host once survived: what the witnesses would see of each, and who must notice."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from harness.ledger.event import Driven, Event, Exchange, Ledger, ModelExchange
from harness.ledger.facts import HOST_STORE
from harness.scenario.spec import Case
from harness.selftest.checks.cases import CORRECTED, OWNED, RELOADED
from harness.selftest.checks.change import (
    Change,
    added,
    append,
    appended,
    asked,
    chain,
    doubted,
    edited,
    exchange,
    heard,
    intrusion,
    moved,
    replaced,
    request,
    row,
    values,
    without,
)
from harness.selftest.checks.seen import STORE

Way = tuple[str, str, Case, Change]
"""(check, words of its finding, case, how its good history changes)."""
ECHO = "zq1-canary"
HELD = doubted("the broker holds open work at the end: lease generation 1 is held")
UNRELEASED = edited(row("leases"), values(released_ms=None))


def _driven(act: str) -> Any:
    return lambda event: isinstance(event, Driven) and event.act == act


def _added_message(role: str, text: str) -> Change:
    """The second request holds one message more, before the results."""
    message = {"role": role, "text": text, "calls": [], "call": ""}
    return heard(2, lambda messages: [*messages[:-2], message, *messages[-2:]])


def _put(step: int) -> Change:
    seen = intrusion("resource", edge=HOST_STORE, target=f"{STORE}/s/resources/sha256:1", asked={}, reply={}, step=step)
    return chain(seen, edited(lambda e: isinstance(e, Exchange) and e.target.endswith("sha256:1"), lambda _: {"method": "PUT"}))


def _let_in(event: Event) -> bool:
    return isinstance(event, Exchange) and event.status == 409


def _swapped(one: int, two: int) -> Change:
    """Two exchanges came the other way round."""
    places = {one: two, two: one}
    at = lambda event: isinstance(event, Exchange) and event.order in places  # noqa: E731 - reads best in place
    return edited(at, lambda event: {"order": places[event.order], "finished": places[event.order] + 1})


def _written(operation: str) -> Change:
    """The load itself wrote something."""
    seen = intrusion(operation, edge=HOST_STORE, target=f"{STORE}/s/x", asked={}, reply={}, step=2)
    return chain(seen, edited(lambda e: isinstance(e, Exchange) and e.target.endswith("/s/x"), moved(26)))


def _asked_twice(ledger: Ledger) -> Ledger:
    """The second request was sent twice."""
    first = next(e for e in ledger.events if isinstance(e, ModelExchange) and request(2)(e))
    return added(first.model_copy(update={"order": first.finished, "repeated": True}))(ledger)


def _read_more(event: Any) -> dict[str, Any]:
    found = json.loads(event.reply)
    more = {"sequence": len(found["records"]) + 1, "kind": "session", "text": "{}"}
    return {"reply": json.dumps({"records": [*found["records"], more]}).encode("ascii")}


ERRORS = appended("message.committed", "tool_result")
SAID = appended("message.committed", "assistant")
ERROR = b"argument command is not well-formed text"
ON_THE_WIRE = edited(ERRORS, asked(ERROR, f"command {ECHO[:5]}".encode()))
STATIONS = (17, 19, 21, 23, 25, 27, 29, 36, 38, 40, 42)
"""Where the good history has the stations of its admitted call."""
LEASES: tuple[Way, ...] = (
    ("lease_released", "SQL: leases row generation 1 was never released", CORRECTED, chain(UNRELEASED, HELD)),
    ("lease_released", "workspaces row is held by r1", CORRECTED, chain(edited(row("workspaces"), values(holder="r1")), HELD)),
    ("lease_released", "generation 1 was never released", CORRECTED, chain(UNRELEASED, doubted("a stray exchange"))),
    ("lease_released", "has no release after its last work", CORRECTED, chain(without(exchange("release")), HELD)),
    ("owner_kept", "session second was granted the workspace", OWNED, edited(_let_in, lambda _: {"status": 200})),
    (
        "owner_kept",
        "session second was not told workspace_busy within 15 s",
        OWNED,
        edited(_driven("busy_seen"), lambda _: {"act": "busy_not_seen", "detail": "within 15 s"}),
    ),
    ("owner_kept", "session second was never seen to be told", OWNED, without(_driven("busy_seen"))),
)
REFUSALS: tuple[Way, ...] = (
    ("refusal_appends_nothing_else", "append of checkpoint (#8)", CORRECTED, append("checkpoint", {})),
    ("refusal_appends_nothing_else", "append of tool.receipt (#8)", CORRECTED, append("tool.receipt", {"callId": "c2"})),
    ("refusal_appends_nothing_else", "append of approval (#8)", CORRECTED, append("approval", {"callId": "c1"})),
    ("refusal_appends_nothing_else", "append of session (#8)", CORRECTED, append("session", {"event": "turn_complete"})),
    ("refusal_appends_nothing_else", "message.committed user", CORRECTED, append("message.committed", {"role": "user"})),
    ("refusal_appends_nothing_else", "resource put (#8) seen by relay host-store", CORRECTED, _put(1)),
    (
        "refusal_appends_nothing_else",
        "call c2 of step 1, session main: tool.intent record in relay host-store",
        CORRECTED,
        append("tool.intent", {"callId": "c2"}, step=2),
    ),
    (
        "refusal_appends_nothing_else",
        "call c1 of step 1, session main: checkpoint record in SQL",
        CORRECTED,
        edited(row("records", kind="checkpoint"), replaced(b"c3", b"c1")),
    ),
    (
        "refusal_appends_nothing_else",
        "the errors of refused step 1 of session main were appended before",
        CORRECTED,
        edited(lambda e: ERRORS(e) and getattr(e, "order", 0) < 13, moved(8)),
    ),
    ("names_field_not_value", "message.committed record 4 (appended on host-store)", CORRECTED, ON_THE_WIRE),
    (
        "names_field_not_value",
        "message.committed record 4 (SQL) after refused step 1 of session main echoes",
        CORRECTED,
        edited(row("records", sequence=4), replaced(ERROR, b"command zq1-")),
    ),
    (
        "names_field_not_value",
        "the transcript's results of refused step 1 of session main echoes",
        CORRECTED,
        edited(_driven("ended"), lambda e: {"body": e.body.replace(ERROR, b"command was (zq1-c)")}),
    ),
    (
        "names_field_not_value",
        "a new system message after refused step 1 of session main echoes",
        CORRECTED,
        _added_message("system", '{"command": "printf zq1-canary > broken.txt"}'),
    ),
    ("names_field_not_value", "a new user message after refused step 1", CORRECTED, _added_message("user", ECHO)),
    (
        "names_field_not_value",
        "a new system message after refused step 1",
        CORRECTED,
        heard(2, lambda m: [{"role": "system", "text": "ZQ1-", "calls": [], "call": ""}, *m]),
    ),
    (
        "names_field_not_value",
        "a system message in model request #44 after refused step 1",
        CORRECTED,
        heard(3, lambda m: [*m[:-1], {"role": "system", "text": ECHO, "calls": [], "call": ""}, m[-1]]),
    ),
)
ADMITTED: tuple[Way, ...] = (
    (
        "bytes_identical",
        "the payload of start on host-broker (#78) has another value in 1 of 2 keys",
        OWNED,
        edited(exchange("start"), asked(rb"e\\u0301", rb"\\u00e9")),
    ),
    ("bytes_identical", "has another value in 1 of 2", OWNED, edited(exchange("execute"), asked(b": 400}", b": 400.0}"))),
    ("bytes_identical", "has other keys", OWNED, edited(exchange("execute"), asked(rb"\"timeout\": 400", rb"\"Timeout\": 400"))),
    ("bytes_identical", "is for another tool", CORRECTED, edited(exchange("execute"), asked(b"run_shell_command", b"shell"))),
    ("bytes_identical", "each key once", OWNED, edited(exchange("start"), asked(b": 400}", rb": 1, \"timeout\": 400}"))),
    ("bytes_identical", "no start on host-broker was seen", CORRECTED, without(exchange("start"))),
    (
        "digest_unchanged",
        "argsDigest of tool.intent 6 in relay host-store",
        CORRECTED,
        edited(appended("tool.intent"), asked(b"sha256:", b"sha256:0")),
    ),
    (
        "digest_unchanged",
        "argsDigest of tool.intent 6 in SQL",
        CORRECTED,
        edited(row("records", kind="tool.intent"), replaced(b"sha256:", b"sha256:0")),
    ),
    ("digest_unchanged", "keeps another requestDigest", CORRECTED, edited(row("executions"), values(request_digest="sha256:0"))),
    ("digest_unchanged", "no tool.intent appended on host-store", CORRECTED, without(appended("tool.intent"))),
    ("admitted_order", "no acquire was accepted in its place", CORRECTED, without(exchange("acquire"))),
    ("admitted_order", "no publisher was accepted in its place", CORRECTED, without(exchange("publisher"))),
    ("admitted_order", "no publisher was accepted", CORRECTED, edited(exchange("publisher"), asked(b": 1}", b": 9}"))),
    ("admitted_order", "no assistant append was accepted in its place", CORRECTED, without(SAID)),
    ("admitted_order", "no resource put of its capture was accepted", CORRECTED, without(exchange("resource"))),
    ("admitted_order", "no tool.receipt append was accepted in its place", CORRECTED, without(appended("tool.receipt"))),
    ("admitted_order", "no acknowledge was accepted in its place", CORRECTED, without(exchange("acknowledge"))),
    ("admitted_order", "no checkpoint append was accepted", CORRECTED, edited(appended("checkpoint"), lambda _: {"status": 409})),
    *(("admitted_order", f"(#{one}) was asked for before", CORRECTED, _swapped(one, two)) for one, two in pairwise(STATIONS)),
)
HOST: tuple[Way, ...] = (
    ("script_followed", "is the one before, sent again without a fault", CORRECTED, _asked_twice),
    ("reload_identical", "append seen by relay host-store (#26) after the load (#23)", RELOADED, _written("append")),
    ("reload_identical", "resource seen by relay host-store (#26) after the load (#23)", RELOADED, _written("resource")),
    ("reload_identical", "1 records that were never appended were read back", RELOADED, edited(exchange("read"), _read_more)),
)
SURVIVORS: tuple[Way, ...] = (*LEASES, *REFUSALS, *ADMITTED, *HOST)
