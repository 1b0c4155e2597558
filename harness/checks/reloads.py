"""Where a session was loaded again, and the model requests around it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.ledger.event import Driven, ModelExchange
from harness.ledger.facts import DRIVER_HOST, succeeded
from harness.ledger.history import History


@dataclass(frozen=True)
class Reload:
    """One load of a session, with the model requests around it."""

    session: str
    start: int
    """The order at which the load arrived at the host."""
    left: int | None
    """When the driver went on: its next prompt or detach of this session."""
    loaded: Driven
    before: ModelExchange | None
    after: ModelExchange | None
    until: int | None
    """The next model request, or the session's next detach."""

    @property
    def where(self) -> str:
        """For findings."""
        return f"the load (#{self.start}) of session {self.session}"


def reloads(history: History, session: str) -> list[Reload]:
    """The answered loads of a session, in order."""
    calls = [e for e in history.exchanges(DRIVER_HOST, "load", session=session) if succeeded(e)]
    found = []
    for exchange, loaded in zip(calls, history.driven("loaded", session), strict=False):
        requests = history.requests(session)
        before = [request for request in requests if request.order < exchange.order]
        after = [request for request in requests if request.order > exchange.order]
        left = [e for e in history.exchanges(DRIVER_HOST, "detach", session=session) if e.order > exchange.order]
        until = min([event.order for event in after[:1]] + [event.order for event in left[:1]], default=None)
        acts = history.driven("prompted", session) + history.driven("detached", session)
        went_on = min((event.order for event in acts if event.order >= loaded.order), default=None)
        around = before[-1] if before else None, after[0] if after else None
        found.append(Reload(session, exchange.order, went_on, loaded, *around, until))
    return found


def recovers(history: History, reload: Reload) -> bool:
    """Whether its host was killed since the session was last seen whole: then the load ends what was broken off, on record."""
    killed = [event.order for event in history.driven("killed") if event.order < reload.loaded.order]
    whole = [event.order for act in ("ended", "loaded") for event in history.driven(act, reload.session)]
    return bool(killed) and not any(killed[-1] < order < reload.loaded.order for order in whole)


def blocked_before(history: History, reload: Reload) -> bool:
    """Whether the session was recovery-blocked when it was left."""
    seen = history.blocked_at(reload.session)
    return seen is not None and seen < reload.loaded.order
