"""The English word lists of evimem.extract and evimem.text: each is read, and none contains a word twice."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import lang
from evimem.extract.tagging import tag_letters
from evimem.lang import ENGLISH
from evimem.text.terms import IRREGULAR_VERBS

FILES = ["grammar", "small_talk", "statements", "terms", "verbs"]
PACKAGE = Path(evimem.__file__).parent
MAX_SECONDS = 0.025  # of processor time to parse all of the files


def text_of(file: str) -> str:
    return (PACKAGE / "lang" / "en" / f"{file}.toml").read_text(encoding="utf-8")


def lists_in(table: Mapping[str, Any], name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield every list in a table, with its full name."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from lists_in(value, f"{name}.{key}")
        else:
            yield f"{name}.{key}", value.split() if isinstance(value, str) else value


LISTS = dict(pair for file in FILES for pair in lists_in(lang.tomllib.loads(text_of(file)), file))


@pytest.mark.parametrize("name", LISTS)
def test_a_list_has_no_word_twice(name: str) -> None:
    assert [word for word, count in Counter(LISTS[name]).items() if count > 1] == []


@pytest.mark.parametrize("name", LISTS)
def test_words_are_lower_case(name: str) -> None:
    assert [word for word in LISTS[name] if word != word.lower()] == []


@pytest.mark.parametrize("table", ["grammar.word_classes", "verbs.form_tags"])
def test_a_word_has_one_tag_and_every_tag_exists(table: str) -> None:
    classes = ENGLISH.lists(table)
    assert all(tag_letters(name.upper()) for name in classes)
    counts = Counter(word for words in classes.values() for word in words)
    assert [word for word, count in counts.items() if count > 1] == []


def test_a_verb_is_in_one_list() -> None:
    regular, mostly, noun_too = (set(LISTS[f"verbs.{name}"]) for name in ("regular", "mostly_verb", "noun_too"))
    irregular = {base for base, *_ in IRREGULAR_VERBS}
    assert not regular & (mostly | noun_too | irregular)
    assert not noun_too & (mostly | irregular)
    assert not set(LISTS["verbs.irregular_nouns"]) & mostly
    assert set(LISTS["verbs.irregular_nouns"]) <= irregular


def test_the_files_are_parsed_in_25_milliseconds() -> None:
    texts = [text_of(file) for file in FILES]
    spent = []
    for _ in range(7):
        before = time.process_time()
        for text in texts:
            lang.tomllib.loads(text)
        spent.append(time.process_time() - before)
    assert min(spent) < MAX_SECONDS
