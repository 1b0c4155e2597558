"""The one exception tree of the harness. Foreign errors are translated where they enter; none is caught by name elsewhere.

LoudgateError            .effect: did anything happen?
├── UsageError           wrong option, wrong file; nothing was started          exit 2
│   └── ScenarioError    every mistake of the scenario files at once
├── EnvironmentMissing   something this machine lacks; nothing was judged       exit 2
├── StackError           a service failed to start, died, or answered nonsense
│   └── ServiceDied      with its exit status, its last lines and its log
├── Refused              the other side said no: it definitely did not happen
├── OutcomeUnknown       no answer, or a cut one: it may have happened
│   └── TimedOut         the harness's own deadline passed: unknown, never failed
└── LedgerError          a ledger that cannot be read, or whose seal is broken
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path


class Effect(StrEnum):
    """What an error says about the thing that was asked for."""

    NONE = "none"
    UNKNOWN = "unknown"


class LoudgateError(Exception):
    """Root of the tree; `effect` says whether the effect definitely did not happen."""

    effect = Effect.UNKNOWN

    def __str__(self) -> str:
        return f"{super().__str__()} [effect: {self.effect}]" if self.effect is Effect.UNKNOWN else super().__str__()


class UsageError(LoudgateError):
    """The caller asked for something that does not exist or makes no sense."""

    effect = Effect.NONE


class ScenarioError(UsageError):
    """Scenario files with mistakes; `problems` lists all of them, one line each with file and key."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class EnvironmentMissing(LoudgateError):
    """This machine lacks something that the run needs."""

    effect = Effect.NONE


class StackError(LoudgateError):
    """A service of the stack could not be started, or does not answer as agreed."""


class ServiceDied(StackError):
    """A service ended by itself; carries the evidence."""

    def __init__(self, name: str, status: int | None, tail: str, log: Path) -> None:
        self.name, self.status, self.tail, self.log = name, status, tail, log
        super().__init__(f"{name} ended with status {status}; full log: {log}\n{tail}")


class Refused(LoudgateError):
    """The other side refused before doing anything."""

    effect = Effect.NONE

    def __init__(self, message: str, *, status: int = 0, code: str = "") -> None:
        self.status, self.code = status, code
        super().__init__(message)


class OutcomeUnknown(LoudgateError):
    """No reply, or one that cannot be read."""


class TimedOut(OutcomeUnknown):
    """A deadline of the harness passed."""


class LedgerError(LoudgateError):
    """A ledger file is damaged, unsealed or of another schema."""

    effect = Effect.NONE
