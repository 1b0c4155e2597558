"""Every scenario file, as tests. `loudgate run` and `pytest scenarios` both end here."""

from __future__ import annotations

from collections.abc import Callable

from harness.run.result import CaseResult
from harness.scenario.spec import Case


def test_scenario(loudgate_case: Case, prove: Callable[[Case], CaseResult]) -> None:
    """The case comes out as its scenario says."""
    prove(loudgate_case)
