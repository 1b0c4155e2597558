"""How the turns of a session ended, as the transcript and the driver say. Shared by two checks."""

from __future__ import annotations

from harness.checks.check import Notes
from harness.ledger.event import Driven
from harness.ledger.facts import TURN_ENDS, decoded, listed
from harness.ledger.history import History


def _ends(ended: Driven) -> dict[str, list[str]]:
    """Prompt id → the ends that the transcript holds for it, prompts in order of appearance."""
    found: dict[str, list[str]] = {}
    for event in listed(decoded(ended.body), "events"):
        if event.get("promptId"):
            ends = found.setdefault(str(event["promptId"]), [])
            ends += [str(event["type"])] if event.get("type") in TURN_ENDS else []
    return found


def note_turns(history: History, session: str, notes: Notes) -> None:
    """Note every turn of the session that did not end once, as declared."""
    ended, still = history.driven("ended", session), history.driven("still_active", session)
    prompts = [act for _, act in history.case.prompts(session)]
    notes.against(*(f"a turn of session {session} was still active {event.detail}" for event in still))
    for number, act in enumerate(prompts, start=1):
        where = f"turn {number} of session {session}"
        if act.ends == "unknown":
            notes.against(*(f"{where} was seen to end, though nobody can know" for _ in ended[number - 1 :]))
            continue
        if number > len(ended):
            notes.missing(f"{where} was never seen to end")
            continue
        ends = list(_ends(ended[number - 1]).values())
        own = ends[number - 1] if number <= len(ends) else []
        if len(own) != 1:
            notes.against(f"the transcript has {len(own)} ends of {where}, not 1")
        elif own[0] != act.ends or ended[number - 1].detail != act.ends:
            notes.against(f"{where} ended with {own[0]}, not {act.ends}")
