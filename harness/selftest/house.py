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
        """(line, dotted name) of each import, relative ones and `import_module("…")` made absolute."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((node.lineno, f"{self._origin(node)}.{alias.name}") for alias in node.names)
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
                yield from ((node.lineno, str(word.value)) for word in node.args if isinstance(word, ast.Constant))

    def _origin(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = self.path.relative_to(ROOT).parts[: -node.level]
        return ".".join((*package, *([node.module] if node.module else [])))

    def calls(self) -> Iterator[tuple[int, str]]:
        """(line, dotted name) of each call of a plain dotted name, under the name that it was imported by."""
        known = self._aliases()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
                first, dot, rest = ast.unparse(node.func).partition(".")
                yield node.lineno, known.get(first, first) + dot + rest

    def _aliases(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found |= {alias.asname: alias.name for alias in node.names if alias.asname}
            elif isinstance(node, ast.ImportFrom):
                found |= {alias.asname or alias.name: f"{self._origin(node)}.{alias.name}" for alias in node.names}
        return found


@lru_cache(maxsize=1)
def modules() -> tuple[Module, ...]:
    """Every source file of the project."""
    return tuple(Module(path) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
