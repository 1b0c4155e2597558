"""Reads the source of the project as the style test needs it: modules, functions, imports, calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("harness", "fixtures", "scenarios")


@dataclass(frozen=True)
class Module:
    """One source file."""

    path: Path

    @property
    def name(self) -> str:
        """Its path below the root, as findings show it."""
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.path.read_text(encoding="utf-8"))

    @property
    def lines(self) -> int:
        """Its length."""
        return len(self.path.read_text(encoding="utf-8").splitlines())

    @property
    def is_test(self) -> bool:
        """Whether it belongs to the selftests."""
        return "selftest" in self.path.parts or self.path.name.startswith("test_")

    def functions(self) -> Iterator[tuple[int, str, int]]:
        """(line, name, length without its docstring) of each function."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0]
                documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                words = (first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0
                yield node.lineno, node.name, (node.end_lineno or node.lineno) - node.lineno + 1 - words

    def imports(self) -> Iterator[tuple[int, str]]:
        """(line, dotted name) of each import."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)

    def calls(self) -> Iterator[tuple[int, str]]:
        """(line, dotted name) of each call of a plain dotted name."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
                yield node.lineno, ast.unparse(node.func)


@lru_cache(maxsize=1)
def modules() -> tuple[Module, ...]:
    """Every source file of the project."""
    return tuple(Module(path) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
