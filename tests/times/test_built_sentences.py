"""No sentence that our tables of times build raises, and no table has a form that its reader cannot read."""

from datetime import datetime

import pytest

from evimem import find_times
from evimem.lang.guess import LANGUAGES
from evimem.times.forms import check_slots, load_grammar, possible_slot_sets, required_words
from tests.sizes import REDUCED
from tests.times.built_sentences import raised


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_of_our_tables_raises(language: str) -> None:
    assert not raised(language, 120 if REDUCED else 2_000)


def test_what_a_reading_raises_is_counted() -> None:
    assert raised("it", 10, reading=lambda language, said, at: said.index("no such word")).total() == 10


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_form_of_a_language_tells_its_reader_what_it_reads(language: str) -> None:
    assert load_grammar(language).forms


@pytest.mark.parametrize(
    ("reader", "form"),
    [
        ("date", "({day}|1º) {month}"),
        ("part", "in der nacht"),
        ("month", "{month}( {year})?"),
        ("third", "x(?= {unit})"),
        ("clock", "[0-9] {half}"),
    ],
)
def test_a_form_that_can_leave_its_reader_without_a_slot_is_refused_when_it_is_loaded(reader: str, form: str) -> None:
    with pytest.raises(ValueError, match=reader):
        check_slots(reader, form)


def test_a_form_tells_what_each_way_through_it_tells() -> None:
    ways = possible_slot_sets("({part}|x)? {day}\\.( {year})?(?! ?{unit})")
    assert {frozenset(way) for way in ways} == {
        frozenset(slots.split()) for slots in ("day", "day year", "part day", "part day year")
    }


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("{amount} ago", ["ago"]),
        ("(the )?(past|last) {amount}( or so)?", ["last past"]),
        ("(?<!the )in (one|that very) year", ["in", "one that", "year"]),
        ("(half-)?yearly", ["yearly"]),
        ("haven't {unit}", ["haven"]),
        ("tom(orrow)?|days? {day}", []),
        ("at ?noon{part}", []),
        ("{day}th of{part}", []),
        ("été {unit} pm", ["pm"]),
        ("(in|a) (x|of )the", []),
    ],
)
def test_a_form_needs_the_words_that_stand_whole_in_every_match(form: str, expected: list[str]) -> None:
    assert [" ".join(sorted(words)) for words in required_words(form)] == expected


MISSING = """
Der 29. Februar letztes Jahr fiel aus.
Le 29 février de l'année dernière, on était à Lyon.
El 29 de febrero del año pasado no existió.
Il 29 febbraio dell'anno scorso non esisteva.
O 29 de fevereiro do ano passado não existiu.
去年2月29日我们没有办聚会。
去年の2月29日はなかったよね。
पिछले साल 29 फरवरी नहीं थी।
يوم 29 فبراير العام الماضي لم يكن موجودا
"""


@pytest.mark.parametrize("said", MISSING.strip().splitlines())
def test_a_day_that_its_year_lacks_is_no_time_and_no_part_of_it_is(said: str) -> None:
    assert find_times(said, datetime(2024, 3, 12)) == []


def test_the_first_of_a_month_in_italian_and_a_night_between_two_days_in_german() -> None:
    (found,) = find_times("Il 1º maggio siamo andati al mare con i nonni.", datetime(2024, 5, 12))
    assert found.start == datetime(2024, 5, 1)
    assert find_times("Wir sind in der Nacht auf Sonntag angekommen.", datetime(2024, 3, 12)) == []
