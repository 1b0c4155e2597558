"""A call that runs without a question, because it only looks, has its grant on record first: rule and input digest.

The digest is reckoned here from the model's own arguments.
"""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes
from harness.checks.questions import asked_of, kept
from harness.checks.stations import read_once
from harness.ledger.facts import Planned, Served, decoded, input_digest
from harness.ledger.history import History
from harness.scenario.spec import Case

GRANTED = "granted"


def _wrong(history: History, planned: Planned, step: Served) -> list[str]:
    own = asked_of(history, planned, step)
    states = [one.state for one in own]
    if states != [GRANTED]:
        return [f"{planned.where}: its approval records are {', '.join(states) or 'none'}, not {GRANTED}"]
    found, grant = [], own[0]
    if grant.input_digest != input_digest(read_once(planned.given)):
        found.append(f"{planned.where}: the grant is not for the model's own input")
    if not decoded(str(decoded(grant.exchange.request).get("text", ""))).get("rule"):
        found.append(f"{planned.where}: the grant does not say by which rule")
    if any(e.order < grant.exchange.finished for e in history.trace(planned).prepares):
        found.append(f"{planned.where}: it was reserved before its grant was on record")
    if not any(record.body.get("state") == GRANTED for record in kept(history, planned)):
        found.append(f"{planned.where}: SQL has no grant of it")
    return found


def judge(history: History) -> Finding:
    """Every call that the scenario has granted."""
    notes, seen = Notes(history), 0
    for planned in history.planned("executed"):
        step = history.step_of(planned)
        if not planned.call.granted:
            continue
        if step is None or not history.trace(planned).prepares:
            notes.missing(f"{planned.where}: it was never reserved")
            continue
        notes.against(*_wrong(history, planned, step))
        seen += 1
    return notes.conclude(f"{seen} call(s) that nobody was asked about have their grant on record, by relay and SQL")


def _applies(case: Case) -> bool:
    return any(call.granted for _, call in case.calls())


CHECK = Check(
    id="audited",
    title="An automatic grant is on record before the call is reserved",
    needs=("relay", "sql"),
    applies=_applies,
    judge=judge,
)
