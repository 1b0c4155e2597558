"""The service answers after its caller has given up: the effect happens, when nobody waits for it any more."""

from __future__ import annotations

import asyncio

from harness.limits import STALLED_S
from harness.relay.tap import Forward, Reply, Sent


class Stalled:
    """The effect happens, too late for who asked."""

    id = "stalled"

    async def act(self, sent: Sent, forward: Forward) -> Reply:
        """Wait for longer than the impatient arm does, then forward once."""
        await asyncio.sleep(STALLED_S)
        return await forward(sent)
