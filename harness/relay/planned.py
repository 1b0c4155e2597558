"""The faults that a case plans: which exchange each acts on, and whether it has fired."""

from __future__ import annotations

from dataclasses import dataclass

from harness.relay.gate import Gate
from harness.relay.table import NOTHING, TAPS
from harness.relay.tap import Sent, Tap
from harness.relay.taps.hold_reply import HoldReply
from harness.scenario.spec import Fault


@dataclass
class PlannedFault:
    """One fault of a case, with its count."""

    fault: Fault
    gate: Gate | None = None
    """Where it holds replies. Once that is open the fault is over."""
    seen: int = 0
    fired: int = 0

    @property
    def tap(self) -> Tap:
        """What it does to an exchange."""
        return TAPS[self.fault.tap] if self.gate is None else HoldReply(self.gate)

    def takes(self, sent: Sent, session: str) -> bool:
        """Whether it acts on this exchange; counts those that it could act on."""
        fault = self.fault
        if self.gate is not None and self.gate.opened:
            return False
        if (fault.edge, fault.operation) != (sent.edge, sent.operation) or fault.session not in (None, session):
            return False
        if fault.contains is not None and fault.contains.encode("utf-8") not in sent.body:
            return False
        self.seen += 1
        if self.seen <= fault.skip or (self.gate is None and self.fired >= fault.times):
            return False
        self.fired += 1
        return True


def tap_for(faults: list[PlannedFault], sent: Sent, session: str) -> Tap:
    """The tap of the first fault that takes this exchange, else the one that does nothing."""
    return next((planned.tap for planned in faults if planned.takes(sent, session)), NOTHING)
