"""What a service is to an engine, and what a running one is to everyone else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field


@dataclass(frozen=True)
class ServiceSpec:
    """A service to be started. It announces its address in its first line of output and answers /healthz."""

    name: str
    arm: str
    module: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    source: Path | None = None
    """Folder that is put first on the module path; a mutated copy, or the installed package."""


class Running(Protocol):
    """A started service."""

    spec: ServiceSpec
    address: str
    """Base URL under which the other services reach it."""

    def alive(self) -> bool:
        """Whether it still runs."""
        ...

    def ready(self) -> bool:
        """Whether it has announced itself; sets `address`. Raises `ServiceDied` if it ended instead."""
        ...

    def stop(self) -> None:
        """Ask it to end, then make it end. Safe to call twice."""
        ...


class Arm(BaseModel):
    """One complete stack as the test process sees it. Tokens stay out of the repr."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    workspaces: str
    """The arm whose worker it has: the folder of its workspaces carries that name."""
    mutated: bool = False
    """Whether one of its services is changed, so that it may do anything at any time."""
    engine: str
    store: str
    objects: str
    """The object store behind the o2 path, with its version."""
    observer: str
    """Base URL of the observer for the test process."""
    relays: str
    """Base URL of the observer for the services."""
    upstreams: dict[str, str]
    """Edge → base URL of the service behind its relay."""
    sql: dict[str, str] = Field(repr=False)
    """Database → URL of a role that can only read."""
    control_token: str = Field(repr=False)
    tokens: dict[str, str] = Field(repr=False)
    """Service → the token that its callers show."""
    secrets: tuple[str, ...] = Field(repr=False)
    """Everything that must not reach a file."""
