"""The English word lists of evimem.extract and evimem.text: each is read, and none contains a word twice."""

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import lang
from evimem.extract.tagging import letters
from evimem.lang import ENGLISH
from evimem.text.terms import IRREGULAR_VERBS

FILES = ["grammar", "predicates", "small_talk", "terms", "verbs"]
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


@lru_cache(maxsize=1)
def names_in_the_source() -> frozenset[str]:
    """Return every "file.key" that the package's code contains."""
    name = re.compile(rf"[\"']((?:{'|'.join(FILES)})(?:\.[a-z_]+)+)")
    return frozenset(found for path in PACKAGE.rglob("*.py") for found in name.findall(path.read_text("utf-8")))


@pytest.mark.parametrize("name", LISTS)
def test_the_package_reads_every_list_or_a_table_that_holds_it(name: str) -> None:
    parts = name.split(".")
    assert any(".".join(parts[:size]) in names_in_the_source() for size in range(2, len(parts) + 1)), name


def test_the_language_has_every_list_that_the_package_reads() -> None:
    for name in names_in_the_source():
        assert any(known == name or known.startswith(f"{name}.") for known in LISTS), name


@pytest.mark.parametrize("name", LISTS)
def test_a_list_has_no_word_twice(name: str) -> None:
    assert [word for word, count in Counter(LISTS[name]).items() if count > 1] == []


@pytest.mark.parametrize("name", LISTS)
def test_words_are_lower_case(name: str) -> None:
    assert [word for word in LISTS[name] if word != word.lower()] == []


@pytest.mark.parametrize("table", ["grammar.word_classes", "verbs.form_tags"])
def test_a_word_has_one_tag_and_every_tag_exists(table: str) -> None:
    classes = ENGLISH.lists(table)
    assert all(letters(name.upper()) for name in classes)
    counts = Counter(word for words in classes.values() for word in words)
    assert [word for word, count in counts.items() if count > 1] == []


def test_a_verb_is_in_one_list() -> None:
    regular, mostly, noun_too = (set(LISTS[f"verbs.{name}"]) for name in ("regular", "mostly_verb", "noun_too"))
    irregular = {verb.base for verb in IRREGULAR_VERBS}
    assert not regular & (mostly | noun_too | irregular)
    assert not noun_too & (mostly | irregular)
    assert not set(LISTS["verbs.irregular_nouns"]) & mostly
    assert set(LISTS["verbs.irregular_nouns"]) <= irregular


def test_an_irregular_verb_stands_once() -> None:
    assert len({verb.base for verb in IRREGULAR_VERBS}) == len(IRREGULAR_VERBS)


def test_every_unmapped_form_is_one_of_an_irregular_verb() -> None:
    forms = {form for verb in IRREGULAR_VERBS for form in verb[1:]}
    assert set(LISTS["terms.unmapped_verb_forms"]) <= forms


def test_an_abbreviation_stands_in_one_of_the_two_lists() -> None:
    assert not set(LISTS["terms.abbreviations"]) & set(LISTS["terms.abbreviations_that_may_end"])


def test_the_files_are_parsed_in_25_milliseconds() -> None:
    texts = [text_of(file) for file in FILES]
    spent = []
    for _ in range(7):
        before = time.process_time()
        for text in texts:
            lang.tomllib.loads(text)
        spent.append(time.process_time() - before)
    assert min(spent) < MAX_SECONDS
