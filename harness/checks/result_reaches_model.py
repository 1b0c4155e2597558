"""The result of an admitted call is in the model's next request, and says how the call ended.

What a blocked session leaves abandoned has no result: of it `no_false_success` speaks.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.checks.check import Check, Finding, Notes
from harness.ledger.facts import Heard, Served
from harness.ledger.history import History
from harness.scenario.spec import Call, Case, Expectation

TOLD: tuple[Expectation, ...] = ("executed", "stopped", "denied")
"""Calls of which the model has to hear."""


def _told(call: Call, answers: Sequence[Heard], where: str) -> str | None:
    """What is wrong with what the model was told about one call."""
    if len(answers) != 1:
        return f"{len(answers)} results of call {call.id} of {where} reached the model, not 1"
    if call.expect != "executed":
        return (
            None
            if answers[0].is_error
            else f"the model was told that call {call.id} of {where}, which was {call.expect}, went well"
        )
    if answers[0].is_error:
        return f"the model was told that call {call.id} of {where} failed"
    if call.output is not None and call.output not in answers[0].text:
        return f"the result of call {call.id} of {where} does not hold the declared output"
    return None


def _mistakes(step: Served) -> list[str]:
    told = ((call, [answer for answer in step.answers if answer.call == call.id]) for call in step.step.call)
    return [wrong for call, answers in told if call.expect in TOLD and (wrong := _told(call, answers, step.where))]


def _due(history: History, step: Served) -> bool:
    """Whether the model had to be asked again: not where the scenario lets the turn end in an error right after this step."""
    return not (step.ends_turn and history.case.acts[step.turn].ends != "turn_complete")


def judge(history: History) -> Finding:
    """One result per call; no error and the declared output for an executed one, an error for one that was stopped or denied."""
    notes = Notes(history)
    notes.served()
    steps = [step for step in history.served if any(call.expect in TOLD for call in step.step.call)]
    for step in steps:
        if step.after is not None and (_due(history, step) or step.answers):
            notes.against(*_mistakes(step))
        elif _due(history, step):
            notes.missing(f"no model request followed {step.where}")
    orders = ", ".join(f"#{step.after.order}" for step in steps if step.after)
    return notes.conclude(f"every result of an admitted call is in model request(s) {orders or '- (none was due)'}")


def _applies(case: Case) -> bool:
    return any(True for _ in case.calls(*TOLD))


CHECK = Check(
    id="result_reaches_model",
    title="The result of every admitted call is in the next model request, and says how it ended",
    needs=("model",),
    applies=_applies,
    judge=judge,
)
