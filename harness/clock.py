"""The one owner of time: deadlines and waiting for a condition."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from harness.errors import TimedOut
from harness.limits import POLL_FIRST_S, POLL_GROWTH, POLL_LAST_S


@dataclass(frozen=True)
class Deadline:
    """A moment `seconds` after its making, on the monotonic clock."""

    seconds: float
    start: float = field(default_factory=time.monotonic)

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.seconds - self.elapsed())

    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    def passed(self) -> bool:
        """Whether none is left."""
        return self.remaining() == 0.0


def holds_within(condition: Callable[[], bool], seconds: float) -> bool:
    """Look at `condition`, less and less often, until it holds or `seconds` have passed; says which."""
    deadline, pause = Deadline(seconds), POLL_FIRST_S
    while not condition():
        if deadline.passed():
            return False
        time.sleep(min(pause, deadline.remaining()))
        pause = min(pause * POLL_GROWTH, POLL_LAST_S)
    return True


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for `condition`; past the deadline raise `TimedOut` naming what was awaited."""
    if not holds_within(condition, seconds):
        raise TimedOut(f"{what} did not happen within {seconds:g} s")


def utc_now() -> str:
    """The wall clock, for people: ISO 8601 in UTC, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
