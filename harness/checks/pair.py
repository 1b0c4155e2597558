"""The same facts by two witnesses, and what it means if they differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from harness.checks.check import Notes


@dataclass(frozen=True)
class Pair:
    """The same facts by two witnesses."""

    left: str
    right: str
    seen: Counter[object]
    kept: Counter[object]
    unanswered: bool = False
    """Whether a reply was lost, so that the right side may know more than the left."""

    @property
    def text(self) -> str:
        """Both counts, and how many facts only one side has."""
        only = (self.seen - self.kept).total(), (self.kept - self.seen).total()
        counts = f"{self.left} has {self.seen.total()}, {self.right} has {self.kept.total()}"
        return f"{counts} ({only[0]} only in the first, {only[1]} only in the second)"

    def note(self, notes: Notes) -> None:
        """A disagreement is a contradiction unless a lost reply explains it."""
        if self.seen != self.kept:
            explained = self.unanswered and not self.seen - self.kept
            (notes.gap if explained else notes.against)(self.text)
