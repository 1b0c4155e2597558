"""The object store of the embedded stack, for the captures of the o2 path: a folder behind the services' own interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Objects:
    """An object store: what reports call it, and the environment by which worker and store find it."""

    name: str
    environment: Mapping[str, str] = field(repr=False)


def directory(path: Path) -> Objects:
    """A folder of this run's, for its services alone."""
    path.mkdir(mode=0o700)
    return Objects("directory", {"LOUDGATE_OBJECTS": f"file://{path}"})
