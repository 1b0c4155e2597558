"""Mutants of the store."""

from __future__ import annotations

from harness.mutation.mutant import Mutant

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

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        id="store/record-parsed",
        file="hosted/store/tables.py",
        edits=(
            ("TABLES: Final = MetaData()\n", _PARSED_COLUMN + "\n\nTABLES: Final = MetaData()\n"),
            ('Column("text", Blob, nullable=False)', 'Column("text", Parsed(), nullable=False)'),
        ),
        check="exact_text_in_store",
        cases=("reload/after-refusals@local-shell2",),
        why="a column type that parses JSON gives back an equal value, and other characters",
        stuck_after_s=2.0,
        stores=("postgres", "mariadb"),
        containers=True,
    ),
)
