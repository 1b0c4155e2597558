"""What a hook has changed is asked about again: nobody's word for the old input lets the new one run.

The digest of the changed input is reckoned here from the case, never taken from the host.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.check import Check, Finding, Notes
from harness.checks.questions import REQUESTED, askings, kept
from harness.ledger.event import Exchange
from harness.ledger.facts import DRIVER_HOST, HOST_BROKER, Planned, Served, decoded, input_digest, succeeded
from harness.ledger.history import History
from harness.scenario.spec import Call, Case


def _is_changed(call: Call) -> bool:
    return call.expect == "executed" and call.effective is not None


def _allowed(history: History, planned: Planned, step: Served) -> list[tuple[Exchange, str]]:
    """Every accepted answer that allows something of the call's questions, with the digest that it names."""
    own = {
        one.approval for one in askings(history, planned.session) if one.call == planned.call.id and step.covers(one.exchange.order)
    }
    answers = [e for e in history.exchanges(DRIVER_HOST, "answer", window=step) if succeeded(e)]
    said = [(e, decoded(e.request)) for e in answers if any(e.target.endswith(f"/{one}") for one in own)]
    return [(e, str(body.get("inputDigest"))) for e, body in said if body.get("decision") == "allow"]


def _judged(history: History, planned: Planned, step: Served, notes: Notes) -> Iterator[int]:
    """Orders of the answers that allowed the very input that ran."""
    wanted, old = input_digest(decoded(planned.given)), input_digest(decoded(planned.call.argument_text()))
    given = _allowed(history, planned, step)
    right = [e for e, digest in given if digest == wanted]
    prepares = [
        e for e in history.exchanges(HOST_BROKER, "prepare", window=step) if decoded(e.request).get("toolCallId") == planned.call.id
    ]
    if not prepares:
        notes.missing(f"{planned.where}: nothing was reserved for it, though it was to run")
    for prepare in prepares:
        if not any(answer.order < prepare.order for answer in right):
            stale = "only its input before the hooks" if old in [digest for _, digest in given] else "no input of it"
            notes.against(f"{planned.where}: prepare (#{prepare.order}), and {stale} had been allowed by then")
    in_sql = {(r.body.get("state"), r.body.get("inputDigest")) for r in kept(history, planned)}
    for state in (REQUESTED, "allowed"):
        if (state, wanted) not in in_sql:
            notes.missing(f"{planned.where}: SQL has no approval record {state} for the input that hooks have made")
    yield from (answer.order for answer in right)


def judge(history: History) -> Finding:
    """Every executed call whose input hooks have changed."""
    notes, orders, calls = Notes(history), list[int](), [one for one in history.planned("executed") if _is_changed(one.call)]
    for planned in calls:
        if (step := history.step_of(planned)) is None:
            notes.missing(f"step {planned.number} of session {planned.session} was never served")
        else:
            orders += _judged(history, planned, step, notes)
    return notes.conclude(f"{len(calls)} changed input(s) allowed as they ran, by answer(s) #{', #'.join(map(str, orders))}")


def _applies(case: Case) -> bool:
    answered = any(act.answer is not None for act in case.acts)
    return bool(case.hooks) and answered and any(_is_changed(call) for _, call in case.calls("executed"))


CHECK = Check(
    id="reapproved",
    title="An input that hooks have changed is approved again before it runs",
    needs=("relay", "sql"),
    applies=_applies,
    judge=judge,
)
