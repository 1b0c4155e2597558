"""An approval binds one decision to one input: asked before anything is reserved, settled once, and good for nothing else.

The digest is reckoned here from the model's own arguments; what the host calls the input's digest has to be that.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from harness.checks.check import Check, Finding, Notes, asks
from harness.checks.questions import REQUESTED, Asking, answers, asked_of, askings, kept, pending
from harness.checks.stations import read_once
from harness.ledger.event import Exchange
from harness.ledger.facts import HOST_BROKER, Planned, Served, decoded, input_digest, succeeded
from harness.ledger.history import History
from harness.scenario.spec import Case, Expectation

ASKED: tuple[Expectation, ...] = ("executed", "stopped", "denied")
SETTLED = {"executed": ("allowed",), "stopped": ("allowed",), "denied": ("denied", "expired", "cancelled")}
"""How the question of a call may be settled, by what must become of the call."""
DECISIONS = {"allowed": "allow", "denied": "deny"}
"""The states that only an answer makes."""


def _own(history: History, planned: Planned, step: Served) -> list[Asking]:
    """The records of its question; where hooks rewrite its input, of the last question, which is about what runs."""
    own = asked_of(history, planned, step)
    return own if planned.call.effective is None else [one for one in own if one.approval == own[-1].approval]


def _settled(history: History, planned: Planned, own: Sequence[Asking], notes: Notes) -> bool:
    """Asked once, settled once, as expected, and kept so in SQL; says whether the rest can be judged."""
    states, allowed = [one.state for one in own], SETTLED[planned.call.expect]
    if not states and planned.call.expect == "denied" and history.driven("cancelled", planned.session):
        return False  # a cancelled turn asks no more
    if states[:1] != [REQUESTED] or len(states) < 2:
        notes.missing(f"{planned.where}: its approval records are {', '.join(states) or 'none'}, not {REQUESTED} and {allowed[0]}")
        return False
    if len(states) > 2 or states[1] not in allowed:
        notes.against(f"{planned.where}: its approval records are {', '.join(states)}, not {REQUESTED} and {allowed[0]}")
    if len({one.approval for one in own}) != 1:
        notes.against(f"{planned.where}: its approval records are of several approvals")
    in_sql = [str(record.body.get("state")) for record in kept(history, planned)]
    if not _holds(states, in_sql):
        notes.against(f"{planned.where}: SQL has the approval records {', '.join(in_sql) or 'none'}, the relay {', '.join(states)}")
    return True


def _holds(states: Sequence[str], in_sql: Sequence[str]) -> bool:
    """Whether SQL has them in that order; an id that is used again has more of them."""
    return any(list(in_sql[at : at + len(states)]) == list(states) for at in range(len(in_sql)))


def _bound(planned: Planned, own: Sequence[Asking], given: Sequence[Exchange]) -> list[str]:
    """What is wrong with the digests, and with the answer that settled the question."""
    expected = input_digest(read_once(planned.given))
    found = [
        f"{planned.where}: the inputDigest of the {one.state} record is not that of the model's arguments"
        for one in own
        if one.input_digest != expected
    ]
    accepted, decision = [e for e in given if succeeded(e)], DECISIONS.get(own[1].state)
    if len(accepted) != (decision is not None):
        found.append(f"{planned.where}: {len(accepted)} answer(s) were accepted, and it was {own[1].state}")
    for answer in accepted:
        said = decoded(answer.request)
        if (said.get("decision"), said.get("inputDigest")) != (decision, expected):
            found.append(f"{planned.where}: the accepted answer (#{answer.order}) has another decision or inputDigest")
        if not own[0].exchange.finished <= answer.order <= own[1].exchange.order:
            found.append(f"{planned.where}: the accepted answer (#{answer.order}) was not given between question and settlement")
    return found


def _reserved(history: History, planned: Planned, step: Served, settled: Asking, notes: Notes) -> None:
    """An executed call is reserved after its question was settled, and a denied one never."""
    prepares = history.exchanges(HOST_BROKER, "prepare", window=step)
    own = [e for e in prepares if decoded(e.request).get("toolCallId") == planned.call.id]
    if planned.call.expect == "denied":
        notes.against(*(f"{planned.where}: prepare (#{e.order}) though it was {settled.state}" for e in own))
        return
    if not own:
        notes.missing(f"{planned.where}: no prepare followed its approval")
    early = [e for e in own if e.order < settled.exchange.finished]
    notes.against(*(f"{planned.where}: prepare (#{e.order}) before its approval was on record" for e in early))


def _in_turn(history: History, step: Served) -> list[str]:
    """Questions of a batch come one at a time, in the order of its calls."""
    own = [one for one in askings(history, step.session) if step.covers(one.exchange.order)]
    # A rewritten input is asked about anew, right after what it was before.
    asked = [call for call, _ in groupby(one.call for one in own if one.state == REQUESTED)]
    found = []
    if asked != [call.id for call in step.step.call if call.id in asked]:
        found.append(f"the questions of {step.where} came in another order than its calls")
    if any((one.state == REQUESTED) == (two.state == REQUESTED) for one, two in pairwise(own)):
        found.append(f"a question of {step.where} was asked before the one before it was settled")
    for event in history.driven("asked", step.session):
        if step.covers(event.order) and decoded(event.body).get("pending") not in (None, 1):
            found.append(f"several questions of session {step.session} were pending at one time (#{event.order})")
    return found


def _late(history: History, notes: Notes) -> None:
    """What was answered after it was settled authorises nothing."""
    planned = sum(act.late for act in history.case.acts if act.answer is not None)
    late = [event for event in history.driven("answered") if decoded(event.body).get("late") is True]
    taken = [event for event in late if event.detail != "approval_settled"]
    notes.against(*(f"a late answer in session {event.session} was not refused (#{event.order})" for event in taken))
    if len(late) < planned:
        notes.missing(f"{len(late)} of {planned} late answers were given")


def judge(history: History) -> Finding:
    """Every admitted call of a case that asks."""
    notes, calls = Notes(history), [one for one in history.planned(*ASKED) if not (one.call.granted or one.call.policy)]
    for planned in calls:
        step = history.step_of(planned)
        own = [] if step is None else _own(history, planned, step)
        if step is None:
            notes.missing(f"step {planned.number} of session {planned.session} was never served")
        elif _settled(history, planned, own, notes):
            notes.against(*_bound(planned, own, list(answers(history, planned.session, own[0].approval))))
            _reserved(history, planned, step, own[1], notes)
            if not pending(history, planned):
                notes.missing(f"{planned.where}: the driver never saw its question")
    for step in history.served:
        notes.against(*_in_turn(history, step))
    _late(history, notes)
    return notes.conclude(f"{len(calls)} question(s) settled once each, bound to the input, before anything was reserved")


def _applies(case: Case) -> bool:
    return asks(case) and any(not (call.granted or call.policy) for _, call in case.calls(*ASKED))


CHECK = Check(
    id="approval_binds",
    title="Each admitted call is asked for once, in its turn, and runs only if that very input was allowed",
    needs=("model", "relay", "sql"),
    applies=_applies,
    judge=judge,
)
