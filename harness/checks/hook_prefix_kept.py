"""A sequential plan stops at the first input that is not well-formed: no later hook is admitted, not even one that would repair it,
and what the earlier ones have said stays on record.

The input after each hook is reckoned here again, from what the hook printed.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.check import Check, Finding, Notes
from harness.checks.hooks import AFTER, folded, has_half, has_hooks
from harness.ledger.facts import Record, subject
from harness.ledger.history import History
from harness.ledger.hooked import occurrences, of_plan


def _beyond(plan: Record, children: list[Record]) -> Iterator[str]:
    """Hooks that ran although an earlier one had left an input that is not well-formed."""
    current, broken = dict(plan.body.get("input") or {}), ""
    for child in children:
        if broken:
            yield f"hook {child.body.get('hookId')} at {plan.body.get('event')} ran after {broken} had left half a surrogate pair"
        if not child.body.get("failure"):
            current = folded(current, str(child.body.get("output", "")))
        broken = broken or (f"hook {child.body.get('hookId')}" if has_half(current) else "")


def _as_planned(history: History, records: tuple[Record, ...], plan: Record, children: list[Record]) -> Iterator[str]:
    """Which hooks have ended, in which order, each after it was on record that it may run, and before the broker forgot it."""
    event, planned = plan.body.get("event"), plan.body.get("hooks")
    ended = [child.body.get("hookId") for child in children]
    if not isinstance(planned, list) or ended != planned[: len(ended)]:
        yield f"the plan for {event} has other results than those of its first hooks, in their order"
    elif plan.body.get("mode") == "parallel" and ended != planned:
        yield f"the parallel plan for {event} has {len(ended)} of {len(planned)} results"
    own = of_plan(records, "intended", plan)
    forgotten = {subject(exchange): exchange.order for exchange in reversed(history.hooked.seen("acknowledge"))}
    for child in children:
        hook, execution = child.body.get("hookId"), str(child.body.get("executionCallId") or "")
        before = [one for one in own if one.body.get("executionCallId") == execution and one.sequence < child.sequence]
        if execution and len(before) != 1:
            yield f"hook {hook} at {event} ran with {len(before)} records that it might, not 1"
        if forgotten.get(execution, child.order) < child.order:
            yield f"hook {hook} at {event} was acknowledged before its result was on record"


def judge(history: History) -> Finding:
    """Every sequential plan on record, by the relay and by SQL."""
    notes, seen = Notes(history), 0
    for session in history.sessions:
        appended, kept = history.taken(session), history.records(session)
        for plan in occurrences(appended, "planned"):
            event, children = plan.body.get("event"), of_plan(appended, "child", plan)
            seen += 1
            if plan.body.get("mode") == "sequential" and event not in AFTER:
                notes.against(*_beyond(plan, children))
            notes.against(*_as_planned(history, appended, plan, children))
            if [record.text for record in of_plan(kept, "child", plan)] != [record.text for record in children]:
                notes.missing(f"SQL has other results of the plan for {event} than were appended")
            ends = of_plan(appended, "completed", plan)
            if len(ends) != 1 and not (history.broken_off(session) and not ends):
                (notes.against if len(ends) > 1 else notes.missing)(f"the plan for {event} was completed {len(ends)} times")
    notes.served()
    return notes.conclude(f"{seen} plan(s) kept what their hooks said and ran none beyond an input that is not well-formed")


CHECK = Check(
    id="hook_prefix_kept",
    title="A sequential plan stops at the first ill-formed input and keeps what ran before",
    needs=("relay", "sql"),
    applies=has_hooks,
    judge=judge,
)
