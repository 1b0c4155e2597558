"""The service takes its time, within what its callers grant it: the request is handed on late."""

from __future__ import annotations

import asyncio

from harness.limits import SLOW_S
from harness.relay.tap import Forward, Reply, Sent


class Slow:
    """The effect happens, later."""

    id = "slow"

    async def act(self, sent: Sent, forward: Forward) -> Reply:
        """Wait, then forward once."""
        await asyncio.sleep(SLOW_S)
        return await forward(sent)
