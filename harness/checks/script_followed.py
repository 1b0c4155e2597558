"""The system under test took the model's script exactly as written."""

from __future__ import annotations

from collections import Counter

from harness.checks.check import Check, Finding, Notes
from harness.ledger.history import History

PROBLEM_CHARS = 120
"""Longest quote of one problem of a request."""


def judge(history: History) -> Finding:
    """Every step served once, no stray request, no unmet expectation."""
    notes = Notes(history)
    notes.missing(*(f"{name} was never served" for name in history.unserved))
    counts = Counter((step.session, step.number) for step in history.served)
    notes.against(*(f"step {number} of session {name} was served {n} times" for (name, number), n in counts.items() if n > 1))
    for request in history.models:
        where = f"model request #{request.order} of session {request.session or '?'}"
        planned = len(history.case.steps(request.session))
        if request.step is None or request.step >= planned:
            notes.against(f"{where} matched no step")
        notes.against(*(f"{where}: {problem[:PROBLEM_CHARS]}" for problem in request.problems))
    return notes.conclude(f"{len(history.served)} scripted step(s) served once each")


CHECK = Check(
    id="script_followed",
    title="Every scripted answer of the model was asked for once, and nothing else was asked",
    needs=("model",),
    applies=lambda _: True,
    judge=judge,
)
