"""What the operator reads agrees with what happened: the transcript says of each call what the model was told, and that is true.

Happened means: a worker accepted an execution of the call. Leaves out all wording but `not executed` and the hook's name.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.check import Check, Finding, Notes
from harness.checks.deny_means_not_run import denied_by_hook
from harness.checks.hooks import has_hooks
from harness.checks.ordered_paired_errors import NOT_EXECUTED
from harness.ledger.facts import (
    BROKER_WORKER,
    HOST_BROKER,
    Body,
    Planned,
    Served,
    decoded,
    execution_id,
    listed,
    succeeded,
)
from harness.ledger.history import History
from harness.scenario.spec import Case


def _shown(history: History, session: str) -> dict[tuple[str, str], list[Body]]:
    """The results of each (prompt, call), as the last transcript of the session has them."""
    seen = (*history.driven("ended", session), *history.driven("loaded", session))
    events = listed(decoded(max(seen, key=lambda event: event.order).body), "events") if seen else []
    found: dict[tuple[str, str], list[Body]] = {}
    for event in events:
        data = event.get("data")
        for result in listed(data, "results") if event.get("type") == "tool_result" and isinstance(data, dict) else []:
            found.setdefault((str(event.get("promptId")), str(result.get("id"))), []).append(result)
    return found


def _ran(history: History, planned: Planned, step: Served) -> bool:
    prepares = history.exchanges(HOST_BROKER, "prepare", window=step)
    ids = {execution_id(e) for e in prepares if decoded(e.request).get("toolCallId") == planned.call.id}
    return any(execution_id(e) in ids and succeeded(e) for e in history.exchanges(BROKER_WORKER, "execute", window=step))


def _said(planned: Planned, text: str, is_error: bool, ran: bool) -> Iterator[str]:
    """Where one telling of the call and the facts part."""
    if ran and NOT_EXECUTED in text.split("\n", 1)[0]:
        yield f"{planned.where}: told that it was {NOT_EXECUTED}, and the worker has run it"
    if not ran and not is_error:
        yield f"{planned.where}: told as if it had run, and no worker has"
    if not ran and is_error and NOT_EXECUTED not in text and planned.call.expect in ("denied", "sibling"):
        yield f"{planned.where}: not told that it was {NOT_EXECUTED}"


def _call(history: History, planned: Planned, step: Served, prompt: str, shown: dict[tuple[str, str], list[Body]]) -> Iterator[str]:
    heard = [answer for answer in step.answers if answer.call == planned.call.id]
    ran = _ran(history, planned, step)
    yield from (f"the model: {said}" for answer in heard for said in _said(planned, answer.text, answer.is_error, ran))
    own = shown.get((prompt, planned.call.id), [])
    for result in own:
        text, is_error = str(result.get("content", "")), result.get("isError") is True
        yield from (f"the transcript: {said}" for said in _said(planned, text, is_error, ran))
    # Notes of hooks after a batch are added to what the model hears, never to what was told before.
    if heard and own and not any(answer.text.startswith(str(result.get("content", ""))) for answer in heard for result in own):
        yield f"{planned.where}: the transcript tells something else than the model was told"


def _prompts(history: History, session: str) -> dict[int, str]:
    """The prompt of each step, by the step's number in the session."""
    prompts = [prompt for prompt, act in history.turns(session) for _ in act.step]
    return dict(enumerate(prompts, start=1))


def _names(history: History) -> Iterator[str]:
    """Denied calls whose error keeps from the model which hook it was."""
    for planned, step, said in denied_by_hook(history):
        first = next((str(record.body.get("hookId")) for record in said), None)
        for answer in step.answers:
            if first is not None and answer.call == planned.call.id and f'"{first}"' not in answer.text:
                yield f"{planned.where}: its error does not name the hook that denied it first"


def judge(history: History) -> Finding:
    """Every call of every served step, in what the model heard and what the transcript shows."""
    notes, calls = Notes(history), 0
    for session in history.sessions:
        shown, prompts = _shown(history, session), _prompts(history, session)
        for planned in (one for one in history.planned() if one.session == session):
            step = history.step_of(planned)
            if step is None or step.after is None or planned.call.expect == "abandoned":
                continue  # nobody was told anything: others look at why
            calls += 1
            prompt = prompts.get(planned.number, "")
            if not shown.get((prompt, planned.call.id)):
                notes.missing(f"{planned.where}: no transcript shows its result")
            notes.against(*_call(history, planned, step, prompt, shown))
    notes.against(*_names(history))
    notes.served()
    return notes.conclude(f"{calls} call(s) told to model and operator as they went")


def _applies(case: Case) -> bool:
    return has_hooks(case) and any(True for _ in case.calls())


CHECK = Check(
    id="operator_text_agrees",
    title="What model and operator are told of each call is what happened",
    needs=("model", "relay"),
    applies=_applies,
    judge=judge,
)
