"""The English word lists of `times.toml` and `holidays.toml`: all of them are used, and none has a word twice."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.lang import ENGLISH

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = Path(evimem.__file__).parent
FILES = ("holidays", "times")
READERS = {"words", "table", "lists"}


def data(file: str) -> dict[str, Any]:
    return tomllib.loads((PACKAGE / "lang" / "en" / f"{file}.toml").read_text(encoding="utf-8"))


def lists(value: Any, name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and words of every list of words in a value, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from lists(inner, f"{name}.{key}")
    elif isinstance(value, str):
        yield name, value.split()
    elif isinstance(value, list) and all(isinstance(word, str) for word in value):
        yield name, value


def nodes() -> Iterator[ast.AST]:
    for path in PACKAGE.rglob("*.py"):
        yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def argument(node: ast.AST) -> str | None:
    """Return the name that a call of words(), table() or lists() reads."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READERS):
        return None
    return node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None


@pytest.mark.parametrize("file", FILES)
def test_every_key_is_read_by_the_package(file: str):
    read = {argument(node) for node in nodes()}
    assert [key for key in data(file) if f"{file}.{key}" not in read] == []


def test_every_entry_is_read_of_a_table_that_is_read_by_entry():
    tables, entries = {}, set()
    for node in nodes():
        if isinstance(node, ast.Assign) and (name := argument(node.value)) and isinstance(node.targets[0], ast.Name):
            tables[node.targets[0].id] = name
        match node:
            case ast.Subscript(value=ast.Name(id=table), slice=ast.Constant(value=entry)):
                entries.add((table, entry))
    by_entry = {table for table, _ in entries}
    ours = {name: key for name, key in tables.items() if name in by_entry and key.partition(".")[0] in FILES}
    read = {f"{ours[table]}.{entry}" for table, entry in entries if table in ours}
    unread = [f"{key}.{entry}" for key in ours.values() for entry in ENGLISH.table(key) if f"{key}.{entry}" not in read]
    assert len(ours) >= 5
    assert unread == []


@pytest.mark.parametrize("file", FILES)
def test_no_list_has_a_word_twice(file: str):
    found = list(lists(data(file), file))
    twice = {name: {word for word in words if words.count(word) > 1} for name, words in found}
    assert found
    assert {name: words for name, words in twice.items() if words} == {}


@pytest.mark.parametrize(
    "table", ["holidays.dates", "times.month_abbreviations", "times.units", "times.weekday_abbreviations"]
)
def test_a_word_with_one_value_is_in_one_list_of_its_table(table: str):
    words = [word for listed in ENGLISH.lists(table).values() for word in listed]
    assert sorted(words) == sorted(set(words))
