"""What a campaign sets out to do: the controls, the mutants that can be tried here, and the admission checks that each need one.

The admission tables are asked for, never imported: `python -m fixtures.hosted.<service> --admission` prints them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

from harness.errors import EnvironmentMissing, UsageError
from harness.limits import ADMISSION_S
from harness.mutation.catalogue import CATALOGUE, CONTROLS, IMPORTANT
from harness.mutation.mutant import SERVICES, Mutant
from harness.scenario.spec import Case


def admission_rows(original: Path) -> tuple[str, ...]:
    """Every admission check of the package below `original`, as `<service>:<id>`."""
    with ThreadPoolExecutor(len(SERVICES)) as pool:
        return tuple(row for rows in pool.map(lambda service: _rows(original, service), SERVICES) for row in rows)


def _rows(original: Path, service: str) -> list[str]:
    command = [sys.executable, "-m", f"fixtures.hosted.{service}", "--admission"]
    try:
        told = subprocess.run(  # noqa: S603 -- our own program and words
            command, cwd=original, capture_output=True, text=True, timeout=ADMISSION_S, check=True
        )
        return [f"{service}:{row['id']}" for row in json.loads(told.stdout)]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        raise EnvironmentMissing(f"{' '.join(command[1:])} does not tell its checks: {type(error).__name__}") from error


def without_mutant(rows: Iterable[str]) -> tuple[str, ...]:
    """The admission checks that no mutant removes: whoever adds a check adds the mutant that takes it away."""
    removed = {mutant.removes for mutant in CATALOGUE}
    return tuple(row for row in rows if row not in removed)


def planned(select: Sequence[str], *, engine: str, store: str, cases: Iterable[Case]) -> tuple[Mutant, ...]:
    """The controls, then the selected mutants; `UsageError` for a pattern or a case that does not exist.

    In containers these are the most important ones, since each needs a stack of its own there.
    """
    here = [mutant for mutant in CATALOGUE if not mutant.stores or store in mutant.stores]
    if engine == "docker" and not select:
        here = [mutant for mutant in here if mutant.id in IMPORTANT]
    lost = [pattern for pattern in select if not any(_matches(mutant, pattern) for mutant in here)]
    if lost:
        raise UsageError("; ".join(f"no mutant matches {pattern!r}" for pattern in lost) + " (see `loudgate list --kind mutants`)")
    chosen = tuple(mutant for mutant in here if not select or any(_matches(mutant, pattern) for pattern in select))
    known = {case.id for case in cases}
    missing = [f"mutant {m.id}: no case {one!r}" for m in chosen for one in (*m.cases, m.control) if one not in known]
    if missing:
        raise UsageError("\n".join(missing))
    return (*CONTROLS, *chosen)


def _matches(mutant: Mutant, pattern: str) -> bool:
    return mutant.id.startswith(pattern) or fnmatchcase(mutant.id, pattern)
