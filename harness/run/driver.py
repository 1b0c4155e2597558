"""Plays one case: start, play, quiesce, seal. Only appends; nothing here judges.

Absence is claimed only of a sealed ledger: the turns have ended, the sessions are detached, the relays are idle and the broker
holds no open work. Where that cannot be reached, a doubt says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from harness.clock import holds_within
from harness.errors import LoudgateError
from harness.ledger.event import WITNESSES, Ledger, Meta, Row, Tree
from harness.limits import QUIESCE_S
from harness.observer.cases import Registration
from harness.run.acts import perform
from harness.run.play import Play
from harness.run.stillness import stillness_of
from harness.scenario.spec import Case
from harness.stack.keeper import Arms
from harness.stack.service import Arm
from harness.targets.direct import DirectRequests
from harness.targets.hosted import HostedSessions
from harness.targets.observation import Observation
from harness.witness import sql


def drive(case: Case, arm: Arm, arms: Arms, *, seed: int, nonce: str) -> tuple[Ledger, dict[str, float]]:
    """The ledger of one case, and where its time went (phase → seconds).

    An error of the harness ends the play and becomes a doubt, so that what was seen is kept.
    """
    registration = Registration(case=case, seed=seed, nonce=nonce, arm=arm.workspaces, mutated=arm.mutated, upstreams=arm.upstreams)
    observation = Observation(arm, registration)
    names = observation.names
    play = Play(case, arm, arms, seed, nonce, observation, HostedSessions(case, arm, names), DirectRequests(arm, names))
    before = observation.tree("before")
    with play.phase("play"):
        _play(play)
    with play.phase("leave"):
        _leave(play)
    with play.phase("quiesce"):
        rows = _quiesce(play)
    with play.phase("seal"):
        ledger = _seal(play, before, rows)
    return ledger, play.timings


def _play(play: Play) -> None:
    try:
        for place, act in enumerate(play.case.acts):
            if not play.skips(act):
                perform(play, place, act)
    except LoudgateError as error:
        play.doubt(f"the play ended early: {error}")


def _leave(play: Play) -> None:
    for label in play.sessions.attached():
        try:
            if play.sessions.active(label):
                play.sessions.cancel(label)
            play.sessions.detach(label)
            play.note("detached", label)
        except LoudgateError as error:
            play.doubt(f"session {label} could not be detached: {error}")


def _open_work(rows: tuple[Row, ...], *, but: Collection[str] = ()) -> str:
    """What the broker still holds, in words; `but` for sessions of these ids."""
    for row in rows:
        if row.values.get("harness_session_id") in but:
            continue
        if row.table == "executions" and (row.values["state"] != "settled" or row.values["acknowledged_ms"] is None):
            return f"execution of call {row.values['tool_call_id']} is {row.values['state']}"
        if row.table == "leases" and row.values["released_ms"] is None:
            return f"lease generation {row.values['generation']} is held"
    return ""


def _quiesce(play: Play) -> tuple[Row, ...]:
    """Wait until nothing moves and nothing is open; gives the rows that were seen then."""
    seen: list[tuple[Row, ...]] = [()]
    # What a blocked session holds it keeps, and so does one that exists in direct requests alone: there is nothing to wait for.
    prompted = {act.prompt for act in play.case.acts}
    stillness = stillness_of(play)
    blocked = {one for label, one in play.observation.names.sessions.items() if label in play.blocked or label not in prompted}

    def quiet() -> bool:
        if play.observation.state()["inflight"]:
            return False
        seen[0] = sql.read(play.arm.sql, play.observation.names.tenant)
        over = bool(play.stuck) or not _open_work(seen[0], but=blocked)
        return over or (stillness is not None and stillness.reached())

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
