"""The faults that a case plans: which exchange each acts on, and whether it has fired."""

from __future__ import annotations

from dataclasses import dataclass

from harness.relay.table import NOTHING, TAPS
from harness.relay.tap import Sent, Tap
from harness.scenario.spec import Fault


@dataclass
class PlannedFault:
    """One fault of a case, with its count."""

    fault: Fault
    seen: int = 0
    fired: int = 0

    def takes(self, sent: Sent, session: str) -> bool:
        """Whether it acts on this exchange; counts those that it could act on."""
        fault = self.fault
        if (fault.edge, fault.operation) != (sent.edge, sent.operation) or fault.session not in (None, session):
            return False
        if fault.contains is not None and fault.contains.encode("utf-8") not in sent.body:
            return False
        self.seen += 1
        if self.seen <= fault.skip or self.fired >= fault.times:
            return False
        self.fired += 1
        return True


def tap_for(faults: list[PlannedFault], sent: Sent, session: str) -> Tap:
    """The tap of the first fault that takes this exchange, else the one that does nothing."""
    return next((TAPS[planned.fault.tap] for planned in faults if planned.takes(sent, session)), NOTHING)
