"""What comes back is not what was written: the reply has one bit of its body changed, as a bad disk or a careless proxy does it."""

from __future__ import annotations

from dataclasses import replace

from harness.relay.tap import Forward, Reply, Sent


class Altered:
    """The effect happens; what the caller knows is almost right. An empty body has nothing to change."""

    id = "altered"

    async def act(self, sent: Sent, forward: Forward) -> Reply:
        """Forward once, change the last bit of the last byte."""
        reply = await forward(sent)
        return replace(reply, body=reply.body[:-1] + bytes(byte ^ 1 for byte in reply.body[-1:]))
