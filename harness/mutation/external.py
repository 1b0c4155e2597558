"""Mutants of somebody else's stack: unified diffs, each applied to a copy of their source, which is then built.

A patch begins with lines that say what it is for, before its first `---`:

    Check: zero_acquisition
    Cases: unicode/negative/unpaired-high/end/command@local-shell2
    Why: the check is not there

The controls of such a campaign are the copy without any patch, and the patch `must-die.patch`.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import patch_ng  # type: ignore[import-untyped]
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import StackError, UsageError
from harness.limits import BUILD_S
from harness.mutation.catalogue import MUST_DIE, NOOP
from harness.mutation.mutant import CONTROL, LEFT_OUT, Mutant
from harness.stack.keeper import Sources


class External(BaseModel):
    """A stack's source and how it is built. Its services are started as those of the reference stack are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    source: Path
    """Folder, absolute or relative to the file."""
    include: tuple[str, ...] = Field(min_length=1)
    """What of it is copied; the package of the services among it."""
    build: str = ""
    """A command, run in the copy."""

    @property
    def trees(self) -> tuple[Path, ...]:
        """What is copied, and must never be changed."""
        return tuple(self.source / name for name in self.include)


def read_target(path: Path) -> External:
    """The description of a stack; `UsageError` with all its mistakes."""
    try:
        found = External.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: no description of a stack: {error}") from error
    except ValidationError as error:
        lines = [f"{path}: {'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
        raise UsageError("\n".join(lines)) from error
    source = (path.parent / found.source).resolve()
    if lost := [name for name in found.include if not (source / name).exists()]:
        raise UsageError(f"{path}: include: {source} has no {', '.join(lost)}")
    return found.model_copy(update={"source": source})


def read_patches(folder: Path) -> tuple[Mutant, ...]:
    """The controls, then every patch; `UsageError` with all mistakes."""
    files = sorted(folder.glob("*.patch")) + sorted(folder.glob("*.diff"))
    mutants, problems = [], []
    for path in files:
        try:
            mutants.append(_read(path))
        except UsageError as error:
            problems.append(str(error.args[0]))
    if not any(mutant.id == MUST_DIE.id for mutant in mutants):
        problems.append(f"{folder}: no must-die.patch, the control that the campaign must kill")
    if problems:
        raise UsageError("\n".join(problems))
    controls = [mutant for mutant in mutants if mutant.id == MUST_DIE.id]
    unpatched = replace(NOOP, edits=())
    return (unpatched, *controls, *(mutant for mutant in mutants if mutant not in controls))


def _read(path: Path) -> Mutant:
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    head = dict(line.split(": ", 1) for line in text.partition("\n--- ")[0].splitlines() if ": " in line)
    if lost := [name for name in ("Check", "Cases", "Why") if not head.get(name)]:
        raise UsageError(f"{path}: it does not say {', '.join(lost)}")
    found = patch_ng.fromstring(text.encode("utf-8", "surrogateescape"))
    if not found or not found.items:
        raise UsageError(f"{path}: not a unified diff")
    return Mutant(
        id=MUST_DIE.id if path.stem == "must-die" else f"patch/{path.stem}",
        file=(found.items[0].target or b"").decode().removeprefix("b/"),
        edits=(),
        check=head["Check"].strip(),
        cases=tuple(case.strip() for case in head["Cases"].split(",")),
        why=head["Why"].strip(),
        control=head.get("Control", CONTROL).strip(),
        patch=text,
    )


def copies_of(target: External, mutants: tuple[Mutant, ...]) -> Sources:
    """What makes the patched and built copy for an arm."""
    known = {mutant.id: mutant for mutant in mutants}

    def make(mutant_id: str, folder: Path) -> Path:
        for name in target.include:
            shutil.copytree(target.source / name, folder / name, ignore=shutil.ignore_patterns(*LEFT_OUT))
        mutant = known[mutant_id]
        if mutant.patch and not patch_ng.fromstring(mutant.patch.encode("utf-8", "surrogateescape")).apply(root=str(folder)):
            raise StackError(f"the patch of {mutant_id} does not apply to {target.name}")
        _build(target, folder)
        return folder

    return make


def _build(target: External, folder: Path) -> None:
    if not target.build:
        return
    try:
        done = subprocess.run(  # noqa: S603 -- the user's own command, in a copy of the user's own source
            shlex.split(target.build), cwd=folder, capture_output=True, text=True, timeout=BUILD_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StackError(f"{target.build}: {type(error).__name__}") from error
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise StackError(f"{target.build}: exit {done.returncode}: {' '.join(last)}")
