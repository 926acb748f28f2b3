import math

import pytest

from evimem.llm import prompt_fields


@pytest.mark.parametrize(
    ("said", "number"),
    [(0.95, 0.95), ("0.95 (high)", 0.95), ("95%", 0.95), (95, 0.95), (1, 1.0), (0, 0.0), ("about 0.5", 0.5)],
)
def test_a_confidence_is_read_in_the_forms_that_models_use(said, number):
    assert prompt_fields.confidence(said) == pytest.approx(number)


@pytest.mark.parametrize("said", [None, True, "high", -0.5, 1e300, math.nan, math.inf, 10**400, "1" * 5_000, [0.5], {}])
def test_an_invalid_confidence_is_none(said):
    assert prompt_fields.confidence(said) is None


@pytest.mark.parametrize("said", ["none.", "None", "N/A", "**none**", "", " - ", None, "nothing", [], 10**400, True])
def test_words_that_mean_nothing_state_nothing(said):
    assert prompt_fields.stated(said) == ""


def test_invisible_characters_are_removed():
    assert prompt_fields.text("Mi\u200bra\x00 \U000e0041\u202eloves\ud800 tea") == "Mira loves tea"


def test_a_text_is_cut_at_its_limit():
    assert prompt_fields.text("x" * 10_000_000, 10) == "x" * 10


@pytest.mark.parametrize(
    ("said", "value"), [(True, True), ("Yes, it does", True), ("**no**", False), ("maybe", None), (1, None)]
)
def test_a_flag_is_yes_no_or_neither(said, value):
    assert prompt_fields.flag(said) is value


def test_a_choice_ignores_case_and_decoration_and_nothing_else():
    assert prompt_fields.choice("**MULTI-HOP**.", {"multi_hop"}) == "multi_hop"
    assert prompt_fields.choice("not exact", {"exact"}) is None


def test_a_list_may_be_written_as_text():
    assert prompt_fields.items("[e1, e2]; 'e3'") == ["e1", "e2", "e3"]
    assert prompt_fields.items("none") == prompt_fields.items(None) == prompt_fields.items(7) == []
