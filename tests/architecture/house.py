"""The package as a graph of imports and calls, and the floors that ARCHITECTURE.md gives its entries."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROW = re.compile(r"^\|\s*(\d+)\s*\|([^|]*)\|", re.MULTILINE)
SQL = re.compile(
    r"\s*(SELECT|INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|(CREATE|DROP|ALTER) (TABLE|INDEX)|PRAGMA|REINDEX"
    r"|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|VACUUM)\b"
)


@dataclass(frozen=True)
class Import:
    """One import of a module of the package by another, wherever in the file it stands."""

    importer: str
    imported: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported}"


@dataclass(frozen=True)
class House:
    """A package at a path, with the floor of each entry at its top."""

    package: Path
    floors: Mapping[str, int]

    @cached_property
    def modules(self) -> dict[str, Path]:
        """Every module by its dotted name without the package's; the package itself is `__init__`."""
        found = {}
        for path in self.package.rglob("*.py"):
            parts = path.relative_to(self.package).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)] = path
        return found

    @cached_property
    def imports(self) -> list[Import]:
        """Every import inside the package: of functions and for type checkers too."""
        return [one for name, path in self.modules.items() for one in self._imports_of(name, path)]

    def _imports_of(self, name: str, path: Path) -> Iterator[Import]:
        package = path.relative_to(self.package).parts[:-1]
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                targets = [alias.name.split(".") for alias in node.names]
                targets = [parts[1:] or ["__init__"] for parts in targets if parts[0] == self.package.name]
            elif isinstance(node, ast.ImportFrom):
                targets = self._targets(node, package)
            else:
                continue
            for parts in targets:
                other = self._module(parts)
                if other != name:
                    yield Import(name, other, node.lineno)

    def _targets(self, node: ast.ImportFrom, package: tuple[str, ...]) -> list[list[str]]:
        said = (node.module or "").split(".") if node.module else []
        if node.level:
            base = [*package[: len(package) - node.level + 1], *said]
        elif said[:1] == [self.package.name]:
            base = said[1:]
        else:
            return []
        return [[*base, alias.name] for alias in node.names]

    def _module(self, parts: list[str]) -> str:
        """The longest beginning of a dotted name that is a module; the last part may be a name inside it."""
        for size in range(len(parts), 0, -1):
            if ".".join(parts[:size]) in self.modules:
                return ".".join(parts[:size])
        return "__init__"

    def unplaced(self) -> list[str]:
        """Entries that stand in the package or in the table, but not in both."""
        return sorted({entry(name) for name in self.modules} ^ set(self.floors))

    def upward(self) -> list[str]:
        """Imports that do not go to a lower floor; inside one entry any may import any."""
        crossing = [one for one in self.imports if entry(one.importer) != entry(one.imported)]
        return [str(one) for one in crossing if self._floor(one.importer) <= self._floor(one.imported)]

    def _floor(self, module: str) -> int:
        return self.floors.get(entry(module), 0)

    def circles(self) -> list[list[str]]:
        """Groups of modules that import one another; a module and the package that holds it are no circle."""
        graph: dict[str, set[str]] = {name: set() for name in self.modules}
        for one in self.imports:
            if not one.importer.startswith(f"{one.imported}.") and not one.imported.startswith(f"{one.importer}."):
                graph[one.importer].add(one.imported)
        return [sorted(group) for group in components(graph) if len(group) > 1]

    def sql(self) -> list[str]:
        """Texts that begin as a statement does, as `module:line`."""
        return [
            f"{name}:{node.lineno}"
            for name, path in self.modules.items()
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value)
        ]


def floors(page: str) -> dict[str, int]:
    """Read the table of floors: a row is a number and the names in backquotes after it."""
    found = {}
    for number, entries in ROW.findall(page):
        for name in re.findall(r"`(\w+)/?`", entries):
            found[name] = int(number)
    return found


def entry(module: str) -> str:
    """The entry at the top of the package that a module lies in."""
    return module.partition(".")[0]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def components(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of a graph (Tarjan 1972)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in graph[node]:
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            found.append(group)

    for node in graph:
        if node not in order:
            visit(node)
    return found
