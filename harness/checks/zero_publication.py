"""A refused batch registers no publisher and publishes nothing."""

from __future__ import annotations

from harness.checks.absence import Claim, bound_generation
from harness.checks.check import Check, has_refused

_CLAIM = Claim(operations=("publisher", "publication"), table="publishers", generation=bound_generation)

CHECK = Check(
    id="zero_publication",
    title="A refused batch registers no publisher and publishes nothing",
    needs=("model", "relay", "sql"),
    applies=has_refused,
    judge=_CLAIM.judge,
    claims_absence=True,
)
