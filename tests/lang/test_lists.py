"""The English word lists as a whole: none stands twice, and each is read by the package."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import lang
from evimem.lang import ENGLISH, Language

PACKAGE = Path(evimem.__file__).parent
FEWEST = 5  # words: shorter lists may have the same words by chance
KEY = re.compile(r"[\"']([a-z_]+(?:\.[a-z_]+)+)")  # of a list or a table, at the start of a string of the code


def lists_in(value: Any, name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield every list of words in a value, at any depth, with its full name."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from lists_in(inner, f"{name}.{key}")
    elif isinstance(value, str):
        yield name, value.split()
    elif isinstance(value, list) and all(isinstance(word, str) for word in value):
        yield name, value


def same(lists: Mapping[str, list[str]]) -> list[list[str]]:
    """Return the names of lists that have the same words, in whatever order."""
    names = defaultdict(list)
    for name, words in lists.items():
        if len(set(words)) >= FEWEST:
            names[frozenset(words)].append(name)
    return [found for found in names.values() if len(found) > 1]


def unread(names: list[str], code: str) -> list[str]:
    """Return the names of lists that the code reads neither by name nor as part of a table."""
    read = set(KEY.findall(code))
    return [name for name in names if not read & {name.rsplit(".", cut)[0] for cut in range(name.count("."))}]


def _texts(code: str) -> Iterator[tuple[str, str]]:
    """Yield every string in the files of a language, with where it stands."""
    for path in sorted((PACKAGE / "lang" / code).glob("*.toml")):
        yield from _strings(lang.tomllib.loads(path.read_text(encoding="utf-8")), f"{code}/{path.name}")


def _strings(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _strings(inner, f"{name} {key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _strings(inner, f"{name} {number}")


def content(file: str) -> Mapping[str, Any]:
    return lang.tomllib.loads((PACKAGE / "lang" / "en" / f"{file}.toml").read_text(encoding="utf-8"))


LISTS = dict(pair for file in ENGLISH.files for pair in lists_in(content(file), file))
CODES = sorted(path.name for path in (PACKAGE / "lang").iterdir() if any(path.glob("*.toml")))
KEYS = [f"{file}.{key}" for file in ENGLISH.files for key in content(file)]


def test_no_list_stands_twice():
    assert same(LISTS) == []


def test_every_list_is_read_by_the_package_or_by_the_reader_of_spans():
    files = [*PACKAGE.rglob("*.py"), *(PACKAGE.parent / "benchmarks" / "span").glob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    assert len(LISTS) > 100
    # Lists of times are also read by name in forms: tests/times/test_language_data.py.
    assert unread([name for name in LISTS if not name.startswith("dates.")], code) == []
    keys, read = [key for key in KEYS if not key.startswith("dates.")], KEY.findall(code)
    assert [key for key in keys if not any(name == key or name.startswith(f"{key}.") for name in read)] == []


@pytest.mark.parametrize(
    ("other", "found"),
    [("five four three two one", [["a", "b"]]), ("one two three", []), ("one two three four six", [])],
)
def test_lists_with_the_same_words_are_found(other, found):
    assert same({"a": "one two three four five".split(), "b": other.split()}) == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('words("file.table.key")', []), ('lists("file.table")', []), ('words(f"file.table.{key}")', []),
        ('words("file.tables")', ["file.table.key"]), ('words("file.table.other")', ["file.table.key"]),
    ],
)  # fmt: skip
def test_lists_that_no_code_reads_are_found(code, found):
    assert unread(["file.table.key"], code) == found


def test_no_word_holds_a_control_character():
    """In TOML, "\\b" between double quotes is a backspace, which no text has: the word would never be found."""
    texts = {name: text for code in CODES for name, text in _texts(code)}
    assert len(texts) > 1_000
    assert [name for name, text in texts.items() if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)] == []


@pytest.mark.parametrize(
    ("text", "found"), [("Take to bed.", True), ("take  to  bed", True), ("takes to", False), ("(take.)", True)]
)
def test_a_pattern_for_any_word_finds_each_of_a_list(monkeypatch, text, *, found):
    monkeypatch.setattr(lang, "_read_words", lambda code, name: {"a": ("take to bed",), "b": ("take.",)}[name])
    assert (re.search(rf"\b{Language('en').any_of_source('a', 'b')}", text, re.IGNORECASE) is not None) == found
