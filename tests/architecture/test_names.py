"""No class name stands twice in the package, so that a name alone says which class is meant."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import evimem

from .house import tree

PACKAGE = Path(evimem.__file__).parent


def recurring(paths: Iterable[Path]) -> list[str]:
    """The names that more than one class has, nested classes included."""
    names = [node.name for path in paths for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)]
    return sorted(name for name, count in Counter(names).items() if count > 1)


def test_no_class_name_stands_twice() -> None:
    assert recurring(PACKAGE.rglob("*.py")) == []


def test_a_class_name_that_stands_twice_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class Row:\n    pass\n\n\nclass Other:\n    pass\n", encoding="utf-8")
    (tmp_path / "two.py").write_text("def f():\n    class Row:\n        pass\n", encoding="utf-8")
    assert recurring(tmp_path.glob("*.py")) == ["Row"]
