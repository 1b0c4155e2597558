"""Every claim inside a check can go red by itself: one change to a good history each, and the words that tell it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.checks.table import CHECKS, judge
from harness.ledger.event import Command, Event, Exchange, Ledger, Row, Tree
from harness.ledger.facts import BROKER_WORKER, HOST_BROKER, sha256
from harness.scenario.spec import Case
from harness.selftest.checks.cases import CORRECTED, RELOADED, SECOND
from harness.selftest.checks.change import (
    Change,
    added,
    again,
    chain,
    edited,
    exchange,
    heard,
    intrusion,
    replaced,
    request,
    row,
    values,
    without,
)
from harness.selftest.checks.hook_ways import HOOK_WAYS
from harness.selftest.checks.perfect import Perfect
from harness.selftest.checks.seen import BROKER, WORKER
from harness.selftest.checks.survivors import SURVIVORS, Way
from harness.selftest.checks.ways import MORE


def _told(text: str, *, place: int = -1) -> Change:
    return heard(2, lambda messages: [m | {"text": text} if m is messages[place] else m for m in messages])


def _after(edit: Any) -> Change:
    return edited(lambda event: isinstance(event, Tree) and event.moment == "after", edit)


def _bytes(content: bytes) -> Change:
    return _after(lambda tree: {"entries": (tree.entries[0].model_copy(update={"content": content}),)})


def _command(text: bytes) -> Command:
    return Command(order=8, digest=sha256(text), length=len(text), prefix=text, directory="d")


def _after_load(operation: str) -> Change:
    path = f"{BROKER}/tool-sessions:{operation}"
    seen = intrusion(operation, edge=HOST_BROKER, target=path, asked={}, reply={}, step=2)
    at = lambda event: isinstance(event, Exchange) and event.operation == operation  # noqa: E731 - reads best in place
    return chain(seen, edited(at, lambda _: {"order": 27}))


def _loaded_transcript(event: Any) -> dict[str, Any]:
    return {"body": event.body.replace(b'"p1"', b'"p9"')}


def _is_loaded(event: Event) -> bool:
    return event.kind == "driven" and getattr(event, "act", "") == "loaded"


EXECUTE = intrusion("execute", edge=BROKER_WORKER, target=f"{WORKER}/executions", asked={}, reply={})
START = intrusion("start", edge=HOST_BROKER, target=f"{BROKER}/executions/e9:start", asked={}, reply={})
LEASE = Row(database="broker", table="leases", values={"harness_session_id": "n1-s-main", "generation": 9, "released_ms": 1})
WAYS: tuple[Way, ...] = (
    ("zero_acquisition", "SQL has 2 leases rows of 2 generations, the relay saw 1", CORRECTED, added(LEASE)),
    ("zero_execution", "execute seen by relay broker-worker (#8", CORRECTED, EXECUTE),
    ("zero_execution", "start seen by relay host-broker (#8", CORRECTED, START),
    ("zero_execution", "was spawned after refused step 1", CORRECTED, added(_command(b"date"))),
    ("zero_execution", "SQL executions row in state settled", CORRECTED, edited(row("executions"), values(tool_call_id="c2"))),
    ("zero_side_effects", "'out.txt' is missing", CORRECTED, _after(lambda _: {"entries": ()})),
    ("zero_side_effects", "does not hold the declared bytes", CORRECTED, _bytes(b"ho")),
    ("ordered_paired_errors", "call c2 after refused step 1 of session main is not an error", CORRECTED, _told("fine")),
    ("ordered_paired_errors", "does not say that it was not executed", CORRECTED, _told("Error: no")),
    ("ordered_paired_errors", "SQL has 1 assistant and 0 tool_result", CORRECTED, without(row("records", sequence=4))),
    (
        "ordered_paired_errors",
        "SQL: a result of refused step 1 of session main is not marked",
        CORRECTED,
        edited(row("records", sequence=4), replaced(b"true", b"false")),
    ),
    (
        "names_field_not_value",
        "call c1 after refused step 1 of session main does not name",
        CORRECTED,
        _told("Error: no", place=-2),
    ),
    ("names_field_not_value", "holds a surrogate or its replacement", CORRECTED, _told("Error: not \ufffd")),
    ("names_field_not_value", "holds a surrogate or its replacement", CORRECTED, _told("Error: not \\uDEAD")),
    (
        "arguments_preserved",
        "model request #13 of session main: call 1 (c1) has another argument text",
        CORRECTED,
        edited(request(2), lambda found: {"heard": found.heard.replace(b"ud800", b"ufffd")}),
    ),
    (
        "exactly_one_execution",
        "SQL executions row is executing/None",
        CORRECTED,
        edited(row("executions"), values(state="executing", result=None)),
    ),
    ("exactly_one_execution", "no start was acknowledged", CORRECTED, without(exchange("start"))),
    (
        "exactly_one_execution",
        "an id that host-broker never prepared",
        CORRECTED,
        edited(row("executions"), values(execution_call_id="e9")),
    ),
    ("exactly_one_execution", "spawned: 0, not 1", CORRECTED, without(lambda event: event.kind == "command")),
    ("result_reaches_model", "no model request followed step 2", CORRECTED, without(request(3))),
    ("result_reaches_model", "was told that call c3", CORRECTED, heard(3, lambda m: [*m[:-1], m[-1] | {"text": "Error: x"}])),
    ("lease_released", "workspaces row is held by r1", CORRECTED, edited(row("workspaces"), values(holder="r1"))),
    ("lease_released", "has no release after its last work", CORRECTED, without(exchange("release"))),
    ("second_session_completes", "has not settled with success", SECOND, edited(row("executions"), values(result="error"))),
    ("reload_identical", "the transcript after the load (#23)", RELOADED, edited(_is_loaded, _loaded_transcript)),
    ("reload_identical", "appended records were not read back", RELOADED, without(exchange("read"))),
    ("reload_identical", "has another message 3", RELOADED, heard(3, lambda m: [x | {"text": "x"} if x is m[2] else x for x in m])),
    ("reload_identical", "does not repeat the model's last answer", RELOADED, heard(3, lambda m: [*m[:3], *m[4:]])),
    ("reload_identical", "acquire seen by relay host-broker (#27) after the load (#23)", RELOADED, _after_load("acquire")),
    ("no_duplicate_history", "sequences of session main are not 1 to 10", CORRECTED, without(row("records", sequence=2))),
    ("no_duplicate_history", "model request #13 of session main holds result c2 twice", CORRECTED, heard(2, lambda m: [*m, m[-1]])),
    (
        "no_duplicate_history",
        "2 assistant records of session main ask for the same call(s), first c1",
        CORRECTED,
        chain(again(row("records", sequence=3)), without(row("records", sequence=4))),
    ),
    ("witnesses_agree", "SQL executions has 0", CORRECTED, without(row("executions"))),
    ("witnesses_agree", "SQL executions that are started has 0", CORRECTED, edited(row("executions"), values(started_ms=None))),
    ("witnesses_agree", "process record has 2", CORRECTED, added(_command(b"date"))),
    ("witnesses_agree", "SQL resources has 0", CORRECTED, without(row("resources"))),
    ("script_followed", "was served 2 times", CORRECTED, again(request(1))),
    (
        "script_followed",
        "model request #44 of session main matched no step",
        CORRECTED,
        edited(request(3), lambda _: {"step": None}),
    ),
    (
        "turns_end_as_declared",
        "the transcript has 2 ends of turn 1 of session main, not 1",
        CORRECTED,
        edited(lambda event: bool(getattr(event, "detail", "")), lambda e: {"body": _twice(e.body)}),
    ),
)


def _twice(body: bytes) -> bytes:
    events = json.loads(body or b'{"events": []}')["events"]
    return json.dumps({"events": events * 2}).encode("ascii")


def _result(check: str, ledger: Ledger) -> tuple[str, str]:
    (result,) = judge(ledger, [row for row in CHECKS if row.id == check])
    return result.verdict.value, result.finding


ALL = (*WAYS, *SURVIVORS, *MORE, *HOOK_WAYS)


@pytest.mark.parametrize(("check", "words", "case", "change"), ALL, ids=[f"{way[0]}-{n}" for n, way in enumerate(ALL)])
def test_each_claim_of_a_check_can_go_red(check: str, words: str, case: Case, change: Change) -> None:
    good = Perfect(case).play()
    before, (verdict, finding) = _result(check, good), _result(check, change(good))
    assert before[0] != "fail"
    assert verdict == "fail", finding
    assert words in finding
