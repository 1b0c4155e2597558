"""The digest forgets times and names, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ledger.digest import digest
from harness.ledger.event import Driven, Ledger, Tree
from harness.ledger.facts import decoded
from harness.scenario.spec import Case
from harness.selftest.checks.cases import ASKED, BLOCKED, CORRECTED, PUBLISHED, RELOADED, SECOND
from harness.selftest.checks.change import (
    Change,
    added,
    again,
    asked,
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
from harness.selftest.checks.perfect import Perfect

CASES = (CORRECTED, SECOND, RELOADED, PUBLISHED, ASKED, BLOCKED)
GOOD = Perfect(CORRECTED).play()
ON_O2 = Perfect(PUBLISHED).play()
LETTERS = st.text("ghijklmnop", min_size=12, max_size=24)
"""Names that occur nowhere else, as a run's nonce and a service's ids do."""


def _broker(operation: str, *, status: int = 200, reply: Any = None) -> Change:
    more = intrusion(operation, edge="host-broker", target=f"/x:{operation}", asked={}, reply=reply or {}, step=2)
    return edit_last(more, status=status)


def edit_last(change: Change, **update: Any) -> Change:
    """The event that `change` adds has other fields."""

    def apply(ledger: Ledger) -> Ledger:
        changed = change(ledger)
        return changed.model_copy(update={"events": (*changed.events[:-1], changed.events[-1].model_copy(update=update))})

    return apply


@given(case=st.sampled_from(CASES), nonce=LETTERS, execution=LETTERS, first=st.integers(0, 10_000))
def test_names_and_orders_do_not_matter(case: Case, nonce: str, execution: str, first: int) -> None:
    played = Perfect(case, nonce=f"N-{nonce}", execution=f"E-{execution}", first_order=first).play()
    assert digest(played) == digest(Perfect(case, nonce="qqqqqqqq", execution="rrrrrrrr").play())


@given(data=st.data())
def test_the_order_of_lines_in_the_file_does_not_matter(data: st.DataObject) -> None:
    events = data.draw(st.permutations(GOOD.events))
    assert digest(GOOD.model_copy(update={"events": tuple(events)})) == digest(GOOD)


@given(shift=st.integers(-500, 500))
def test_sessions_may_overlap_in_any_way(shift: int) -> None:
    played = Perfect(SECOND).play()
    moved = edited(lambda e: getattr(e, "session", "") == "second", lambda e: {"order": e.order + shift})
    assert digest(moved(played)) == digest(played)


PASSING: dict[str, Change] = {
    "warm": _broker("warm"),
    "status": _broker("status"),
    "busy acquire": _broker("acquire", status=409, reply={"error": {"code": "workspace_busy"}}),
    "writer renewal": edit_last(_broker("writer"), edge="host-store", target="/x/writer:renew"),
    "look": edit_last(_broker("look"), edge="driver-host"),
    "observe": edit_last(_broker("observe"), edge="broker-worker"),
    "busy seen": added(Driven(order=9, act="busy_seen", session="main")),
    "repeated request": edit_last(again(request(1)), repeated=True),
    "generations": edited(row("leases"), values(generation=99, acquired_ms=7)),
    "times": edited(row("executions"), values(started_ms=123, settled_ms=456)),
    "resource digests": edited(row("resources"), values(digest="sha256:00")),
    "directories": edited(lambda e: e.kind == "command", lambda _: {"directory": "elsewhere", "order": 1}),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_does_not_matter(name: str) -> None:
    changed = PASSING[name](GOOD)
    assert changed != GOOD
    assert digest(changed) == digest(GOOD)


def _tree(event: Tree) -> dict[str, Any]:
    return {"entries": tuple(entry.model_copy(update={"sha256": "00"}) for entry in event.entries)}


DECIDING: dict[str, Change] = {
    "a command": edited(lambda e: e.kind == "command", lambda _: {"digest": "sha256:00"}),
    "a command's absence": without(lambda e: e.kind == "command"),
    "an outcome on the wire": edited(exchange("prepare"), lambda _: {"status": 409}),
    "an error code": _broker("acquire", status=409, reply={"error": {"code": "workspace_unavailable"}}),
    "an outcome in SQL": edited(row("executions"), values(result="error")),
    "a record in SQL": edited(row("records", sequence=4), replaced(b"true", b"null")),
    "a record on the wire": edited(exchange("append"), lambda e: {"request": e.request.replace(b"c1", b"c9")}),
    "a result text": heard(3, lambda messages: [*messages[:-1], messages[-1] | {"text": "exit 1"}]),
    "a payload": edited(exchange("execute"), lambda e: {"request": e.request.replace(b"printf", b"prinTf")}),
    "a problem": edited(request(2), lambda _: {"problems": ("unmet",)}),
    "an order on one edge": edited(exchange("publisher"), lambda _: {"order": 1}),
    "a second acquire": again(exchange("acquire")),
    "a resource less": without(exchange("resource")),
    "a file": edited(lambda e: isinstance(e, Tree), _tree),
    "a turn's end": edited(lambda e: isinstance(e, Driven) and e.act == "ended", lambda _: {"detail": "turn_error"}),
    "a wait that was never told": added(Driven(order=9, act="busy_not_seen", session="main", detail="within 15 s")),
    "a cancel": added(Driven(order=9, act="cancelled", session="main")),
    "a fault": edited(exchange("release"), lambda _: {"fault": "reply lost"}),
}


@pytest.mark.parametrize("name", DECIDING)
def test_what_decides_matters(name: str) -> None:
    assert digest(DECIDING[name](GOOD)) != digest(GOOD)


def test_each_case_has_its_own_digest() -> None:
    digests = {digest(Perfect(case).play()) for case in CASES}
    assert len(digests) == len(CASES)
    assert all(found.startswith("sha256:") and len(found) == 71 for found in digests)


def _reply(**changed: Any) -> Change:
    """The replies to publication requests say something else as well."""
    return edited(exchange("publication"), lambda e: {"reply": json.dumps(decoded(e.reply) | changed).encode("ascii")})


RENEWED = {"edge": "worker-store", "target": "/x/grants", "request": b'{"operation": "renew", "publicationId": "p"}'}
PASSING_ON_O2: dict[str, Change] = {
    "renewals": edit_last(_broker("publication"), **RENEWED),
    "renewals in SQL": edited(row("grants"), values(renewals=7, expires_ms=1)),
    "expiry": _reply(expiresInMs=17, leaseMs=9, replayed=True),
    "tokens": edited(exchange("publication"), asked(b"{", b'{"grantToken": "lgt_other", ')),
    "manifest digests": edited(row("admissions"), values(manifest_digest="sha256:00")),
    "manifest digests in records": edited(row("records"), replaced(b'"manifestDigest": "sha256:', b'"manifestDigest": "sha256:0')),
    "an object store that is away": edit_last(
        _broker("publication", status=503, reply={"error": {"code": "objects_unavailable"}}),
        edge="host-store",
        target="/x/publications/p/admissions/prepare",
    ),
}
DECIDING_ON_O2: dict[str, Change] = {
    "a step less": without(lambda e: exchange("publication")(e) and b"finished" in getattr(e, "target", "").encode()),
    "a step's outcome": edited(exchange("publication"), lambda _: {"status": 409}),
    "a step twice": again(exchange("publication")),
    "another state": _reply(state="NOT_STARTED"),
    "a grant's end": edited(row("grants"), values(state="OPEN")),
    "an admission's end": edited(row("admissions"), values(state="PREPARED")),
    "a receipt less": without(row("receipts")),
    "a publication less": without(row("publications")),
}


@pytest.mark.parametrize("name", PASSING_ON_O2)
def test_what_passes_on_o2_does_not_matter(name: str) -> None:
    changed = PASSING_ON_O2[name](ON_O2)
    assert changed != ON_O2
    assert digest(changed) == digest(ON_O2)


@pytest.mark.parametrize("name", DECIDING_ON_O2)
def test_what_decides_on_o2_matters(name: str) -> None:
    assert digest(DECIDING_ON_O2[name](ON_O2)) != digest(ON_O2)


def test_a_prompt_that_shares_its_place_with_what_came_before_comes_after_it() -> None:
    prompted, created = (next(e for e in GOOD.events if isinstance(e, Driven) and e.act == act) for act in ("prompted", "created"))
    tied = edited(lambda e: e is prompted, lambda _: {"order": created.order})
    assert digest(tied(GOOD)) == digest(GOOD)


def test_faults_and_answers_matter() -> None:
    blocked, asking = Perfect(BLOCKED).play(), Perfect(ASKED).play()
    unfired = edited(lambda e: e.kind == "fired", lambda _: {"times": 0})
    denied = edited(lambda e: isinstance(e, Driven) and e.act == "answered", lambda e: {"body": e.body.replace(b"allow", b"deny")})
    assert digest(unfired(blocked)) != digest(blocked)
    assert digest(denied(asking)) != digest(asking)
