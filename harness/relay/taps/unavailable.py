"""The service answers 503 without doing anything, as one does that is overloaded or starting."""

from __future__ import annotations

import json

from harness.relay.tap import Forward, Reply, Sent

_BODY = {"error": {"code": "unavailable", "message": "not now", "effect": "none", "retryable": True}}


class Unavailable:
    """Nothing happens, and the caller is told to try again."""

    id = "unavailable"

    async def act(self, sent: Sent, forward: Forward) -> Reply:  # noqa: ARG002 -- that is the point
        """Answer 503."""
        return Reply(503, json.dumps(_BODY).encode("ascii"))
