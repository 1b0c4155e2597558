"""A refused batch takes no lease."""

from __future__ import annotations

from harness.checks.absence import Claim, granted_generation
from harness.checks.check import Check, has_inert
from harness.checks.hooks import has_callback

_CLAIM = Claim(operations=("acquire",), table="leases", key=granted_generation, excused=has_callback)

CHECK = Check(
    id="zero_acquisition",
    title="A refused batch acquires no workspace lease, on the wire or in the database",
    needs=("model", "relay", "sql"),
    applies=has_inert,
    judge=_CLAIM.judge,
    claims_absence=True,
)
