"""The object store is overloaded and says so, as S3 servers do: 503 with the code SlowDown, and nothing happens."""

from __future__ import annotations

from harness.relay.tap import Forward, Reply, Sent, s3_error


class SlowDown:
    """Nothing happens, and the caller is told to come back."""

    id = "slow_down"

    async def act(self, sent: Sent, forward: Forward) -> Reply:  # noqa: ARG002 -- that is the point
        """Answer 503."""
        return s3_error(503, "SlowDown", "Please reduce your request rate.")
