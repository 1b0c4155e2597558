"""(Re)writes `fixtures/histories/<check>/*.jsonl`: `python -m harness.selftest.checks.build`."""

from __future__ import annotations

from pathlib import Path

from harness.ledger import codec
from harness.ledger.redact import Redactor
from harness.selftest.checks.histories import FOUR

HISTORIES = Path(__file__).parents[3] / "fixtures" / "histories"


def path_of(check: str, name: str) -> Path:
    """Where a history is kept."""
    return HISTORIES / check / f"{name}.jsonl"


def main() -> None:
    """Write all of them."""
    for check, four in FOUR.items():
        for name, variation in four.all().items():
            codec.write(variation.ledger(), path_of(check, name), Redactor())


if __name__ == "__main__":
    main()
