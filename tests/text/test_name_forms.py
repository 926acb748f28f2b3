"""Other forms of one name."""

import pytest

from evimem.text.names import other_forms


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("England", "english"), ("Welsh", "wales"), ("Argentina", "argentine"), ("Slovenia", "slovenian"),
        ("Himalayan", "himalayas"), ("Himalayan", "himalaya"), ("Corkums", "corkum"), ("Boudreau", "boudreaus"),
        ("GCSE", "gcses"), ("Tims", "tim"),
    ],
)  # fmt: skip
def test_a_place_with_what_comes_from_it_and_one_with_several_are_one_name(name, form):
    assert form in other_forms(name)


@pytest.mark.parametrize(
    ("name", "other"),
    [("Jon", "jonathan"), ("Ann", "anna"), ("Anna", "ann"), ("Ross", "ros"), ("Wales", "irish"), ("Juan", "jua")],
)
def test_a_name_is_no_form_of_a_longer_or_shorter_one(name, other):
    assert other not in other_forms(name)


@pytest.mark.parametrize("name", ["", "  ", "B1", "Vijay Nagar", "O'Brien"])
def test_what_is_no_single_word_has_no_other_form(name):
    assert other_forms(name) == ()
