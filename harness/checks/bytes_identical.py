"""The input of an admitted call is the same at every station: as the model gave it, as the host starts it, as the worker gets it.

Same keys, same values, code point for code point: composed and decomposed letters differ, and so do 1, 1.0 and true. The other
stations have checks of their own: `arguments_preserved` (the store), `exactly_one_execution` (the process), and
`zero_side_effects` (the disk).
"""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes, has_run
from harness.checks.stations import Admitted, admitted, payload_text, payloads, read_once
from harness.ledger.facts import Body, canonical
from harness.ledger.history import History


def _difference(given: Body, found: object) -> str | None:
    """How two inputs differ, without their text."""
    if not isinstance(found, dict) or given.keys() != found.keys():
        return "has other keys"
    changed = sum(canonical(given[key]) != canonical(found[key]) for key in given)
    return f"has another value in {changed} of {len(given)} keys" if changed else None


def _carried(call: Admitted, text: str) -> str | None:
    """What is wrong with a payload."""
    try:
        payload = read_once(text)
    except ValueError:
        return "cannot be read as one object with each key once"
    if payload.get("tool") != call.planned.call.tool:
        return "is for another tool"
    return _difference(read_once(call.planned.bound), payload.get("input"))


def judge(history: History) -> Finding:
    """Every start and every execute of every admitted call."""
    notes, read = Notes(history), 0
    for call in admitted(history, notes):
        for station, exchanges in payloads(history, call).items():
            if not exchanges:
                notes.missing(f"{call.planned.where}: no {station} was seen")
            for exchange in exchanges:
                read += 1
                if wrong := _carried(call, payload_text(exchange)):
                    notes.against(f"{call.planned.where}: the payload of {station} (#{exchange.order}) {wrong}")
    return notes.conclude(f"{read} payload(s) on host-broker and broker-worker hold the model's input, code point for code point")


CHECK = Check(
    id="bytes_identical",
    title="The input of an admitted call is the same for model, host, broker and worker",
    needs=("relay",),
    applies=has_run,
    judge=judge,
)
