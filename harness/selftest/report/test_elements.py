"""The campaign as other tools read it: the facts of the format's schema, version 2, that readers rely on."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from harness.mutation.catalogue import CATALOGUE
from harness.mutation.score import Mutation
from harness.report.elements import elements
from harness.selftest.mutation.test_score import trial
from harness.settings import subject_root

_POSITION = {
    "type": "object",
    "required": ["line", "column"],
    "properties": {name: {"type": "integer", "minimum": 1} for name in ("line", "column")},
}
_STATUS = ["Killed", "Survived", "NoCoverage", "CompileError", "RuntimeError", "Timeout", "Ignored", "Pending"]
_MUTANT = {
    "type": "object",
    "required": ["id", "mutatorName", "location", "status"],
    "properties": {
        "location": {"type": "object", "required": ["start", "end"], "properties": {"start": _POSITION, "end": _POSITION}},
        "status": {"enum": _STATUS},
        "killedBy": {"type": "array", "items": {"type": "string"}},
        "duration": {"type": "number"},
        **{name: {"type": "string"} for name in ("id", "mutatorName", "description", "replacement", "statusReason")},
    },
}
_FILE = {
    "type": "object",
    "required": ["language", "source", "mutants"],
    "properties": {"mutants": {"type": "array", "uniqueItems": True, "items": _MUTANT}},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["schemaVersion", "thresholds", "files"],
    "properties": {
        "schemaVersion": {"type": "string", "pattern": r"^([1-2]\d*|0)(\.(([1-9]\d*)|0)){0,2}$"},
        "thresholds": {"type": "object", "required": ["high", "low"]},
        "files": {"type": "object", "additionalProperties": _FILE},
        "framework": {"type": "object", "required": ["name"]},
    },
}


def test_the_document_has_what_the_format_asks_for() -> None:
    mutants = tuple(
        trial(mutant.id, outcome, (mutant.check,), mutant.check).model_copy(update={"where": mutant.file})
        for mutant, outcome in zip(CATALOGUE, ("killed", "survived", "wrong_killer", "unknown"), strict=False)
    )
    document = elements(Mutation(mutants=mutants), subject_root())
    jsonschema.validate(document, SCHEMA)
    shown = [mutant for file in document["files"].values() for mutant in file["mutants"]]
    assert {one["id"]: one["status"] for one in shown} == dict(
        zip([mutant.id for mutant in mutants], ("Killed", "Survived", "Survived", "Pending"), strict=True)
    )
    tests = {test["id"] for test in document["testFiles"]["harness/checks"]["tests"]}
    assert {check for one in shown for check in one["killedBy"]} <= tests


def test_the_schema_of_this_test_refuses_something() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schemaVersion": "2.0", "thresholds": {"high": 1, "low": 1}, "files": {"a": {"mutants": []}}}, SCHEMA)
