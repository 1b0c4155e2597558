"""The same facts by two witnesses, and what it means if they differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from harness.checks.check import Notes


@dataclass(frozen=True)
class Pair:
    """The same facts by two witnesses."""

    left: str
    right: str
    seen: Counter[object]
    kept: Counter[object]
    perhaps: Counter[object] = field(default_factory=Counter)
    """Facts that were asked for without a certain answer: the right side may have them."""

    @property
    def text(self) -> str:
        """Both counts, and how many facts only one side has."""
        only = (self.seen - self.kept).total(), (self.kept - self.seen).total()
        counts = f"{self.left} has {self.seen.total()}, {self.right} has {self.kept.total()}"
        return f"{counts} ({only[0]} only in the first, {only[1]} only in the second)"

    def note(self, notes: Notes) -> None:
        """A disagreement is a contradiction, unless the very facts that one side lacks were asked for and not answered."""
        if self.seen - self.kept or (self.kept - self.seen) - self.perhaps:
            notes.against(self.text)
