"""Times in other languages than English: the sentences of `other_languages/`, and what must never be misread."""

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evimem.lang
import evimem.times
from evimem.lang import tomllib
from evimem.lang.guess import LANGUAGES
from evimem.times import Conventions, find_times, locate_times, mentions_time
from evimem.times.find_times import locate_dates, may_mention_dates
from evimem.times.forms import load_grammar
from evimem.times.lexicon import MAX_TEXT_CHARACTERS, fold
from evimem.times.readers import READERS

SAID = datetime(2024, 3, 13, 18, 20)  # a Wednesday
LANG = Path(evimem.lang.__file__).parent
READER = Path(evimem.times.__file__).parent
CODES = [code for code in LANGUAGES if code != "en"]


@pytest.mark.parametrize("code", CODES)
def test_the_times_of_all_sentences_are_found_and_no_others(table: Callable[[str], Any], code: str) -> None:
    rows = table(f"other_languages/{code}.txt")
    wrong = [row.text for row in rows if _found(code, row.text, row.said_at) != row.meanings]
    assert len(rows) >= 55
    assert wrong == []


def _found(code: str, text: str, said_at: datetime) -> tuple[tuple[datetime, datetime, str], ...]:
    return tuple(
        (time.start, time.end, time.granularity)
        for _, _, time in locate_dates(code, text, fold(text), said_at, Conventions(date_order="dmy"))
        if time
    )


@pytest.mark.parametrize("code", CODES)
def test_a_sentence_with_a_time_mentions_one(table: Callable[[str], Any], code: str) -> None:
    rows = [row for row in table(f"other_languages/{code}.txt") if row.meanings]
    assert all(may_mention_dates(code, fold(row.text)) for row in rows)


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_form_of_a_language_has_a_reader(code: str) -> None:
    assert {form.reader for form in load_grammar(code).forms} <= set(READERS)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("Je l'ai vu hier à la gare", datetime(2024, 3, 12)),
        ("Sie kommt uebermorgen zu uns", datetime(2024, 3, 15)),  # umlauts written out
        ("Nos vemos el proximo sabado en casa", datetime(2024, 3, 16)),  # without accents
        ("परसों फ़िल्म देखी थी", datetime(2024, 3, 11)),
        ("२०१९ में हम वहाँ रहते थे", datetime(2019, 1, 1)),
        ("来月13日に引っ越すよ", datetime(2024, 4, 13)),
        ("我们下周五见", datetime(2024, 3, 22)),
        ("وصلت الطائرة أمس", datetime(2024, 3, 12)),
    ],
)
def test_the_language_of_a_text_decides_how_its_times_are_read(text: str, start: datetime) -> None:
    (found,) = find_times(text, SAID)
    assert found.start == start
    assert mentions_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "Je ne mange pas de ça", "et toi, t'as fini mar ?", "Der Mai ist mein Hund", "Das war sonst immer so",
        "ich ziehe an die See", "es la segunda vez que me dice eso", "ho mangiato sei mele", "este es mi hijo mayor",
        "一天到晚都在说", "今日この頃のことですが", "मैं रोज़ दौड़ता हूँ", "كل يوم أشرب القهوة",
    ],
)  # fmt: skip
def test_english_rules_read_no_other_language(text: str) -> None:
    assert find_times(text, SAID) == []


@pytest.mark.parametrize("text", ["9 июня 2023 мы поженились в Москве", "Wir sehen uns am 9. Juni 2023"])
def test_full_dates_are_read_in_languages_without_tables_too(text: str) -> None:
    assert [found.start for found in find_times(text, SAID)] == [datetime(2023, 6, 9)]


def test_all_languages_have_the_same_lists() -> None:
    of_some = {"unit_groups", "decades", "named_hours", "weekday_endings", "not_past"}
    keys = {code: {*_toml(code)} - of_some for code in CODES}
    assert {code for code in CODES if keys[code] != keys["fr"]} == set()
    read = " ".join(path.read_text(encoding="utf-8") for path in READER.glob("*.py"))
    assert {key for key in keys["fr"] if not re.search(rf"""['".]{key}['"]""", read)} == set()


def _toml(code: str) -> dict[str, Any]:
    return tomllib.loads((LANG / code / "dates.toml").read_text(encoding="utf-8"))


@given(st.sampled_from(CODES), st.data(), st.datetimes())
def test_times_of_any_text_are_ordered_and_disjoint(code: str, data: st.DataObject, now: datetime) -> None:
    language = load_grammar(code).words.language
    words = ["2023", "31", "5", " ", "から", "月", "de", "le", "كل", *language.words("dates.between")]
    words += [word for name in ("days", "seasons", "thirds") for word in language.table(f"dates.{name}")]
    words += [*language.words("common.weekdays"), *language.words("common.months")]
    text = fold(" ".join(data.draw(st.lists(st.sampled_from(words), max_size=12))))
    at = 0
    for start, end, time in locate_dates(code, text, text, now):
        assert at <= start < end <= len(text)
        assert time is None or time.start < time.end
        at = end


EXPENSIVE = ("il y a ", "ヶ月前", "2024年", "最", "de la semaine ", "पिछले ", "قبل ", "5 ", "en mai ", "hier ", "周")


@pytest.mark.parametrize("unit", EXPENSIVE)
def test_no_text_of_any_language_is_expensive(unit: str) -> None:
    text = (unit * MAX_TEXT_CHARACTERS)[:MAX_TEXT_CHARACTERS]
    for code in CODES:
        list(locate_dates(code, unit, unit, SAID))  # patterns are compiled once per process
        taken = []
        for _ in range(2):
            started = process_time()
            list(locate_dates(code, text, text, SAID))
            taken.append(process_time() - started)
            if taken[0] < 1:
                break
        assert min(taken) < 1, code


def test_a_place_in_the_text_is_that_of_its_words() -> None:
    text = "On se voit à Noël, non : vendredi prochain, d'accord ?"
    (found,) = locate_times(text, SAID)
    assert text[found.start : found.end] == found.time.text == "vendredi prochain"


@pytest.mark.parametrize(
    "text",
    [
        "Fomos na segunda semana de 2021.", "na sexta semana do ano", "We moved in the second week of 2021.",
        "We met in the 3rd week of 2020.", "Wir sind in der zweiten Woche von 2021 umgezogen.",
        "On a déménagé la deuxième semaine de 2021.", "Мы переехали во вторую неделю 2021 года.",
        "我们2021年第二周搬家了。", "2021年の第2週に引っ越した。", "2021 के दूसरे हफ्ते में",
    ],
)  # fmt: skip
def test_a_week_counted_within_a_year_is_no_weekday_and_no_whole_year(text):
    assert find_times(text, datetime(2024, 3, 14)) == []
