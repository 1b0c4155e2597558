"""Plays one case: start, play, quiesce, seal. Only appends; nothing here judges.

Absence is claimed only of a sealed ledger: the turns have ended, the sessions are detached, the relays are idle and the broker
holds no open work. Where that cannot be reached, a doubt says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from harness.clock import Deadline, holds_within
from harness.errors import LoudgateError, Refused
from harness.ledger.event import WITNESSES, Doubt, Driven, Event, Ledger, Meta, Row, Tree
from harness.limits import QUIESCE_S, TURN_S
from harness.model.data import prompt_text
from harness.observer.cases import Registration
from harness.scenario.spec import Act, Case
from harness.stack.service import Arm
from harness.targets.hosted import HostedSessions
from harness.targets.observation import Observation
from harness.witness import sql


@dataclass
class Play:
    """One case while it is played."""

    case: Case
    arm: Arm
    seed: int
    nonce: str
    observation: Observation
    sessions: HostedSessions
    events: list[Event] = field(default_factory=list)
    prompted: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Session label → its last prompt's id, and how many commands had run before it."""
    stuck: bool = False
    """A turn outlived its bound: the end of the play. In a must-fail case it is evidence, else a doubt."""

    def note(self, act: Any, session: str, *, detail: str = "", body: Any = None) -> None:
        """Put down what the driver did or saw."""
        raw = b"" if body is None else json.dumps(body).encode("ascii")
        order = int(self.observation.state()["order"])
        self.events.append(Driven(order=order, act=act, session=session, detail=detail, body=raw))

    def doubt(self, reason: str) -> None:
        """Put down why absence cannot be claimed."""
        self.events.append(Doubt(reason=reason))


def drive(case: Case, arm: Arm, *, seed: int, nonce: str) -> Ledger:
    """The ledger of one case. An error of the harness ends the play and becomes a doubt, so that what was seen is kept."""
    registration = Registration(case=case, seed=seed, nonce=nonce, arm=arm.name, upstreams=arm.upstreams)
    observation = Observation(arm, registration)
    play = Play(case, arm, seed, nonce, observation, HostedSessions(case, arm, observation.names))
    before = observation.tree("before")
    try:
        _play(play)
    except LoudgateError as error:
        play.doubt(f"the play ended early: {error}")
    _leave(play)
    return _seal(play, before, _quiesce(play))


def _play(play: Play) -> None:
    for place, act in enumerate(play.case.acts):
        if play.stuck:
            return
        if act.prompt is not None:
            _prompt(play, place, act, act.prompt)
        elif act.finish is not None:
            _await_end(play, act.finish)
        elif act.detach is not None:
            play.sessions.detach(act.detach)
            play.note("detached", act.detach)
        elif act.load is not None:
            _load(play, act.load)
        elif act.cancel is not None:
            play.sessions.cancel(act.cancel)
            play.note("cancelled", act.cancel)
        elif act.open is not None:
            play.observation.open_gate(act.open)
        else:
            _await_something(play, act)


def _await_something(play: Play, act: Act) -> None:
    if act.await_held is not None:
        _await_held(play, act.await_held)
    elif act.await_busy is not None:
        _await_busy(play, act.await_busy)
    elif act.await_command is not None:
        before = play.prompted[act.await_command][1]
        what = f"a command spawned by session {act.await_command}"
        _await(play, what, lambda: int(play.observation.state()["commands"]) > before)


def _prompt(play: Play, place: int, act: Act, label: str) -> None:
    if label not in play.sessions.attached():
        play.sessions.create(label)
        play.note("created", label)
    prompt_id = f"p{place + 1}"
    play.prompted[label] = (prompt_id, int(play.observation.state()["commands"]))
    play.note("prompted", label, detail=prompt_id)
    try:
        play.sessions.prompt(label, prompt_id, prompt_text(play.case, place, act, seed=play.seed))
    except Refused as refusal:
        play.note("refused", label, detail=refusal.code)
        return
    if act.wait:
        _await_end(play, label)


def _await_end(play: Play, label: str) -> None:
    must_fail = play.case.must_fail
    stillness = Stillness(play.observation, must_fail.stuck_after_s) if must_fail else None
    ended = holds_within(lambda: not play.sessions.active(label) or (stillness is not None and stillness.reached()), TURN_S)
    if ended and not (stillness and stillness.was_reached):
        events = play.sessions.transcript(label)
        prompt_id = play.prompted[label][0]
        ends = [event["type"] for event in events if event["promptId"] == prompt_id and event["type"].startswith("turn_")]
        play.note("ended", label, detail=",".join(ends), body={"events": events})
        return
    play.stuck = True
    if stillness and stillness.was_reached:
        play.note("still_active", label, detail=f"while nothing moved for {stillness.seconds:g} s")
    else:
        play.doubt(f"the turn of session {label} did not end within {TURN_S:g} s")


@dataclass
class Stillness:
    """Whether nothing but polls has moved in a case for some seconds: a busy machine slows a turn down, it does not stop it."""

    observation: Observation
    seconds: float
    was_reached: bool = False
    _moves: int = -1
    _since: Deadline = field(default_factory=lambda: Deadline(0))

    def reached(self) -> bool:
        """Look once."""
        moves = int(self.observation.state()["moves"])
        if moves != self._moves:
            self._moves, self._since = moves, Deadline(self.seconds)
        self.was_reached = self._since.passed()
        return self.was_reached


def _load(play: Play, label: str) -> None:
    play.sessions.load(label)
    play.note("loaded", label, body={"events": play.sessions.transcript(label)})


def _await_held(play: Play, gate: str) -> None:
    _await(play, f"an answer held at gate {gate}", lambda: gate in play.observation.state()["held"])


def _await_busy(play: Play, label: str) -> None:
    """The bound ends in evidence: a session that is not told to wait was let in, or was never kept out."""
    seen = holds_within(lambda: bool(play.observation.state()["busy"].get(label)), TURN_S)
    play.note("busy_seen" if seen else "busy_not_seen", label, detail="" if seen else f"within {TURN_S:g} s")


def _await(play: Play, what: str, condition: Callable[[], bool]) -> bool:
    if holds_within(condition, TURN_S):
        return True
    play.doubt(f"{what}: not within {TURN_S:g} s")
    return False


def _leave(play: Play) -> None:
    for label in play.sessions.attached():
        try:
            if play.sessions.active(label):
                play.sessions.cancel(label)
            play.sessions.detach(label)
            play.note("detached", label)
        except LoudgateError as error:
            play.doubt(f"session {label} could not be detached: {error}")


def _open_work(rows: tuple[Row, ...]) -> str:
    for row in rows:
        if row.table == "executions" and (row.values["state"] != "settled" or row.values["acknowledged_ms"] is None):
            return f"execution of call {row.values['tool_call_id']} is {row.values['state']}"
        if row.table == "leases" and row.values["released_ms"] is None:
            return f"lease generation {row.values['generation']} is held"
    return ""


def _quiesce(play: Play) -> tuple[Row, ...]:
    """Wait until nothing moves and nothing is open; gives the rows that were seen then."""
    seen: list[tuple[Row, ...]] = [()]

    def quiet() -> bool:
        if play.observation.state()["inflight"]:
            return False
        seen[0] = sql.read(play.arm.sql, play.observation.names.tenant)
        return play.stuck or not _open_work(seen[0])

    if not _guarded(play, quiet):
        play.doubt(f"not quiet within {QUIESCE_S:g} s: {_open_work(seen[0]) or 'requests in flight'}")
    elif open_work := _open_work(seen[0]):
        play.doubt(f"the broker holds open work at the end: {open_work}")
    return seen[0]


def _guarded(play: Play, quiet: Callable[[], bool]) -> bool:
    try:
        return holds_within(quiet, QUIESCE_S)
    except LoudgateError as error:
        play.doubt(f"a witness failed: {error}")
        return False


def _seal(play: Play, before: Tree, rows: tuple[Row, ...]) -> Ledger:
    after = play.observation.tree("after")
    journal = play.observation.seal()
    names = play.observation.names
    meta = Meta(
        case=play.case,
        seed=play.seed,
        nonce=play.nonce,
        target=play.case.target,
        engine=play.arm.engine,
        store=play.arm.store,
        witnesses=WITNESSES,
        tenant=names.tenant,
        workspace=names.workspace,
        sessions=dict(names.sessions),
    )
    return Ledger(meta=meta, events=(before, *journal, *play.events, after, *rows))
