"""The house rules, enforced: lengths, import direction, sole importers, banned calls. Findings carry file and line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median, quantiles

import pytest

from harness.selftest import house
from harness.selftest.house import Module, modules

MODULE_LINES, MODULE_P90, MODULE_MEDIAN = 400, 300, 100
FUNCTION_LINES, FUNCTION_P90, TEST_LINES = 60, 30, 40

LAYERS = (
    ("errors", "verdict", "settings", "limits", "clock", "seeds"),
    ("ledger", "scenario"),
    ("model", "relay", "witness", "checks"),
    ("observer", "stack"),
    ("targets",),
    ("run",),
    ("mutation",),
    ("report",),
    ("acceptance", "progress"),
    ("plugin", "cli"),
)
"""A part may import from its own layer and from those above it in this list."""

CHECKS_SEE = {"ledger", "scenario", "verdict", "errors", "checks"}

SOLE_IMPORTERS = {
    "faker": ("harness/model/data.py",),
    "docker": ("harness/stack/docker",),
    "testcontainers": ("harness/stack/docker",),
    "urllib3": ("harness/targets/http.py",),
    "sqlalchemy": ("harness/witness/sql.py", "fixtures/hosted/"),
    "junitparser": ("harness/report/writers.py",),
    "jinja2": ("harness/report/writers.py",),
    "rich": ("harness/progress.py",),
    "click": ("harness/cli/",),
    "random": (),
    "secrets": ("harness/seeds.py", "harness/stack/", "fixtures/hosted/"),
}
"""Library → the modules that may import it; everything else asks them."""

BANNED_CALLS = {"time.sleep": ("harness/clock.py",), "print": (), "eval": (), "exec": (), "input": ()}


def _sources(*, tests: bool = False) -> Iterable[Module]:
    return (module for module in modules() if tests or not module.is_test)


def _part(dotted: str) -> str:
    return dotted.split(".")[1] if dotted.startswith("harness.") else ""


def test_modules_are_short() -> None:
    sizes = [module.lines for module in _sources()]
    long = [f"{module.name}: {module.lines} lines" for module in modules() if module.lines > MODULE_LINES]
    assert not long
    assert median(sizes) <= MODULE_MEDIAN
    assert quantiles(sizes, n=10)[-1] <= MODULE_P90


def test_functions_are_short() -> None:
    found = [(module, *function) for module in _sources() for function in module.functions()]
    long = [f"{module.name}:{line}: {name} has {size} lines" for module, line, name, size in found if size > FUNCTION_LINES]
    assert not long
    assert quantiles([size for *_, size in found], n=10)[-1] <= FUNCTION_P90


def test_tests_read_as_one_paragraph() -> None:
    tests = [(module, *function) for module in modules() if module.is_test for function in module.functions()]
    assert tests
    assert not [f"{module.name}:{line}: {name} has {size} lines" for module, line, name, size in tests if size > TEST_LINES]


def test_every_module_says_what_it_is() -> None:
    silent = [module.name for module in modules() if module.tree.body and not isinstance(_docstring(module), str)]
    assert not silent


def _docstring(module: Module) -> object:
    return getattr(getattr(module.tree.body[0], "value", None), "value", None)


def test_harness_never_imports_what_it_judges() -> None:
    wrong = [
        f"{module.name}:{line}: {name}"
        for module in modules()
        for line, name in module.imports()
        if module.name.startswith("harness/") and name.split(".")[0] == "fixtures"
    ]
    assert not wrong


def test_imports_point_one_way() -> None:
    layer_of = {part: number for number, parts in enumerate(LAYERS) for part in parts}
    wrong = []
    for module in _sources():
        if not module.name.startswith("harness/") or module.name == "harness/__init__.py":
            continue
        own = module.name.split("/")[1].removesuffix(".py")
        assert own in layer_of, f"{module.name}: belongs to no layer"
        for line, name in module.imports():
            if _part(name) in layer_of and layer_of[_part(name)] > layer_of[own]:
                wrong.append(f"{module.name}:{line}: {own} may not import {name}")
    assert not wrong


def test_checks_see_only_the_ledger() -> None:
    seen = [
        f"{module.name}:{line}: {name}"
        for module in _sources()
        if module.name.startswith("harness/checks/")
        for line, name in module.imports()
        if name.startswith("harness.") and _part(name) not in CHECKS_SEE
    ]
    assert not seen


def test_each_library_has_its_door() -> None:
    wrong = [
        f"{module.name}:{line}: {name}"
        for module in _sources()
        for line, name in module.imports()
        if (doors := SOLE_IMPORTERS.get(name.split(".")[0])) is not None and not module.name.startswith(tuple(doors))
    ]
    assert not wrong


def test_no_banned_calls() -> None:
    wrong = [
        f"{module.name}:{line}: {name}()"
        for module in _sources(tests=True)
        for line, name in module.calls()
        if name in BANNED_CALLS and module.name not in BANNED_CALLS[name]
    ]
    assert not wrong


EVASIONS = """
from time import sleep as rest
import importlib
from ..run import driver
rest(1)
importlib.import_module("fixtures.hosted.host")
"""


def test_evasions_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house, "ROOT", tmp_path)
    path = tmp_path / "harness" / "checks" / "evasive.py"
    path.parent.mkdir(parents=True)
    path.write_text(EVASIONS, encoding="utf-8")
    module = Module(path)
    assert {"harness.run.driver", "fixtures.hosted.host"} <= {name for _, name in module.imports()}
    assert "time.sleep" in {name for _, name in module.calls()}
