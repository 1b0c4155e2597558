"""Finds scenario files and selects cases: by area, by id prefix or by glob."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from harness.errors import ScenarioError, UsageError
from harness.scenario.load import expand, on_mutant, parse
from harness.scenario.spec import Case

MUST_FAIL = "must_fail"


def load(root: Path) -> tuple[Case, ...]:
    """Every case below `root`, ordered by id; all mistakes of all files in one `ScenarioError`."""
    if not root.is_dir():
        raise UsageError(f"{root}: no such folder of scenarios")
    ordinary: dict[str, tuple[Case, ...]] = {}
    problems: list[str] = []
    parsed = []
    for path in sorted(root.rglob("*.toml")):
        name = path.relative_to(root).with_suffix("").as_posix()
        try:
            raw = parse(path)
            parsed.append((name, raw, str(path)))
            if not name.startswith(f"{MUST_FAIL}/"):
                ordinary[name] = expand(name, raw, shown=str(path))
        except ScenarioError as error:
            problems.extend(error.problems)
    mutants: list[Case] = []
    for name, raw, shown in parsed:
        if name.startswith(f"{MUST_FAIL}/"):
            try:
                mutants.extend(on_mutant(name, raw, ordinary, shown=shown))
            except ScenarioError as error:
                problems.extend(error.problems)
    if problems:
        raise ScenarioError(problems)
    return tuple(sorted((case for group in (*ordinary.values(), mutants) for case in group), key=lambda case: case.id))


def load_file(path: Path) -> tuple[Case, ...]:
    """The cases of one ordinary file, wherever it lies."""
    return expand(path.stem, parse(path), shown=str(path))


def matches(case: Case, pattern: str) -> bool:
    """Whether `pattern` is the case's area, a prefix of its id, or a glob over its id."""
    return bool(pattern) and (case.area == pattern or case.id.startswith(pattern) or fnmatchcase(case.id, pattern))


def select(cases: Iterable[Case], patterns: Sequence[str]) -> tuple[Case, ...]:
    """The union of what the patterns match; no pattern is everything; a pattern that matches nothing is a mistake."""
    every = tuple(cases)
    lost = [pattern for pattern in patterns if not any(matches(case, pattern) for case in every)]
    if lost:
        raise UsageError("; ".join(f"no case matches {pattern!r}" for pattern in lost) + " (see `loudgate list`)")
    return tuple(case for case in every if not patterns or any(matches(case, pattern) for pattern in patterns))


def planned(root: Path, patterns: Sequence[str], *, engine: str, s3: bool, path: str, core: bool) -> tuple[Case, ...]:
    """The cases of one run; `UsageError` if there are none."""
    here = possible(select(load(root), patterns), engine=engine, s3=s3)
    chosen = tuple(case for case in here if path in (case.path, "both") and not (core and case.extended))
    if not chosen:
        raise UsageError(
            f"none of the selected cases is on path {path} and engine {engine}{'' if s3 else ', which has no S3 server here'}"
        )
    return chosen


def possible(cases: Iterable[Case], *, engine: str, s3: bool) -> tuple[Case, ...]:
    """The cases that make sense on this engine, with an S3 server behind the services or without one."""
    return tuple(case for case in cases if (not case.engines or engine in case.engines) and (s3 or not case.needs_s3))
