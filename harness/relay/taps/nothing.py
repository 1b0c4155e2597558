"""The tap that does nothing: with it an edge is byte-identical to one without a tap."""

from __future__ import annotations

from harness.relay.tap import Forward, Reply, Sent


class Nothing:
    """Hands the request on and the reply back."""

    id = "nothing"

    async def act(self, sent: Sent, forward: Forward) -> Reply:
        """Forward once, unchanged."""
        return await forward(sent)
