"""Whether a case that must fail has come to a standstill: its evidence is there, and there is nothing more to wait for."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.clock import Deadline
from harness.run.play import Play
from harness.targets.observation import Observation


@dataclass
class Stillness:
    """Whether nothing but polls has moved in a case for some seconds: a busy machine slows a turn down, it does not stop it."""

    observation: Observation
    seconds: float
    once: str = ""
    was_reached: bool = False
    _moves: int = -1
    _since: Deadline = field(default_factory=lambda: Deadline(0))
    _began: Deadline = field(default_factory=lambda: Deadline(0))

    def elapsed(self) -> float:
        """Seconds since the first look."""
        return self._began.elapsed()

    def reached(self) -> bool:
        """Look once."""
        state = self.observation.state()
        moves = int(state["moves"])
        if moves != self._moves or (self.once and self.once not in state["seen"]):
            self._moves, self._since = moves, Deadline(self.seconds)
        self.was_reached = self._since.passed()
        return self.was_reached


def stillness_of(play: Play) -> Stillness | None:
    """The case's own bound, if it must fail; a case that must pass is given all the time that there is."""
    must_fail = play.case.must_fail
    return Stillness(play.observation, must_fail.stuck_after_s, must_fail.once) if must_fail else None
