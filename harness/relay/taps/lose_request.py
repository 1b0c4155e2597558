"""The request never arrives: nothing is forwarded and the connection is broken."""

from __future__ import annotations

from harness.relay.tap import Forward, Reply, Sent


class LoseRequest:
    """Nothing happens; what the caller knows is nothing."""

    id = "lose_request"

    async def act(self, sent: Sent, forward: Forward) -> Reply:  # noqa: ARG002 -- that is the point
        """Answer nothing."""
        return Reply(None)
