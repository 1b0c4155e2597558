"""What a check is, and the few ways to conclude.

Findings are printable ASCII on one line, bounded, and never hold argument text that a model sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.ledger.event import Witness
from harness.ledger.history import History
from harness.scenario.spec import Case, Expectation
from harness.verdict import Verdict

FINDING_CHARS = 500
"""Longest finding: two sentences of a report's table."""
NAMED = 3
"""Contradictions that a finding names before it only counts the rest."""
PATH_CHARS = 80
"""Longest path in a finding."""


_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Finding:
    """What a check concludes, and why, in one or two sentences."""

    verdict: Verdict
    text: str

    def __post_init__(self) -> None:
        text = self.text.encode("ascii", "backslashreplace").decode("ascii")
        text = _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
        object.__setattr__(self, "text", text if len(text) <= FINDING_CHARS else text[: FINDING_CHARS - 3] + "...")


@dataclass(frozen=True)
class Check:
    """One property of a run: `judge` is a pure function of the history."""

    id: str
    title: str
    """One line that a reader understands."""
    needs: tuple[Witness, ...]
    applies: Callable[[Case], bool]
    judge: Callable[[History], Finding]
    claims_absence: bool = False
    """Whether a pass says that something did not happen; any doubt of the ledger makes it unknown."""
    guard: bool = False
    """Whether it never fails, but withholds the verdict of a case that proves nothing."""


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check on one ledger."""

    id: str
    verdict: Verdict
    finding: str


def named(items: Sequence[str]) -> str:
    """The first few, and how many more."""
    more = len(items) - NAMED
    return "; ".join(items[:NAMED]) + (f"; and {more} more" if more > 0 else "")


class Notes:
    """What a check notes while it reads. A contradiction outranks a gap, and a gap outranks everything else."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._against: list[str] = []
        self._gaps: list[str] = []

    def against(self, *texts: str) -> None:
        """Contradictions: evidence that the property does not hold."""
        self._against += texts

    def gap(self, *texts: str) -> None:
        """Reasons why the property cannot be judged."""
        self._gaps += texts

    def missing(self, *texts: str) -> None:
        """Things that had to happen and did not: gaps if the harness itself may have cut the run short."""
        (self.gap if self._history.cut_short else self.against)(*texts)

    def served(self) -> None:
        """Every scripted step had to be served."""
        self.missing(*(f"{name} was never served" for name in self._history.unserved))

    def conclude(self, otherwise: str) -> Finding:
        """Fail, unknown, or pass with these words."""
        if self._against:
            return Finding(Verdict.FAIL, named(self._against))
        if self._gaps:
            return Finding(Verdict.UNKNOWN, named(self._gaps))
        return Finding(Verdict.PASS, otherwise)


RUN: tuple[Expectation, ...] = ("executed", "stopped")
"""Calls that reach the worker."""
ADMITTED: tuple[Expectation, ...] = (*RUN, "denied", "abandoned")
"""Calls to which admission has no objection."""


def has_turns(case: Case) -> bool:
    """Whether any session is prompted; else the case asks services directly, and has no turn, record or transcript."""
    return any(act.prompt is not None for act in case.acts)


def has_calls(case: Case) -> bool:
    """Whether the model asks for any call."""
    return any(True for _ in case.calls())


def has_run(case: Case) -> bool:
    """Whether any call must reach the worker, whether or not it may come to its own end there."""
    return any(True for _ in case.calls(*RUN))


def has_unheard(case: Case) -> bool:
    """Whether any call must not come to a good end, or any turn."""
    return any(True for _ in case.calls("abandoned", "denied", "stopped")) or any(act.ends != "turn_complete" for act in case.acts)


def asks(case: Case) -> bool:
    """Whether admitted calls have to be allowed by somebody."""
    return case.approval is not None and case.approval.mode == "ask"


def has_inert(case: Case) -> bool:
    """Whether any batch must be refused as the model gave it."""
    return any(step.inert for session in case.sessions() for step in case.steps(session))


def has_refused(case: Case) -> bool:
    """Whether any batch must be refused."""
    return any(True for _ in case.calls("refused"))
