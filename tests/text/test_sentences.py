import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.text.sentences import sentences
from tests.sizes import REDUCED


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I left. Ben stayed.", ["I left.", "Ben stayed."]),
        ("I saw Dr. Weber. She helped.", ["I saw Dr. Weber.", "She helped."]),
        ("St. Ives was packed. We left.", ["St. Ives was packed.", "We left."]),
        ("She lives on Elm St. We met there.", ["She lives on Elm St.", "We met there."]),
        ("We live at 4 Grove Rd. in Hull. approx. 20 came.", ["We live at 4 Grove Rd. in Hull.", "approx. 20 came."]),
        ("Fruit, e.g. pears, is fine. Yes.", ["Fruit, e.g. pears, is fine.", "Yes."]),
        ("It cost 3.50 euros. Cheap!", ["It cost 3.50 euros.", "Cheap!"]),
        ("I met J. Smith. He left.", ["I met J. Smith.", "He left."]),
        ("I met J.K. Smith. He left.", ["I met J.K. Smith.", "He left."]),
        ("He and I. We left.", ["He and I.", "We left."]),
        ("Well... maybe. Or not...", ["Well... maybe.", "Or not..."]),
        ("Hm\u2026 maybe. So\u2026 What now?", ["Hm\u2026 maybe.", "So\u2026", "What now?"]),
        ("Really?! No way!", ["Really?!", "No way!"]),
        ('He said "go." Then he left.', ['He said "go."', "Then he left."]),
        ("We left at 5 p.m. It rained.", ["We left at 5 p.m.", "It rained."]),
        ("We left at 5 p.m. and slept.", ["We left at 5 p.m. and slept."]),
        ("one line\nanother line\n\n\nthird", ["one line", "another line", "third"]),
        ("Steps:\n1. Heat it.\n2. Eat.\n- done", ["Steps:", "Heat it.", "Eat.", "done"]),
        ("2. Preheat the oven. Wait.", ["Preheat the oven.", "Wait."]),
        ("Nice \U0001f389\U0001f389 See you!", ["Nice \U0001f389\U0001f389", "See you!"]),
        ("I got home.Then I slept.", ["I got home.", "Then I slept."]),
        ("\u6211\u6765\u4e86\u3002\u4f60\u5462\uff1f", ["\u6211\u6765\u4e86\u3002", "\u4f60\u5462\uff1f"]),
        ("(I left.) Ben stayed.", ["(I left.)", "Ben stayed."]),
        ("see example.com for more", ["see example.com for more"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_a_text_is_split_into_sentences(text, expected):
    assert split(text) == expected


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("aI .!?\n-1)\"'\u2026\U0001f389"))))
def test_ranges_are_in_order_and_omit_only_space_and_list_markers(text):
    ranges = sentences(text)
    at = 0
    for start, end in ranges:
        assert at <= start < end <= len(text)
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
        assert all(c.isspace() or c in "-*>#(.)0123456789\u2022\u2023\u25e6\u2013\u2014" for c in text[at:start])
        at = end
    assert all(c.isspace() or c in "-*>#(.)0123456789\u2022\u2023\u25e6\u2013\u2014" for c in text[at:])


@pytest.mark.parametrize("unit", [" ", ".", "?!", "\n", "a. ", "\U0001f389", "1. ", '."', "Dr. ", "Elm St. "])
def test_a_megabyte_is_split_in_linear_time(unit):
    text = unit * ((1 << (18 if REDUCED else 20)) // len(unit)) + "x"
    before = time.process_time()
    sentences(text)
    assert time.process_time() - before < 3
