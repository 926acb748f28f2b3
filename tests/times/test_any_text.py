import time
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.lang.guess import LANGUAGES
from evimem.times import Conventions, find_times, locate_times, mentions_time, onset, render
from evimem.times.forms import load_grammar
from evimem.times.lexicon import as_written, fold, words_of

from .built_sentences import ENGLISH as WORDS

GLUE = """
    fortnight first third fourth
    last next this the a in on at since for from to until between and of before after ago back later early mid late end
    yesterday today tomorrow tonight morning night noon 4 pm 16:30 2016 '09 15th 9 31 2023-06-09 6/9/2023 9999 1500 12
    will was been have now first second week's May, June. mai 2023 the 90s q3 other way while recently -
""".split()
word_soup = st.lists(st.sampled_from(WORDS + 6 * GLUE), max_size=14).map(" ".join)
texts = st.one_of(st.text(max_size=80), word_soup, st.builds("{}{}".format, word_soup, st.text(max_size=5)))
moments = st.one_of(
    st.datetimes(timezones=st.none() | st.timezones()),
    st.sampled_from([datetime.min, datetime.max, datetime(9999, 12, 1), datetime(1, 1, 2), datetime(2024, 2, 29)]),
)
SIZES = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(1), "weekend": timedelta(2)}
SIZES |= {"week": timedelta(7)}


@given(texts, moments, st.sampled_from(["recent", "previous_week"]), st.sampled_from([None, "dmy", "mdy", "ymd"]))
def test_times_of_any_text_are_ordered_disjoint_and_have_their_words(text, said_at, weekday, order):
    at = 0
    for located in locate_times(text, said_at, Conventions(weekday, order, said_at.tzinfo)):
        span = located.time
        assert at <= located.start < located.end <= len(text)
        assert span.text == text[located.start : located.end]
        assert (span.start is None) == (span.end is None) == (span.granularity == "vague")
        if span.start is not None:
            assert span.start.replace(tzinfo=None) < span.end.replace(tzinfo=None)
            assert span.start.tzinfo is said_at.tzinfo
            length = span.end.replace(tzinfo=None) - span.start.replace(tzinfo=None)
            assert SIZES.get(span.granularity, length) == length
        at = located.end


@given(texts, moments)
def test_a_text_that_mentions_no_time_has_none(text, said_at):
    assert mentions_time(text) or find_times(text, said_at) == []


@given(texts, st.sampled_from(["de", "en", "es", "fr", "it", "nl", "pt"]))
def test_no_form_is_left_out_for_lack_of_its_words_where_it_matches(text, language):
    folded = fold(text)
    words = words_of(folded) | as_written(folded)
    lacking = [form for form in load_grammar(language).forms if any(map(words.isdisjoint, form.required_words))]
    assert [form.form for form in lacking if form.pattern.search(folded)] == []


@given(texts, moments)
def test_every_time_can_be_rendered(text, said_at):
    for span in find_times(text, said_at):
        assert render(span)
        assert render(span, said_at, finest="day")
        begun = onset(span)
        assert begun is None or begun.start == span.start


@given(word_soup, st.datetimes(datetime(1950, 1, 1), datetime(2100, 1, 1)))
def test_the_same_text_and_time_give_the_same_result(text, said_at):
    assert find_times(text, said_at) == find_times(text, said_at)


EXPENSIVE = {
    "a million blanks": " " * 10**6,
    "one long token": "a" * 65536,
    "ones": "1 " * 4000,
    "question marks": "?" * 10**5 + "x",
    "blanks before a date": "the" + " " * 65536 + "9 June",
    "parentheses": "(" * 3000,
    "digits": "9" * 65536,
    "slashes": "1/" * 32768,
    "hyphens": "twenty-" * 9000,
    "quotes": "'" * 65536,
    "half counts": "a few " * 11000,
    "half perfects": "have been for 2 " * 5000,
    "half sides": "the week before " * 5000,
    "ambiguous months": "May " * 16000,
    "yearless days": "June 9 " * 9000,
    "dates": "2023-06-09 " * 6000,
    "tenses": "on Friday we went and will go " * 2000,
    "foreign dates": "1 foo 2023 " * 6000,
    "letters that grow": "\u0130" * 60000 + " yesterday",
}


@pytest.mark.parametrize("text", EXPENSIVE.values(), ids=EXPENSIVE.keys())
def test_no_text_is_expensive(text: str):
    # The import of dateparser and the compilation of patterns happen once per process, not once per text.
    find_times("12 mai 2023", datetime(2024, 3, 12))
    find_times(text[:2000], datetime(2024, 3, 12))
    taken = []
    for _ in range(3):  # the least of three: on a busy machine even processor time varies
        started = time.process_time()
        find_times(text, datetime(2024, 3, 12))
        mentions_time(text)
        taken.append(time.process_time() - started)
    assert min(taken) < 1  # many times what the worst of these takes, and far less than a text without bounds would


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_unit_that_is_counted_in_a_month_or_a_year_is_read_or_left_out(code):
    words = load_grammar(code).words
    for ordinal in list(words.ordinals.values)[:4]:
        for unit in words.units.values:
            for whole in (*list(words.months.values)[:2], "2021"):
                for glue in (" ", " in ", " de ", " of "):
                    find_times(f"{ordinal} {unit}{glue}{whole}", datetime(2024, 3, 14))
