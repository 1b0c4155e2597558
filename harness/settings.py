"""What a user can set: the options of a run, with their defaults, and the places that files go to."""

from __future__ import annotations

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from harness.errors import UsageError
from harness.seeds import DEFAULT_SEED

CHECKOUT = Path(__file__).resolve().parents[1]
SCENARIOS = CHECKOUT / "scenarios"
REPORTS = Path("e2e-reports")
STATE_VARIABLE = "LOUDGATE_STATE"
SUBJECT_PACKAGE = "fixtures"
ENGINE_NAMES = ("process", "docker")
STORE_NAMES = ("sqlite", "postgres", "mariadb")


class Settings(BaseModel):
    """The options of one run; the same for every xdist worker."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    select: tuple[str, ...] = ()
    target: str = "hosted"
    engine: str = "process"
    store: str | None = None
    """None: the engine's own default."""
    path: Literal["local", "o2", "both"] = "both"
    core: bool = False
    mutation: Literal["no", "also", "only"] = "no"
    """Whether a campaign is carried out besides the cases, or instead of them."""
    mutants: tuple[str, ...] = ()
    """Selected mutants; empty: all of them."""
    external: Path | None = None
    """Description of somebody else's stack, whose mutants are the patches."""
    patches: Path | None = None
    """Folder of unified diffs."""
    fresh: bool = False
    """Try every mutant, also those whose outcome is known from an earlier campaign on the same content."""
    seed: int = DEFAULT_SEED
    out: Path = REPORTS
    scenarios: Path = SCENARIOS


def state_root() -> Path:
    """Where live runs keep their folders: $LOUDGATE_STATE, or one folder per user in the system's temporary folder."""
    chosen = os.environ.get(STATE_VARIABLE)
    return Path(chosen) if chosen else Path(tempfile.gettempdir()) / f"loudgate-{os.getuid()}"


def subject_root() -> Path:
    """The folder that holds the package of the system under test. It is found, never imported."""
    spec = find_spec(SUBJECT_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(f"package {SUBJECT_PACKAGE!r} is not installed: the reference stack cannot be started")
    return Path(next(iter(spec.submodule_search_locations))).parent
