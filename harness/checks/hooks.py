"""What the checks on hooks share: which steps were refused for their text, and what a plan makes of an input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.ledger.facts import Body, Record, Served, decoded
from harness.ledger.history import History
from harness.ledger.hooked import runs
from harness.scenario.spec import Case

AFTER = ("PostToolUse", "PostToolUseFailure", "PostToolBatch")


def has_half(value: object) -> bool:
    """Whether any text in a JSON value holds half a surrogate pair."""
    if isinstance(value, str):
        return any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, dict):
        return any(map(has_half, (*value, *value.values())))
    return isinstance(value, list) and any(map(has_half, value))


def refused_for_text(history: History) -> Iterator[Served]:
    """The served steps with a call whose text is not well-formed, as the model gave it or as a hook left it."""
    for step in history.refused:
        if any(call.rewritten or has_half(decoded(call.argument_text())) for call in step.step.call):
            yield step


def has_callback(history: History, step: Served) -> bool:
    """Whether a hook after the batch ran in the step's window, as it must after a refusal for another reason than its text."""
    if any(step.where == other.where for other in refused_for_text(history)):
        return False
    return any(run.event in AFTER and step.covers(run.exchange.order) for run in runs(history.hooked))


def said_by(output: str) -> Body:
    """What a hook printed, without the nesting that an event's own shape may bring."""
    said = decoded(output) if output.strip() else {}
    nested = said.get("hookSpecificOutput")
    if not isinstance(nested, dict):
        return said
    decision = nested.get("decision")
    if isinstance(decision, dict):
        nested = {**nested, **decision, "permissionDecision": decision.get("behavior")}
    return {**said, **nested}


def folded(current: Body, output: str) -> Body:
    """The input after one hook: replaced, or merged, or left as it is."""
    said = said_by(output)
    for key in ("updatedInput", "sequentialInput"):
        if isinstance(said.get(key), dict):
            current = dict(said[key])
    merged = said.get("tool_input")
    return {**current, **merged} if isinstance(merged, dict) else current


def left_by(plan: Record, children: Iterable[Record]) -> Body:
    """The input of a plan after these of its hooks; one that failed changes nothing."""
    current = dict(plan.body.get("input") or {})
    for child in children:
        if not child.body.get("failure"):
            current = folded(current, str(child.body.get("output", "")))
    return current


def has_hooks(case: Case) -> bool:
    """Whether the session has any."""
    return bool(case.hooks)
