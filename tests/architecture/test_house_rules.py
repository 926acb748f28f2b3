"""The shape of the package, as tests: who may import whom, where async and SQL may appear, what is public."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import evimem

ROOT = Path(evimem.__file__).parent
LAYERS = ["raw", "index", "edges"]
ABOVE = {
    "store",
    "memory",
    "core",
    "pool",
    "opening",
    "loops",
    "remember",
    "search",
    "layers",
    "upkeep",
    "erase",
    "cli",
}
PATHS = sorted(ROOT.rglob("*.py"))


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> set[str]:
    """The first part of each module of ours that a file imports, resolved against where it lies."""
    package = path.relative_to(ROOT).parts[:-1]
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            whole = (*base, *(node.module or "").split(".")) if node.module else base
            found |= {whole[0]} if whole else {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_knows_neither_the_others_nor_what_is_above(layer: str) -> None:
    for path in (ROOT / layer).rglob("*.py"):
        assert imported(path) & ({*LAYERS, *ABOVE} - {layer}) == set(), path


def test_only_the_store_and_what_it_is_made_of_speaks_sql() -> None:
    speakers = {path.relative_to(ROOT).parts[0] for path in PATHS if "connection" in imported(path)}
    assert speakers <= {
        "raw",
        "index",
        "edges",
        "store.py",
        "schema.py",
        "layers.py",
        "jobs.py",
        "upkeep.py",
        "companions.py",
    }
    assert [path.name for path in PATHS if "import apsw" in path.read_text(encoding="utf-8")] == ["connection.py"]


def test_async_lives_in_the_doors_and_at_the_far_end() -> None:
    def is_async(path: Path) -> bool:
        return any(isinstance(node, ast.AsyncFunctionDef) for node in ast.walk(tree(path)))

    found = {path.relative_to(ROOT).parts[0] for path in PATHS if is_async(path)}
    assert found <= {"flow.py", "doors", "protocols.py", "openai", "testing"}


def test_only_the_command_line_prints_and_reads_the_environment() -> None:
    def offends(path: Path) -> bool:
        names = {node.id for node in ast.walk(tree(path)) if isinstance(node, ast.Name)}
        attributes = {node.attr for node in ast.walk(tree(path)) if isinstance(node, ast.Attribute)}
        return "print" in names or bool(attributes & {"environ", "getenv"})

    allowed = {"cli", "__main__.py", "bench", "testing"}
    assert [path for path in PATHS if offends(path) and path.relative_to(ROOT).parts[0] not in allowed] == []


def test_nothing_is_unpickled() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in PATHS)
    assert [word for word in ("pickle", "joblib", "allow_pickle", "eval(", "exec(") if f"import {word}" in text] == []
    assert "allow_pickle=True" not in text


def test_public_names_are_those_of_the_package_and_documented() -> None:
    assert evimem.__all__ == sorted(evimem.__all__)
    assert {name for name in vars(evimem) if name[0].isupper()} <= set(evimem.__all__)
    for name in evimem.__all__:
        assert getattr(evimem, name).__doc__, name


def test_importing_loads_no_model_no_extra_and_no_network() -> None:
    heavy = ("openai", "rich", "spacy", "dateparser", "voyager", "hnswlib", "http.client", "rank_bm25")
    code = f"import sys; from evimem import *; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_module_opens_with_what_it_is() -> None:
    assert [path for path in PATHS if not ast.get_docstring(tree(path))] == []


def test_a_bare_import_brings_nothing_heavy_and_no_name_hides_behind_a_module() -> None:
    modules = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in PATHS}
    assert not modules & set(evimem.__all__)
    done = subprocess.run(
        [sys.executable, "-c", "import sys, evimem; print(*{'numpy', 'asyncio', 'apsw'} & set(sys.modules))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == []


def test_no_module_is_long() -> None:
    assert [path.name for path in PATHS if code_lines(path) > 380] == []


def code_lines(path: Path) -> int:
    """The lines of a module without its docstrings: documenting a function must not make its module too long."""
    documented = [
        node.body[0]
        for node in ast.walk(tree(path))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and ast.get_docstring(node)
    ]
    docstrings = sum((text.end_lineno or 0) - text.lineno + 1 for text in documented)
    return len(path.read_text(encoding="utf-8").splitlines()) - docstrings
