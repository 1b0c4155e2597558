"""The catalogue of mutants. To add one: an entry here, and the check it names must go red."""

from __future__ import annotations

from pathlib import Path

from harness.errors import UsageError
from harness.mutation.mutant import Mutant, apply
from harness.stack.keeper import Sources

_PARSED_COLUMN = """
import json

from sqlalchemy import JSON, TypeDecorator
from sqlalchemy.dialects.postgresql import JSONB


class Parsed(TypeDecorator):
    impl = JSON().with_variant(JSONB(), "postgresql")
    cache_ok = True

    def process_bind_param(self, value, dialect):
        return None if value is None else json.loads(value)

    def process_result_value(self, value, dialect):
        return None if value is None else json.dumps(value).encode()
"""

CATALOGUE: tuple[Mutant, ...] = (
    Mutant(
        id="host/unicode-removed",
        file="hosted/host/admission.py",
        edits=(('    Check("unicode", "Shell text is well-formed", check_unicode),\n', ""),),
        check="zero_acquisition",
        why="the admission check that this project exists for is not there",
    ),
    Mutant(
        id="store/record-parsed",
        file="hosted/store/tables.py",
        edits=(
            ("TABLES: Final = MetaData()\n", _PARSED_COLUMN + "\n\nTABLES: Final = MetaData()\n"),
            ('Column("text", Blob, nullable=False)', 'Column("text", Parsed(), nullable=False)'),
        ),
        check="exact_text_in_store",
        why="a column type that parses JSON gives back an equal value, and other characters",
    ),
)


def find(mutant_id: str) -> Mutant:
    """The mutant with this id."""
    for mutant in CATALOGUE:
        if mutant.id == mutant_id:
            return mutant
    raise UsageError(f"no mutant {mutant_id!r} (known: {', '.join(mutant.id for mutant in CATALOGUE)})")


def copies_of(original: Path) -> Sources:
    """What makes the mutated copy for an arm, from the package below `original`."""
    return lambda mutant_id, folder: apply(find(mutant_id), original, folder)
