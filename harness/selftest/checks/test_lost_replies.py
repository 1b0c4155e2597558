"""A lost reply is no contradiction: what is asked again counts once, and what a blocked session must leave open is no doubt."""

from __future__ import annotations

import pytest

from harness.checks.table import judge
from harness.ledger.event import Exchange, Ledger, Row
from harness.ledger.facts import HOST_BROKER
from harness.ledger.history import History
from harness.selftest.checks.cases import ASKED, BLOCKED, CORRECTED, PUBLISHED
from harness.selftest.checks.change import (
    Change,
    Which,
    appended,
    chain,
    doubted,
    edited,
    exchange,
    intrusion,
    row,
    values,
    without,
)
from harness.selftest.checks.perfect import Perfect
from harness.selftest.checks.seen import BROKER
from harness.selftest.checks.ways import published, state

LOST = {"status": None, "reply": b"", "fault": "lose_reply"}


def asked_again(which: Which) -> Change:
    """The reply to each was lost, and the same was asked once more, with success."""

    def apply(ledger: Ledger) -> Ledger:
        events = []
        for event in ledger.events:
            # Both share the moment: nothing else may come between them.
            events += [event.model_copy(update=LOST), event] if which(event) else [event]
        return ledger.model_copy(update={"events": tuple(events)})

    return apply


def unanswered(which: Which) -> Change:
    """It took effect, and no reply was ever had."""
    return edited(which, lambda _: LOST)


ONCE_MORE = {
    "acquire": (CORRECTED, exchange("acquire")),
    "publisher": (CORRECTED, exchange("publisher")),
    "assistant": (CORRECTED, appended("message.committed", "assistant")),
    "results": (CORRECTED, appended("message.committed", "tool_result")),
    "intent": (CORRECTED, appended("tool.intent")),
    "prepare": (CORRECTED, exchange("prepare")),
    "resource": (CORRECTED, exchange("resource")),
    "acknowledge": (CORRECTED, exchange("acknowledge")),
    "release": (CORRECTED, exchange("release")),
    "question": (ASKED, state("requested")),
    "settlement": (ASKED, state("allowed")),
    **{step: (PUBLISHED, published(step)) for step in ("reserve", "finished", "admissions/prepare", "receipts/commit")},
}


@pytest.mark.parametrize("name", ONCE_MORE)
def test_what_is_asked_again_after_a_lost_reply_counts_once(name: str) -> None:
    case, which = ONCE_MORE[name]
    changed = asked_again(which)(Perfect(case).play())
    assert any(isinstance(event, Exchange) and event.status is None for event in changed.events)
    assert {r.id: r.finding for r in judge(changed) if r.verdict.value != "pass"} == {}


@pytest.mark.parametrize("operation", ["start", "execute"])
def test_what_is_never_asked_again_may_have_taken_effect(operation: str) -> None:
    changed = unanswered(exchange(operation))(Perfect(CORRECTED).play())
    assert {r.id: r.finding for r in judge(changed) if r.verdict.value != "pass"} == {}


def test_a_record_whose_append_was_never_answered_is_explained_by_what_was_asked() -> None:
    lost = unanswered(appended("message.committed", "tool_result"))
    other = edited(row("records", sequence=4), lambda e: {"blobs": {"text": e.blobs["text"].replace(b"well", b"ill-")}})
    verdicts = [
        {r.id: r.verdict.value for r in judge(change(Perfect(CORRECTED).play()))}["witnesses_agree"]
        for change in (lost, chain(lost, other))
    ]
    assert verdicts == ["pass", "fail"]


PREPARE = intrusion(
    "prepare", edge=HOST_BROKER, target=f"{BROKER}/executions:prepare", asked={"idempotencyKey": "k9"}, reply={}, step=3
)
UNSURE = chain(PREPARE, unanswered(lambda e: isinstance(e, Exchange) and b"k9" in e.request))
HELD = chain(
    edited(row("leases", generation=2), values(released_ms=None)),
    without(lambda e: exchange("release")(e) and getattr(e, "order", 0) > 60),
    doubted("not quiet within 10 s: lease generation 2 is held"),
)


@pytest.mark.parametrize(("change", "verdict", "doubts"), [(chain(UNSURE, HELD), "pass", 0), (HELD, "fail", 1)])
def test_a_blocked_session_may_keep_its_lease_only_over_work_of_unknown_end(change: Change, verdict: str, doubts: int) -> None:
    changed = change(Perfect(BLOCKED).play())
    (result,) = [r for r in judge(changed) if r.id == "lease_released"]
    assert (result.verdict.value, len(History(changed).doubts)) == (verdict, doubts), result.finding


def test_a_doubt_about_anything_else_stays() -> None:
    changed = chain(UNSURE, HELD, doubted("not quiet within 10 s: requests in flight"))(Perfect(BLOCKED).play())
    assert History(changed).doubts == ("not quiet within 10 s: requests in flight",)
    running = Row(
        database="broker",
        table="executions",
        values={"harness_session_id": "n1-s-other", "execution_call_id": "e9", "state": "executing", "acknowledged_ms": None},
    )
    more = changed.model_copy(update={"events": (*changed.events, running)})
    assert len(History(more).doubts) == 2
