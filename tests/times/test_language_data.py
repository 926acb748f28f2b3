"""The word lists of `dates.toml` and `holidays.toml`: all of them are used, and none has a word twice."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.lang import ENGLISH, Language
from evimem.lang.guess import LANGUAGES

PACKAGE = Path(evimem.__file__).parent
CODE = " ".join(path.read_text(encoding="utf-8") for path in (PACKAGE / "times").glob("*.py"))
NAMED = re.compile(r"\{([a-z_]\w*)?(?::([\w.+]+))?\}")


def lists(value: Any, name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and words of every list of words in a value, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from lists(inner, f"{name}.{key}")
    elif isinstance(value, str):
        yield name, value.split()
    elif isinstance(value, list) and all(isinstance(word, str) for word in value):
        yield name, value


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_list_of_times_is_named_by_the_code_or_a_form(code: str) -> None:
    text = (PACKAGE / "lang" / code / "dates.toml").read_text(encoding="utf-8")
    named = {part for slots in NAMED.findall(text) for each in slots for part in re.split(r"[+.]", each)}
    named |= set(re.findall(r"[\"'.](\w+)[\"']", CODE)) | {f"{word}s" for word in named}
    keys = re.findall(r"(?m)^([a-z_]+) = ", text.partition("\n[forms]")[0].partition("\n# ---- Tables")[0])
    assert [key for key in keys if key not in named] == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_list_has_a_word_twice(code: str) -> None:
    names = [f"dates.{name}" for name in ("relative", "units", "parts")] + ["common.also"]
    found = [each for name in names for each in lists(dict(Language(code).table(name)), name)]
    assert {name: words for name, words in found if len({*words}) < len(words)} == {}


@pytest.mark.parametrize("table", ["holidays.dates", "common.also", "dates.units", "dates.relative"])
def test_a_word_with_one_value_is_in_one_list_of_its_table(table: str) -> None:
    words = [word for listed in ENGLISH.lists(table).values() for word in listed]
    assert sorted(words) == sorted(set(words))
