"""PostgreSQL behind store and broker. The roles are made with the image (`fixtures/images/postgres/setup.sql`)."""

from __future__ import annotations

from harness.stack.docker_database import CONNECT_S, OWNER, READER

_PSQL = ("psql", "--host=/tmp", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname=postgres")


class Postgres:
    """PostgreSQL 15. What the owner makes is readable for the reader by the template's default privileges."""

    name = "postgres"
    port = 5432
    user = "postgres"
    announces = "database system is ready to accept connections"

    def url(self, at: str, database: str) -> str:
        """SQLAlchemy's."""
        return f"postgresql+psycopg://{at}/{database}?connect_timeout={CONNECT_S}"

    def removal(self, names: tuple[str, ...]) -> list[str]:
        """The command that takes these databases away, whoever is still connected."""
        command = [*_PSQL]
        for name in names:
            command += ["-c", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"]
        return command

    def creation(self, names: tuple[str, ...]) -> list[str]:
        """One statement per option: a database cannot be made inside a transaction."""
        command = [*_PSQL]
        for name in names:
            command += ["-c", f"CREATE DATABASE {name} OWNER {OWNER}", "-c", f"REVOKE ALL ON DATABASE {name} FROM PUBLIC"]
            command += ["-c", f"GRANT CONNECT ON DATABASE {name} TO {READER}"]
        return command
