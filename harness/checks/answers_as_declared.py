"""A service that is asked directly answers as the scenario declares: what stands deeper than the host's own checks holds by itself.

The host asks nothing that these services would refuse, so nothing else reaches their own admission. The relay is the witness; the
driver's account must agree with it.
"""

from __future__ import annotations

from harness.checks.check import Check, Finding, Notes
from harness.ledger.event import Exchange
from harness.ledger.facts import DIRECT_EDGE, error_code
from harness.ledger.history import History
from harness.scenario.spec import Act, Case


def _asked(case: Case) -> list[Act]:
    return [act for act in case.acts if act.request is not None]


def _wrong(act: Act, exchange: Exchange) -> list[str]:
    """What is wrong with one answer."""
    if act.send is None:
        return []
    what = f"{act.send.label} (#{exchange.order}, {act.request})"
    if exchange.edge != DIRECT_EDGE.format(act.request):
        return [f"{what} was sent on {exchange.edge}"]
    got = (exchange.status, error_code(exchange) or "")
    wanted = (act.send.status, act.send.code)
    return [] if got == wanted else [f"{what} was answered {got[0]} {got[1]}".rstrip() + f", not {wanted[0]} {wanted[1]}".rstrip()]


def judge(history: History) -> Finding:
    """Each request in its turn, with the status and the code of its answer."""
    notes, acts = Notes(history), _asked(history.case)
    seen = history.direct
    told = history.driven("requested")
    notes.against(*(wrong for act, exchange in zip(acts, seen, strict=False) for wrong in _wrong(act, exchange)))
    if len(seen) < len(acts):
        notes.missing(f"{len(seen)} of {len(acts)} direct requests were seen by the relay")
    if len(told) != len(seen):
        notes.gap(f"the driver tells of {len(told)} direct requests, the relay of {len(seen)}")
    refused = sum(exchange.status is not None and exchange.status >= 400 for exchange in seen)
    return notes.conclude(f"{len(seen)} direct requests were answered as declared, {refused} of them refused")


CHECK = Check(
    id="answers_as_declared",
    title="A service that is asked directly gives the declared answer",
    needs=("relay",),
    applies=lambda case: bool(_asked(case)),
    judge=judge,
)
