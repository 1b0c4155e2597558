"""The check that checks nothing: the smallest example of one, and the identity. It applies to no case."""

from __future__ import annotations

from harness.checks.check import Check, Finding
from harness.ledger.history import History
from harness.verdict import Verdict


def judge(history: History) -> Finding:
    """Nothing was checked, so nothing is known."""
    return Finding(Verdict.UNKNOWN, f"nothing was checked in case {history.case.id}")


CHECK = Check(id="nothing", title="Checks nothing", needs=(), applies=lambda _: False, judge=judge)
