"""The result of an executed call is in the model's next request."""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes, has_executed
from harness.ledger.facts import Served
from harness.ledger.history import History


def _mistakes(step: Served) -> list[str]:
    found = []
    for call in step.step.call:
        results = [answer for answer in step.answers if answer.call == call.id]
        if len(results) != 1:
            found.append(f"{len(results)} results of call {call.id} of {step.where} reached the model, not 1")
        elif results[0].is_error:
            found.append(f"the model was told that call {call.id} of {step.where} failed")
        elif call.output is not None and call.output not in results[0].text:
            found.append(f"the result of call {call.id} of {step.where} does not hold the declared output")
    return found


def judge(history: History) -> Finding:
    """One result per executed call, no error, with the declared output."""
    notes = Notes(history)
    notes.missing(*(f"{name} was never served" for name in history.unserved))
    steps = [step for step in history.served if any(call.expect == "executed" for call in step.step.call)]
    for step in steps:
        if step.after is None:
            notes.missing(f"no model request followed {step.where}")
        else:
            notes.against(*_mistakes(step))
    orders = ", ".join(f"#{step.after.order}" for step in steps if step.after)
    return notes.conclude(f"every result of an executed call is in model request(s) {orders}")


CHECK = Check(
    id="result_reaches_model",
    title="The result of every executed call is in the next model request",
    needs=("model",),
    applies=has_executed,
    judge=judge,
)
