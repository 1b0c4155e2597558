"""TOML → cases: expands a file's matrix × profiles × paths × wire forms, and reports every mistake with its file and key.

Placeholders look like `<<name>>` or `<<name.key>>`; they stand for the matrix value chosen, or for one key of it.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from harness.errors import ScenarioError
from harness.scenario import spec
from harness.scenario.spec import IDENTIFIER, VERBS, Act, Approval, Case, Fault, Hook, HookPlans, MustFail, Spec, Tools

_PLACEHOLDER = re.compile(r"<<([A-Za-z0-9_.-]+)>>")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,60}")
Value = str | dict[str, str]
Choice = Mapping[str, tuple[str, Value]]
"""Axis of the matrix → (name of the value chosen, the value)."""


class ScenarioFile(Spec):
    """The keys of a scenario file."""

    title: str
    area: str | None = None
    profiles: tuple[str, ...] = Field(default=("hosted-workspace-shell/1", "hosted-workspace-shell/2"), min_length=1)
    paths: tuple[spec.Path, ...] = Field(default=("local", "o2"), min_length=1)
    stream: tuple[bool, ...] = Field(default=(True,), min_length=1)
    engines: tuple[Literal["process", "docker"], ...] = ()
    extended: bool = False
    crossed: bool = True
    """Every path with every profile. False: each of them in turn with one of the others, so that all occur and half as often."""
    private: bool = False
    stack: spec.Stack = ""
    matrix: dict[str, dict[str, Value]] = Field(default_factory=dict)
    act: tuple[Act, ...]
    fault: tuple[Fault, ...] = ()
    approval: Approval | None = None
    tools: Tools | None = None
    hook: tuple[Hook, ...] = ()
    hook_plans: HookPlans = HookPlans()
    findings: tuple[int, ...] = ()

    @model_validator(mode="after")
    def _acts(self) -> Self:
        if not self.act:
            raise ValueError("a scenario needs at least one [[act]]")
        if not self.private and any(act.kill for act in self.act):
            raise ValueError("kill needs private = true: no other case may run on a stack whose service is killed")
        unloadable = {act.load_refused for act in self.act}
        if any(act.ends == "unknown" and (act.wait or act.prompt not in unloadable) for act in self.act):
            raise ValueError(
                'ends = "unknown" needs wait = false, and load_refused of that session: else its end is there to be seen'
            )
        return self


class SameAs(Spec):
    """The keys of a file under must_fail/: another file's cases on a mutant, with the check that must notice."""

    title: str
    same_as: str
    mutant: str
    check: str
    finding: str
    stuck_after_s: float = Field(gt=0, le=10)
    once: str = ""
    go_on: bool = False
    engines: tuple[Literal["process", "docker"], ...] = ()
    findings: tuple[int, ...] | None = None
    """Of the other's findings, those whose old behaviour the mutant brings back; all by default."""
    only: str = "*"
    """Glob over the other cases' ids, without the file's own part: which of them."""
    profiles: tuple[str, ...] | None = None


def _fill(value: Any, choice: Choice, missing: set[str]) -> Any:
    if isinstance(value, dict):
        return {_fill(key, choice, missing): _fill(item, choice, missing) for key, item in value.items()}
    if isinstance(value, list):
        return [_fill(item, choice, missing) for item in value]
    return _PLACEHOLDER.sub(lambda hit: _lookup(hit, choice, missing), value) if isinstance(value, str) else value


def _lookup(hit: re.Match[str], choice: Choice, missing: set[str]) -> str:
    axis, _, key = hit[1].partition(".")
    chosen = choice.get(axis, ("", ""))[1]
    found = chosen.get(key) if isinstance(chosen, dict) else (chosen if axis in choice and not key else None)
    if found is None:
        missing.add(hit[0])
        return ""
    # A value may itself use the other axes; their values may not use any, so this ends.
    others = {name: value for name, value in choice.items() if name != axis}
    return str(_fill(found, others, missing))


def _problems(name: str, error: ValidationError) -> Iterator[str]:
    for detail in error.errors(include_url=False, include_input=False, include_context=False):
        key = ".".join(str(part) for part in detail["loc"]) or "(file)"
        yield f"{name}: {key}: {detail['msg'].removeprefix('Value error, ')}"


def _duplicates(name: str, case: Case) -> Iterator[str]:
    """Two calls of one id can be told apart by nobody, unless the batch that holds both is refused for it."""
    for session in case.sessions():
        ids = [[call.id for call in step.call] for step in case.steps(session) if not step.refused]
        ids += [sorted({call.id for call in step.call}) for step in case.steps(session) if step.refused]
        seen = Counter(itertools.chain.from_iterable(ids))
        yield from (f"{name}: act: call id {one!r} is used twice in session {session!r}" for one in seen if seen[one] > 1)
    known = {act.prompt for act in case.acts if act.prompt}
    for act in case.acts:
        labels = (
            getattr(act, verb)
            for verb in VERBS
            if verb not in ("prompt", "open", "await_held", "request", "kill", "create_refused")
        )
        for label in labels:
            if label is not None and label not in known:
                yield f"{name}: act: session {label!r} is never prompted"
    yield from (f"{name}: act: {label!r} is not an id" for label in known if not re.match(IDENTIFIER, label))


def parse(path: Path) -> dict[str, Any]:
    """The file's TOML; `ScenarioError` for what cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScenarioError([f"{path}: {error.strerror}"]) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError([f"{path}: not TOML: {error}"]) from error


def expand(name: str, raw: dict[str, Any], *, shown: str) -> tuple[Case, ...]:
    """Every case of one ordinary scenario file; `ScenarioError` with all its mistakes."""
    matrix = raw.get("matrix", {})
    axes = list(matrix) if isinstance(matrix, dict) and all(isinstance(axis, dict) for axis in matrix.values()) else []
    bad = [value for axis in axes for value in matrix[axis] if not _NAME.fullmatch(value)]
    problems: dict[str, None] = dict.fromkeys(f"{shown}: matrix: {value!r} is not a name" for value in bad)
    cases: list[Case] = []
    for values in itertools.product(*(matrix[axis].items() for axis in axes)):
        choice = dict(zip(axes, values, strict=True))
        missing: set[str] = set()
        filled = {key: _fill(value, choice, missing) for key, value in raw.items() if key != "matrix"} | {"matrix": matrix}
        problems.update(dict.fromkeys(f"{shown}: {place}: no such value in the matrix" for place in sorted(missing)))
        try:
            cases.extend(_cases(name, ScenarioFile.model_validate(filled), [value for value, _ in choice.values()]))
        except ValidationError as error:
            problems.update(dict.fromkeys(_problems(shown, error)))
    problems.update(dict.fromkeys(problem for case in cases for problem in _duplicates(shown, case)))
    if problems:
        raise ScenarioError(list(problems))
    return tuple(cases)


def _variants(file: ScenarioFile) -> Iterable[tuple[spec.Path, str]]:
    if file.crossed:
        return itertools.product(file.paths, file.profiles)
    most = max(len(file.paths), len(file.profiles))
    return zip(itertools.islice(itertools.cycle(file.paths), most), itertools.cycle(file.profiles), strict=False)


def _cases(name: str, file: ScenarioFile, chosen: Iterable[str]) -> Iterator[Case]:
    stem = "/".join((name, *chosen))
    for (path, profile), stream in itertools.product(_variants(file), file.stream):
        short = profile.removeprefix("hosted-workspace-").replace("/", "")
        yield Case(
            id=f"{stem}@{path}-{short}{'' if stream else '-whole'}",
            area=file.area or name,
            title=file.title,
            path=path,
            profile=profile,
            stream=stream,
            engines=file.engines,
            extended=file.extended,
            private=file.private,
            stack=file.stack,
            acts=file.act,
            faults=file.fault,
            approval=file.approval,
            tools=file.tools,
            hooks=file.hook,
            hook_plans=file.hook_plans,
            findings=file.findings,
        )


def _wanted(file: SameAs, case: Case) -> bool:
    return (file.profiles is None or case.profile in file.profiles) and fnmatchcase(case.id.removeprefix(file.same_as), file.only)


def on_mutant(name: str, raw: dict[str, Any], others: Mapping[str, tuple[Case, ...]], *, shown: str) -> tuple[Case, ...]:
    """The cases of another file on a mutant, each of which must be red; `ScenarioError` with all mistakes."""
    try:
        file = SameAs.model_validate(raw)
    except ValidationError as error:
        raise ScenarioError(list(_problems(shown, error))) from error
    originals = [case for case in others.get(file.same_as, ()) if _wanted(file, case)]
    if not originals:
        raise ScenarioError([f"{shown}: same_as: no case of {file.same_as!r} has these profiles"])
    common = {key: getattr(file, key) for key in ("mutant", "check", "finding", "stuck_after_s", "once", "go_on")}
    return tuple(
        case.model_copy(
            update={
                "id": name + case.id.removeprefix(file.same_as),
                "area": "must_fail",
                "title": file.title,
                "engines": file.engines or case.engines,
                "findings": case.findings if file.findings is None else file.findings,
                "must_fail": MustFail(same_as=case.id, **common),
            }
        )
        for case in originals
    )
