"""The English word lists of `dates.toml` and `holidays.toml`: all of them are used, and none has a word twice."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.lang import ENGLISH
from evimem.times.joins import CLOSE, PREFIXES, SINCE, SUFFIXES, WIDE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = Path(evimem.__file__).parent
FILES = ("holidays", "dates")
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


def test_every_list_of_holidays_is_read_by_the_package():
    read = {argument(node) for node in nodes()}
    assert [key for key in data("holidays") if f"holidays.{key}" not in read] == []


FORMS = ("slots", "pieces", "tense", "patterns", "forms")
# Tables of which each entry is read by its name.
BY_ENTRY = ("ambiguous_months", "before", "between", "not_before", "unit_groups", "slots", "pieces", "patterns")
JOINED = {f"between_{name}" for name in {**CLOSE, **WIDE}} | {"between_led_range", "between_range"}
AROUND = {f"after_{name}" for name in SUFFIXES} | {f"before_{name}" for name in {**PREFIXES, **SINCE}}


def test_every_list_of_times_is_named_by_the_code_or_a_form():
    times = data("dates")
    written = [text for name in FORMS for text in texts(times[name])]
    named = {part for text in written for words in NAMED.findall(text) for each in words for part in each.split("+")}
    code = " ".join(path.read_text(encoding="utf-8") for path in (PACKAGE / "times").glob("*.py"))
    named |= set(re.findall(r'"(?:dates\.)?([\w.]+)"', code)) | JOINED | AROUND | {f"{word}s" for word in named}
    lists = [key for key in times if key not in (*BY_ENTRY, "last_words")]
    lists += [f"{key}.{entry}" for key in BY_ENTRY[:5] for entry in times[key]]
    lists += [entry for key in BY_ENTRY[5:] for entry in times[key]]
    assert [name for name in lists if name not in named] == []
    assert times["last_words"].keys() == {**PREFIXES, **SINCE}.keys()


NAMED = re.compile(r"\{([a-z_]\w*)?(?::([\w.+]+))?\}")


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    else:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


@pytest.mark.parametrize("file", FILES)
def test_no_list_has_a_word_twice(file: str):
    found = list(lists({name: value for name, value in data(file).items() if name not in FORMS}, file))
    twice = {name: {word for word in words if words.count(word) > 1} for name, words in found}
    assert found
    assert {name: words for name, words in twice.items() if words} == {}


@pytest.mark.parametrize("table", ["holidays.dates", "common.also", "dates.units", "dates.relative"])
def test_a_word_with_one_value_is_in_one_list_of_its_table(table: str):
    words = [word for listed in ENGLISH.lists(table).values() for word in listed]
    assert sorted(words) == sorted(set(words))
