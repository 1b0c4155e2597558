"""The order of an admitted call, as the relays saw it: each station was answered before the next one was asked for.

Per call; between the calls of a batch only the stations that they share (assistant message, group of results) are ordered.
The publisher comes from here too: on the local path an executed call without a registration for its own lease is red, and on the
o2 path one without a grant of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.checks.check import RUN, Check, Finding, Notes, has_run
from harness.ledger.event import Exchange
from harness.ledger.facts import (
    HOST_BROKER,
    HOST_STORE,
    Planned,
    Served,
    decoded,
    execution_id,
    listed,
    subject,
    succeeded,
    uncertain,
)
from harness.ledger.history import History
from harness.scenario.spec import Case


@dataclass(frozen=True)
class Scene:
    """One admitted call in its window: from the request that was answered with it to the next one."""

    history: History
    planned: Planned
    step: Served

    def broker(self, operation: str) -> tuple[Exchange, ...]:
        """What the host sent to the broker in this window."""
        return self.history.exchanges(HOST_BROKER, operation, window=self.step)

    def appends(self, kind: str, role: str = "") -> list[Exchange]:
        """The appends of this kind and role that are about this call."""
        found = []
        for exchange in self.history.exchanges(HOST_STORE, "append", window=self.step):
            asked = decoded(exchange.request)
            body = decoded(str(asked.get("text", "")))
            about = {body.get("callId")} | {item.get("id") for key in ("calls", "results") for item in listed(body, key)}
            if asked.get("kind") == kind and body.get("role", "") == role and self.planned.call.id in about:
                found.append(exchange)
        return found

    def own(self, operation: str) -> list[Exchange]:
        """What the host sent to the broker about this call's execution."""
        ids = self.history.trace(self.planned).ids
        return [e for e in self.broker(operation) if subject(e) in ids or execution_id(e) in ids]


def _acquires(scene: Scene) -> list[Exchange]:
    """The acquire that granted the lease under which the call was prepared."""
    prepares = scene.own("prepare")
    granted = [
        e for e in scene.history.exchanges(HOST_BROKER, "acquire", session=scene.planned.session) if succeeded(e) and prepares
    ]
    before = [e for e in granted if e.order < prepares[0].order]
    return [e for e in before if _generation(e) == _generation(before[-1])]


def _publishers(scene: Scene) -> list[Exchange]:
    """The registrations for that lease."""
    acquires = _acquires(scene)
    generation = _generation(acquires[0]) if acquires else None
    found = scene.history.exchanges(HOST_BROKER, "publisher", session=scene.planned.session)
    return [e for e in found if decoded(e.request).get("bindingGeneration") == generation]


def _generation(exchange: Exchange) -> object:
    return decoded(exchange.reply).get("generation")


def _captures(scene: Scene) -> list[Exchange]:
    """The resources by the digest that the receipt names; an equal capture of an earlier call may have been put before."""
    receipts = (decoded(str(decoded(e.request).get("text", ""))) for e in scene.appends("tool.receipt"))
    named = {body.get("captureDigest") for body in receipts}
    puts = scene.history.exchanges(HOST_STORE, "resource", session=scene.planned.session)
    found = [e for e in puts if e.method == "PUT" and subject(e) in named]
    started = [e.order for e in scene.own("start")]
    return [e for e in found if started and e.order > started[0]] or found


def _published(step: str) -> Callable[[Scene], list[Exchange]]:
    """This step of the publication of the call's own execution."""

    def find(scene: Scene) -> list[Exchange]:
        ids = scene.history.trace(scene.planned).ids
        found = scene.history.publications(step, window=scene.step)
        return [e for e in found if decoded(e.request).get("executionCallId") in ids]

    return find


@dataclass(frozen=True)
class Station:
    """One thing that must be answered before the next is asked for."""

    name: str
    find: Callable[[Scene], Sequence[Exchange]]
    awaited: bool = True
    """If not, the next one may be asked for once this one has been: somebody else does it, and may be quicker than the reply."""


_TO_CHECKPOINT = (
    Station("assistant append", lambda scene: scene.appends("message.committed", "assistant")),
    Station("prepare", lambda scene: scene.own("prepare")),
    Station("tool.intent append", lambda scene: scene.appends("tool.intent")),
    Station("checkpoint append", lambda scene: scene.appends("checkpoint")),
)
_RESULT = Station("tool_result append", lambda scene: scene.appends("message.committed", "tool_result"))
_RECEIPT = Station("tool.receipt append", lambda scene: scene.appends("tool.receipt"))
_ACKNOWLEDGE = Station("acknowledge", lambda scene: scene.own("acknowledge"))
LOCAL = (
    Station("acquire", _acquires),
    Station("publisher", _publishers),
    *_TO_CHECKPOINT,
    Station("start", lambda scene: scene.own("start")),
    Station("resource put of its capture", _captures),
    _RESULT,
    _RECEIPT,
    _ACKNOWLEDGE,
)
O2 = (
    Station("acquire", _acquires),
    *_TO_CHECKPOINT,
    Station("grant", _published("reserve")),
    Station("start", lambda scene: scene.own("start"), awaited=False),
    Station("finished by the worker", _published("finished")),
    Station("admission", _published("admissions/prepare")),
    _RECEIPT,
    _RESULT,
    _ACKNOWLEDGE,
    Station("commit of the receipt", _published("receipts/commit")),
)
ORDERS: Mapping[str, tuple[Station, ...]] = {"local": LOCAL, "o2": O2}
"""Capture path → its stations in order."""


def _answered(exchanges: Sequence[Exchange]) -> bool:
    """Accepted, or perhaps accepted: a lost reply says nothing against it."""
    return any(succeeded(e) or uncertain(e) for e in exchanges)


def _disorder(scene: Scene, stations: tuple[Station, ...], notes: Notes) -> Iterator[str]:
    done, before = 0, ""
    for number, station in enumerate(stations):
        exchanges = station.find(scene)
        if not _answered(exchanges):
            if _broke_off(scene, stations[number:]):
                return
            notes.missing(f"{scene.planned.where}: no {station.name} was accepted in its place")
            continue
        began = exchanges[0].order
        if began < done:
            yield f"{scene.planned.where}: {station.name} (#{began}) was asked for before {before} was answered (#{done})"
        done, before = next((e.finished for e in exchanges if succeeded(e) and station.awaited), began), station.name


def _broke_off(scene: Scene, rest: Sequence[Station]) -> bool:
    """Whether the scenario lets this turn end here in an error, and nothing of what would have come later was accepted."""
    ends_here = scene.step.ends_turn and scene.history.case.acts[scene.step.turn].ends != "turn_complete"
    return ends_here and not any(succeeded(e) for station in rest for e in station.find(scene))


def judge(history: History) -> Finding:
    """All stations of every admitted call."""
    notes, stations, calls = Notes(history), ORDERS[history.case.path], history.planned(*RUN)
    for planned in calls:
        step = history.step_of(planned)
        if step is None:
            notes.missing(f"step {planned.number} of session {planned.session} was never served")
        else:
            notes.against(*_disorder(Scene(history, planned, step), stations, notes))
    return notes.conclude(f"{len(calls)} call(s) went through {len(stations)} stations each, in order: {stations[0].name} first")


def _applies(case: Case) -> bool:
    return case.path in ORDERS and has_run(case)


CHECK = Check(
    id="admitted_order",
    title="An admitted call goes through its stations in order, with a publisher or a grant of its own",
    needs=("model", "relay"),
    applies=_applies,
    judge=judge,
)
