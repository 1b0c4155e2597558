"""PostgreSQL behind store and broker. The roles are made with the image (`fixtures/images/postgres/setup.sql`)."""

from __future__ import annotations

from harness.stack.docker_database import CONNECT_S, OWNER, READER


class Postgres:
    """PostgreSQL 15. What the owner makes is readable for the reader by the template's default privileges."""

    name = "postgres"
    port = 5432
    user = "postgres"
    announces = "database system is ready to accept connections"

    def url(self, at: str, database: str) -> str:
        """SQLAlchemy's."""
        return f"postgresql+psycopg://{at}/{database}?connect_timeout={CONNECT_S}"

    def creation(self, names: tuple[str, ...]) -> list[str]:
        """One statement per option: a database cannot be made inside a transaction."""
        command = ["psql", "--host=/tmp", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname=postgres"]
        for name in names:
            command += ["-c", f"CREATE DATABASE {name} OWNER {OWNER}", "-c", f"REVOKE ALL ON DATABASE {name} FROM PUBLIC"]
            command += ["-c", f"GRANT CONNECT ON DATABASE {name} TO {READER}"]
        return command
