"""Every key that the model sent reaches the worker with its value, or the result names it; and no key comes from nowhere.

Reckoned from the model's own arguments and the payload on the wire: what the scenario declares has no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.checks.check import Check, Finding, Notes, has_run
from harness.checks.stations import Admitted, admitted, payload_text, payloads, read_once
from harness.checks.told import answers_to, names, shown
from harness.ledger.facts import Body, Served, canonical
from harness.ledger.history import History

META: Mapping[str, tuple[str, int]] = {"_timeout_seconds": ("timeout", 1000), "_background": ("is_background", 1)}
"""Meta key → the worker's key that means the same, and how many of its units one of the other's is."""


def _honoured(key: str, value: object, found: Body) -> bool:
    """Whether the worker got it as it was said."""
    if key in found and canonical(found[key]) == canonical(value):
        return True
    if key not in META or not isinstance(value, int):
        return False
    name, times = META[key]
    wanted = value if isinstance(value, bool) else value * times
    return name in found and canonical(found[name]) == canonical(wanted)


def _dropped(given: Body, found: Body, text: str) -> Iterator[str]:
    """Keys that were not honoured without a word, and values that nobody has sent."""
    for key, value in given.items():
        if not _honoured(key, value, found) and not names(text, key):
            yield f'key "{shown(key)}" was not honoured, and the result does not name it'
    meant = {META[key][0] for key in META if key in given or names(text, key)}
    for key in found.keys() - given.keys() - meant:
        if not names(text, key):
            yield f'the worker got a key "{shown(key)}" that was not sent, and the result does not name it'


def _inputs(history: History, call: Admitted) -> Iterator[Body]:
    for exchange in payloads(history, call)["execute on broker-worker"]:
        found = read_once(payload_text(exchange)).get("input")
        yield found if isinstance(found, dict) else {}


def judge(history: History) -> Finding:
    """Every execute of every admitted call, beside its result."""
    notes, keys = Notes(history), 0
    for call in admitted(history, notes):
        step: Served | None = history.step_of(call.planned)
        text = "" if step is None else answers_to(step, call.planned.call.id)
        inputs = list(_inputs(history, call))
        if not inputs:
            notes.missing(f"{call.planned.where}: no execute was seen")
        for found in inputs:
            keys += len(call.given)
            notes.against(*(f"{call.planned.where}: {wrong}" for wrong in _dropped(call.given, found, text)))
    return notes.conclude(f"{keys} key(s) reached the worker as they were sent, or were told of")


CHECK = Check(
    id="no_silent_drop",
    title="What the model sent reaches the worker, or the model is told what did not",
    needs=("model", "relay"),
    applies=has_run,
    judge=judge,
)
