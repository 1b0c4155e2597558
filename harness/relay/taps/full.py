"""The object store has no room left: 507, the status of RFC 4918, section 11.5, in the form of an S3 error. Nothing is kept."""

from __future__ import annotations

from harness.relay.tap import Forward, Reply, Sent, s3_error


class Full:
    """Nothing happens, and trying again does not help until somebody makes room."""

    id = "full"

    async def act(self, sent: Sent, forward: Forward) -> Reply:  # noqa: ARG002 -- that is the point
        """Answer 507."""
        return s3_error(507, "InsufficientStorage", "There is no room for this object.")
