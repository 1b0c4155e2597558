"""The service does it, and its caller never hears: the reply is thrown away and the connection broken."""

from __future__ import annotations

from harness.relay.tap import Forward, Reply, Sent


class LoseReply:
    """The effect happens; what the caller knows is nothing."""

    id = "lose_reply"

    async def act(self, sent: Sent, forward: Forward) -> Reply:
        """Forward once, answer nothing."""
        await forward(sent)
        return Reply(None)
