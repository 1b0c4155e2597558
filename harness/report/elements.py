"""A campaign in the report format of mutation-testing-elements, version 2: viewers and dashboards of that family read it.

A check of the harness is a test there. What could not be told is `Pending`: the format has no word for it, and it must not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.checks.table import CHECKS
from harness.mutation.score import Mutation
from harness.mutation.trial import Trial
from harness.settings import SUBJECT_PACKAGE

SCHEMA_VERSION = "2.0"
STATUS = {"killed": "Killed", "survived": "Survived", "wrong_killer": "Survived", "unknown": "Pending"}
"""A mutant that only another check noticed has survived the one that it names."""


def elements(mutation: Mutation, original: Path) -> dict[str, Any]:
    """The document; `original` is the folder of the package that was mutated, whose files it shows where they are there."""
    files = {
        where: {"language": "python", "source": _source(original / SUBJECT_PACKAGE / where), "mutants": list(map(_mutant, found))}
        for where, found in _by_file(mutation.mutants).items()
    }
    checks = [{"id": check.id, "name": check.title} for check in CHECKS]
    return {
        "schemaVersion": SCHEMA_VERSION,
        "thresholds": {"high": 100, "low": 100},
        "framework": {"name": "loudgate"},
        "files": files,
        "testFiles": {"harness/checks": {"tests": checks}},
    }


def _source(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _by_file(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = {}
    for trial in trials:
        found.setdefault(trial.where, []).append(trial)
    return found


def _mutant(trial: Trial) -> dict[str, Any]:
    return {
        "id": trial.id,
        "mutatorName": "removed" if trial.removes else "written",
        "description": trial.why,
        "replacement": trial.change,
        "location": {"start": {"line": trial.line, "column": 1}, "end": {"line": trial.line + 1, "column": 1}},
        "status": STATUS[trial.outcome],
        "statusReason": trial.finding,
        "killedBy": list(trial.killed_by),
        "duration": round(trial.cost_s * 1000),
    }
