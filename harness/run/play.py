"""One case while it is played: what the driver knows, and how it puts things down. Judges nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from harness.clock import Deadline, holds_within
from harness.ledger.event import Doubt, Driven, DriverAct, Event
from harness.limits import TURN_S
from harness.scenario.spec import VERBS, Act, Case
from harness.stack.keeper import Arms
from harness.stack.service import Arm
from harness.targets.direct import DirectRequests
from harness.targets.hosted import HostedSessions
from harness.targets.observation import Observation


@dataclass
class Play:
    """The state of one case."""

    case: Case
    arm: Arm
    arms: Arms
    """Who can kill a service of the arm."""
    seed: int
    nonce: str
    observation: Observation
    sessions: HostedSessions
    direct: DirectRequests
    events: list[Event] = field(default_factory=list)
    prompted: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Session label → its last prompt's id, and how many commands had run before it."""
    asked: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Session label → the last request for an approval that was seen."""
    stuck: set[str] = field(default_factory=set)
    """Sessions with a turn that outlived its bound. In a must-fail case it is evidence, else a doubt."""
    blocked: set[str] = field(default_factory=set)
    """Sessions that said they are recovery-blocked."""
    timings: dict[str, float] = field(default_factory=dict)
    """Phase → seconds: where a case's time went."""

    def note(self, act: DriverAct, session: str, *, detail: str = "", body: Any = None) -> None:
        """Put down what the driver did or saw."""
        raw = b"" if body is None else json.dumps(body).encode("ascii")
        self.events.append(Driven(order=self.sessions.order, act=act, session=session, detail=detail, body=raw))

    def skips(self, act: Act) -> bool:
        """Whether the play is over for this act: some turn is stuck, and it is not one of another session that shall go on."""
        goes_on = self.case.must_fail is not None and self.case.must_fail.go_on
        return bool(self.stuck) and (not goes_on or any(getattr(act, verb) in self.stuck for verb in VERBS))

    def doubt(self, reason: str) -> None:
        """Put down why absence cannot be claimed."""
        self.events.append(Doubt(reason=reason))

    def awaited(self, what: str, condition: Callable[[], bool]) -> bool:
        """Wait for a condition within the bound of a turn; a doubt if it does not come about."""
        if holds_within(condition, TURN_S):
            return True
        self.doubt(f"{what}: not within {TURN_S:g} s")
        return False

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time spent to a phase."""
        timer = Deadline(0)
        try:
            yield
        finally:
            self.timings[name] = round(self.timings.get(name, 0.0) + timer.elapsed(), 4)
