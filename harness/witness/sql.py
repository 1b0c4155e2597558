"""The SQL witness: every row that the system's tables hold of one tenant, read by a role that can only read.

A fresh transaction per read. The one door at which SQLAlchemy's errors are translated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from harness.errors import EnvironmentMissing
from harness.ledger.event import Row

TABLES: Mapping[str, tuple[str, ...]] = {
    "broker": ("runtimes", "workspaces", "leases", "publishers", "executions", "bindings"),
    "store": ("records", "resources", "writers", "grants", "publications", "admissions", "receipts"),
}
"""Database → the tables that are evidence; every one has a `tenant_id`."""


@lru_cache(maxsize=16)
def _tables(url: str, names: tuple[str, ...]) -> tuple[sa.Engine, tuple[sa.Table, ...]]:
    # MariaDB would show one snapshot to all reads of a transaction; the others show what is committed by themselves.
    isolation = {"isolation_level": "READ COMMITTED"} if url.startswith("mysql") else {}
    engine = sa.create_engine(url, pool_size=1, pool_pre_ping=True, **isolation)
    known = sa.MetaData()
    known.reflect(engine, only=names)
    return engine, tuple(known.tables[name] for name in names)


def read(urls: Mapping[str, str], tenant: str) -> tuple[Row, ...]:
    """All rows of `tenant`; `EnvironmentMissing` if a database cannot be read."""
    try:
        return tuple(row for database, url in sorted(urls.items()) for row in _rows(database, url, tenant))
    except SQLAlchemyError as error:
        raise EnvironmentMissing(f"the SQL witness cannot read: {type(error).__name__}") from error


def _rows(database: str, url: str, tenant: str) -> Iterator[Row]:
    engine, tables = _tables(url, TABLES[database])
    with engine.connect() as connection:
        for table in tables:
            query = sa.select(table).where(table.c.tenant_id == tenant).order_by(*table.primary_key.columns)
            for found in connection.execute(query).mappings():
                yield _row(database, table.name, dict(found))


def _row(database: str, table: str, found: dict[str, object]) -> Row:
    values: dict[str, int | str | None] = {}
    blobs: dict[str, bytes] = {}
    for column, value in found.items():
        if isinstance(value, bytes | memoryview):
            blobs[column] = bytes(value)
        else:
            values[column] = value if value is None or isinstance(value, int) else str(value)
    return Row(database=database, table=table, values=values, blobs=blobs)
