"""The system under test took the model's script exactly as written."""

from __future__ import annotations

from collections import Counter

from harness.checks.check import Check, Finding, Notes, has_turns
from harness.ledger.event import ModelExchange
from harness.ledger.history import History

PROBLEM_CHARS = 120
"""Longest quote of one problem of a request."""


def _excused(history: History, retry: ModelExchange) -> bool:
    """Whether a fault or a lost reply since the answer was first given explains that it was asked for again."""
    first = max((r.order for r in history.requests(retry.session) if r.order < retry.order), default=0)
    lost = (e for e in history.everything if e.fault is not None or e.status is None)
    return any(first < e.order < retry.order and history.session_of(e) in ("", retry.session) for e in lost)


def judge(history: History) -> Finding:
    """Every step asked for and served once, no stray request, no unmet expectation."""
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
    for retry in history.retries:
        if not _excused(history, retry):
            where = f"model request #{retry.order} of session {retry.session or '?'}"
            notes.against(f"{where} is the one before, sent again without a fault or a lost reply")
    return notes.conclude(f"{len(history.served)} scripted step(s) served once each")


CHECK = Check(
    id="script_followed",
    title="Every scripted answer of the model was asked for once, and nothing else was asked",
    needs=("model",),
    applies=has_turns,
    judge=judge,
)
