"""Verdicts and exit codes. Worst wins, and unknown is never green."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, StrEnum


class Verdict(StrEnum):
    """Of a check or a case, best first."""

    PASS = "pass"  # noqa: S105 -- a verdict, not a password
    NOT_OBSERVED = "not_observed"
    UNKNOWN = "unknown"
    FAIL = "fail"


_SEVERITY = {verdict: rank for rank, verdict in enumerate(Verdict)}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of them. Of nothing at all nothing is known, so an empty input is unknown."""
    return max(verdicts, key=_SEVERITY.__getitem__, default=Verdict.UNKNOWN)


class RunVerdict(StrEnum):
    """Of a whole run."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    INCOMPLETE = "incomplete"
    INTERRUPTED = "interrupted"


class Exit(IntEnum):
    """What the command line returns."""

    ACCEPTED = 0
    REJECTED = 1
    USAGE = 2
    INCOMPLETE = 3
    INTERRUPTED = 130


EXIT_OF = {
    RunVerdict.ACCEPTED: Exit.ACCEPTED,
    RunVerdict.REJECTED: Exit.REJECTED,
    RunVerdict.INCOMPLETE: Exit.INCOMPLETE,
    RunVerdict.INTERRUPTED: Exit.INTERRUPTED,
}
