"""MariaDB behind store and broker. The roles are made with the image (`fixtures/images/mariadb/setup.sql`)."""

from __future__ import annotations

from harness.stack.docker_database import CONNECT_S, OWNER, READER

_CLIENT = ("mariadb", "--defaults-file=/dev/null", "--socket=/tmp/mariadb.sock", "--execute")


class MariaDB:
    """MariaDB 10.11."""

    name = "mariadb"
    port = 3306
    user = "mysql"
    announces = r"mariadbd: ready for connections|: ready for connections\."

    def url(self, at: str, database: str) -> str:
        """SQLAlchemy's."""
        return f"mysql+pymysql://{at}/{database}?charset=utf8mb4&connect_timeout={CONNECT_S}"

    def removal(self, names: tuple[str, ...]) -> list[str]:
        """The command that takes these databases away, whoever is still connected."""
        return [*_CLIENT, "; ".join(f"DROP DATABASE IF EXISTS `{name}`" for name in names)]

    def creation(self, names: tuple[str, ...]) -> list[str]:
        """In a grant an underscore stands for any character, unless it is escaped."""
        statements = []
        for name in names:
            granted = name.replace("_", r"\_")
            statements += [f"CREATE DATABASE `{name}`", f"GRANT ALL ON `{granted}`.* TO {OWNER}@'%'"]
            statements += [f"GRANT SELECT ON `{granted}`.* TO {READER}@'%'"]
        return [*_CLIENT, "; ".join(statements)]
