"""A refusal in a turn that has done valid work keeps the lease: nothing is given back, and nobody else gets in, before the
model's last answer of that turn.
"""

from __future__ import annotations

from harness.checks.absence import gaps, granted_generation
from harness.checks.check import Check, Finding, Notes
from harness.ledger.event import Exchange
from harness.ledger.facts import HOST_BROKER, Served, succeeded
from harness.ledger.history import History
from harness.scenario.spec import Act, Case


def _works_then_refuses(act: Act) -> bool:
    """Whether a refused answer of this turn follows one that works."""
    works = [place for place, step in enumerate(act.step) if step.call and not step.refused]
    return any(step.refused and place > works[0] for place, step in enumerate(act.step)) if works else False


def _kept_through(history: History) -> list[tuple[Served, list[Served]]]:
    """(the first refusal after valid work, the served answers of its turn) for each turn with one."""
    found = []
    for place, act in enumerate(history.case.acts):
        answers = [step for step in history.served if step.turn == place and step.session == act.prompt]
        working = [step for step in answers if step.step.call and not step.step.refused]
        refusals = [step for step in answers if step.step.refused and working and step.number > working[0].number]
        if refusals:
            found.append((refusals[0], answers))
    return found


def _broken(history: History, refusal: Served, since: int, until: int) -> list[str]:
    """Releases of the owner, and grants to others, between its acquisition and the turn's last answer."""
    owner, found = refusal.session, []
    for exchange in history.exchanges(HOST_BROKER, "release", "acquire"):
        session = history.session_of(exchange)
        if not since < exchange.order < until:
            continue
        if exchange.operation == "release" and session == owner:
            found.append(f"session {owner} sent release (#{exchange.order}) before the last answer of the turn of {refusal.where}")
        elif exchange.operation == "acquire" and session not in ("", owner) and succeeded(exchange):
            found.append(f"session {session} was granted the workspace (#{exchange.order}) that {owner} held in {refusal.where}")
    return found


def _acquired(history: History, refusal: Served, since: int) -> list[Exchange]:
    acquires = history.exchanges(HOST_BROKER, "acquire", session=refusal.session)
    return [e for e in acquires if since < e.order < refusal.request.order and succeeded(e) and granted_generation(e) is not None]


def _waiting(history: History, notes: Notes) -> None:
    """Whoever the scenario makes wait must have been told so."""
    for label in dict.fromkeys(act.await_busy for act in history.case.acts if act.await_busy is not None):
        notes.against(
            *(f"session {label} was not told workspace_busy {event.detail}" for event in history.driven("busy_not_seen", label))
        )
        planned = sum(act.await_busy == label for act in history.case.acts)
        seen = len(history.driven("busy_seen", label)) + len(history.driven("busy_not_seen", label))
        if seen < planned:
            notes.missing(f"session {label} was never seen to be told workspace_busy")


def judge(history: History) -> Finding:
    """No release, no other owner, and the waiting session was told to wait."""
    notes = Notes(history)
    notes.gap(*gaps(history, "acquire", "release"))
    notes.served()
    _waiting(history, notes)
    controls = []
    for refusal, answers in _kept_through(history):
        acquired = _acquired(history, refusal, answers[0].request.order)
        if not acquired:
            notes.gap(f"no control: no acquire was granted to session {refusal.session} before {refusal.where}")
            continue
        controls.append(f"acquire #{acquired[-1].order} of session {refusal.session}")
        notes.against(*_broken(history, refusal, acquired[-1].order, answers[-1].request.finished))
    return notes.conclude(f"the owner kept its lease through {len(controls)} refusal(s); control: {', '.join(controls) or 'none'}")


def _applies(case: Case) -> bool:
    return any(act.await_busy is not None or _works_then_refuses(act) for act in case.acts)


CHECK = Check(
    id="owner_kept",
    title="A refusal after valid work of the same turn keeps the lease until the turn's last answer",
    needs=("model", "relay"),
    applies=_applies,
    judge=judge,
    claims_absence=True,
)
