"""A gate: somebody waits at it until the driver opens it. A held answer of the model waits at one, and so does a held reply."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.limits import GATE_S


@dataclass
class Gate:
    """One gate of a case. Once opened it stays open."""

    name: str
    doubt: Callable[[str], None]
    """Told when nobody has opened it in time."""
    waiting: int = 0
    """How many wait at it now."""
    _opened: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def opened(self) -> bool:
        """Whether it was opened."""
        return self._opened.is_set()

    def open(self) -> None:
        """Let everybody through, now and later."""
        self._opened.set()

    async def wait(self) -> None:
        """Return once it is open, or after `GATE_S` with a doubt."""
        self.waiting += 1
        try:
            await asyncio.wait_for(self._opened.wait(), GATE_S)
        except TimeoutError:
            self.doubt(f"gate {self.name} was not opened within {GATE_S:g} s")
        finally:
            self.waiting -= 1
