"""The service does it, and the reply is held at a gate: the moment between an effect and the knowledge of it, as long as one likes.

Whoever is killed there has done this and not one thing more. What repeats the request is held as well; opening the gate ends the
fault without handing out any reply that was held.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.relay.gate import Gate
from harness.relay.tap import Forward, Reply, Sent


@dataclass(frozen=True)
class HoldReply:
    """The effect happens; what the caller knows is nothing, and it still waits."""

    gate: Gate | None = None
    """None holds nothing up: the row in the table, which no case uses."""
    id = "hold_reply"

    async def act(self, sent: Sent, forward: Forward) -> Reply:
        """Forward once, wait at the gate, answer nothing."""
        await forward(sent)
        if self.gate is not None:
            await self.gate.wait()
        return Reply(None)
