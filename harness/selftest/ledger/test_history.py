"""The vocabulary of checks, on a perfect play."""

from __future__ import annotations

import pytest

from harness.ledger.event import Driven, Exchange, ModelExchange
from harness.ledger.facts import HOST_BROKER, canonical, decoded, execution_id, input_digest, publication, subject, utf8
from harness.ledger.history import History
from harness.selftest.checks.cases import CORRECTED, PUBLISHED, RELOADED, SECOND
from harness.selftest.checks.change import added, edited, emptied, request, row, without
from harness.selftest.checks.perfect import Perfect

HISTORY = History(Perfect(CORRECTED).play())
HISTORY_EMPTY = emptied(Perfect(CORRECTED).play())


def test_steps_are_served_in_order_with_the_request_that_follows() -> None:
    refused, corrected, done = HISTORY.served
    assert [step.number for step in HISTORY.served] == [1, 2, 3]
    assert refused.after is corrected.request
    assert corrected.after is done.request
    assert done.after is None
    assert HISTORY.refused == (refused,)


def test_a_window_goes_from_the_serving_request_to_the_next_one() -> None:
    first, second, last = HISTORY.served
    assert [first.covers(order) for order in (6, 7, 12, 13)] == [False, True, True, False]
    assert HISTORY.exchanges(HOST_BROKER, window=first) == ()
    assert [e.operation for e in HISTORY.exchanges(HOST_BROKER, "acquire", "prepare", window=second)] == ["acquire", "prepare"]
    assert last.covers(10_000)


def test_a_repeated_request_neither_serves_nor_ends_a_window() -> None:
    played = Perfect(CORRECTED).play()
    served = next(e for e in played.events if isinstance(e, ModelExchange) and request(1)(e))
    retry = served.model_copy(update={"order": served.finished, "repeated": True})
    assert History(added(retry)(played)).served == HISTORY.served
    assert History(added(retry)(played)).retries == (retry,)


def test_a_served_step_knows_its_turn_and_whether_the_script_ends_it() -> None:
    steps = History(Perfect(RELOADED).play()).served
    assert [(step.turn, step.ends_turn) for step in steps] == [(0, False), (0, True), (3, True)]


def test_a_session_has_ended_when_each_of_its_prompts_has() -> None:
    ended = without(lambda event: isinstance(event, Driven) and (event.act, event.detail) == ("ended", "turn_complete"))
    refused = added(Driven(order=900, act="refused", session="main", detail="prompt_active"))
    played = Perfect(CORRECTED).play()
    assert [History(ledger).ended("main") for ledger in (played, ended(played), refused(ended(played)))] == [True, False, True]


def test_a_call_is_found_in_the_step_that_asked_for_it() -> None:
    (planned,) = HISTORY.planned("executed")
    assert HISTORY.step_of(planned) == HISTORY.served[1]
    assert History(HISTORY_EMPTY).step_of(planned) is None


def test_rows_and_records_belong_to_their_session() -> None:
    history = History(Perfect(SECOND).play())
    assert [len(history.rows("leases", session)) for session in ("first", "second")] == [0, 1]
    assert len(history.rows("records")) == sum(len(history.records(session)) for session in ("first", "second"))


def test_records_on_the_wire_and_in_sql_are_the_same_values() -> None:
    on_wire, in_sql = HISTORY.appended("main"), HISTORY.records("main")
    assert [(r.sequence, r.kind, r.text) for r in on_wire] == [(r.sequence, r.kind, r.text) for r in in_sql]
    assert [role for r in in_sql if (role := r.role)] == [
        "user",
        "assistant",
        "tool_result",
        "assistant",
        "tool_result",
        "assistant",
    ]


def test_a_trace_gathers_what_every_witness_saw_of_a_call() -> None:
    (planned,) = HISTORY.planned("executed")
    trace = HISTORY.trace(planned)
    assert trace.ids == {"exec-1"}
    assert [len(t) for t in (trace.prepares, trace.starts, trace.executes, trace.rows, trace.commands)] == [1] * 5
    assert trace.settled


def test_unserved_steps_are_named() -> None:
    ledger = Perfect(RELOADED).play()
    history = History(ledger.model_copy(update={"events": ()}))
    assert history.unserved == tuple(f"step {n} of session main" for n in (1, 2, 3))


@pytest.mark.parametrize("raw", [b"", b"<html>", b"[]", b"\xff\xfe", b'"text"', "{"])
def test_what_is_no_json_object_decodes_to_nothing(raw: bytes | str) -> None:
    assert decoded(raw) == {}


def test_canonical_json_is_the_same_for_the_same_values_and_no_others() -> None:
    assert canonical({"b": 1, "a": "\u00e9\ud83d"}) == rb'{"a":"\u00e9\ud83d","b":1}'
    assert len({canonical(value) for value in (1, 1.0, True, "1", "\u00e9", "e\u0301")}) == 6
    assert input_digest({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_lone_surrogates_keep_their_bytes() -> None:
    assert utf8(decoded(rb'{"text": "\ud83d"}')["text"]) == b"\xed\xa0\xbd"


def test_an_id_with_colons_is_read_whole_from_a_path() -> None:
    found = next(e for e in HISTORY.exchanges(HOST_BROKER, "start"))
    odd = found.model_copy(update={"target": "/internal/runtime-broker/v1/executions/a:b.c:start?x=/y:z"})
    assert isinstance(odd, Exchange)
    assert execution_id(odd) == subject(odd) == "a:b.c"


def test_the_text_of_a_record_is_read_from_a_column_of_any_type() -> None:
    as_words = edited(row("records"), lambda e: {"blobs": {}, "values": e.values | {"text": e.blobs["text"].decode()}})
    played = Perfect(CORRECTED).play()
    assert History(as_words(played)).records("main") == History(played).records("main")


def test_a_publication_request_says_what_it_does_and_to_which_publication() -> None:
    seen = History(Perfect(PUBLISHED).play()).publications()
    assert [publication(e) for e in seen] == [
        (step, "n1-exec-1:publication") for step in ("reserve", "finished", "admissions/prepare", "receipts/commit")
    ]
