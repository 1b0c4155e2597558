"""The model hears one error per call of a refused batch, in order, and the store keeps exactly that."""

from __future__ import annotations

from collections.abc import Sequence

from harness.checks.absence import gaps
from harness.checks.check import Check, Finding, Notes, has_refused
from harness.ledger.facts import Record, Served
from harness.ledger.history import History

NOT_EXECUTED = "not executed"


def _told(step: Served) -> list[str]:
    """What the next model request gets wrong."""
    answers, expected = step.answers, [call.id for call in step.step.call]
    told = [answer.call for answer in answers]
    if told != expected:
        return [f"after {step.where} the model heard results for {', '.join(told) or 'no call'}, not {', '.join(expected)}"]
    found = []
    for call, answer in zip(step.step.call, answers, strict=True):
        if not answer.is_error:
            found.append(f"the result of call {call.id} after {step.where} is not an error")
        elif call.expect == "sibling" and NOT_EXECUTED not in answer.text:
            found.append(f"the error of sibling {call.id} after {step.where} does not say that it was {NOT_EXECUTED}")
    return found


def _kept(step: Served, groups: Sequence[Record], witness: str) -> list[str]:
    """What is wrong with the assistant message and the result group that one witness saw."""
    asked = [record for record in groups if record.role == "assistant"]
    told = [record for record in groups if record.role == "tool_result"]
    if len(asked) != 1 or len(told) != 1:
        return [f"{witness} has {len(asked)} assistant and {len(told)} tool_result records for {step.where}, not 1 and 1"]
    expected = [call.id for call in step.step.call]
    found = []
    if [call for call, _, _ in asked[0].calls] != expected:
        found.append(f"{witness}: the assistant record of {step.where} has other calls or another order")
    if [call for call, _ in told[0].results] != expected:
        found.append(f"{witness}: the tool_result record of {step.where} has other ids or another order")
    if not all(is_error for _, is_error in told[0].results):
        found.append(f"{witness}: a result of {step.where} is not marked as an error")
    return found


def judge(history: History) -> Finding:
    """One error per call, in order, in the next request, on the wire to the store, and in SQL."""
    notes = Notes(history)
    notes.gap(*gaps(history))
    for step in history.refused:
        if step.after is None:
            notes.missing(f"no model request followed {step.where}")
            continue
        notes.against(*_told(step))
        appended = [record for record in history.taken(step.session) if step.covers(record.order)]
        notes.against(*_kept(step, appended, "relay host-store"))
        sequences = {record.sequence for record in appended}
        stored = [record for record in history.records(step.session) if record.sequence in sequences]
        notes.against(*_kept(step, stored, "SQL"))
    return notes.conclude(_summary(history))


def _summary(history: History) -> str:
    count = sum(len(step.step.call) for step in history.refused)
    orders = ", ".join(f"#{step.after.order}" for step in history.refused if step.after)
    return f"{count} error(s), paired and in order, in model request(s) {orders}; the store holds the same groups"


CHECK = Check(
    id="ordered_paired_errors",
    title="After a refusal the model hears one error per call, in order, and the store keeps exactly that",
    needs=("model", "relay", "sql"),
    applies=has_refused,
    judge=judge,
)
