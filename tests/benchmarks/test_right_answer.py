"""When a short answer counts as right."""

import pytest

from benchmarks.scoring.right_answer import holds, is_right, spelled


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("7 Sept 2023", ["7 September 2023"]),
        ("the 7th of September, around noon", ["7 September 2023", "7th of September"]), ("three", ["3"]),
        ("$1,250 a month", ["1250"]), ("Yes, in May", ["yes"]), ("Likely yes", ["Yes"]),
        ("the old blue van", ["the blue van"]),
    ],
)  # fmt: skip
def test_an_answer_with_a_gold_form_is_right(text, gold):
    assert is_right(text, gold)


@pytest.mark.parametrize(
    ("text", "gold"),
    [("8 September 2023", ["7 September 2023"]), ("13", ["3"]), ("No, yes was a slip", ["yes"]), ("van", ["no van"])],
)
def test_another_value_is_wrong(text, gold):
    assert not is_right(text, gold)


def test_words_are_compared_whole_and_in_order():
    assert spelled("Twenty-one Cats!") == "21 cats"
    assert holds("she sold twenty-one cats", "21 cats")
    assert not holds("cats, twenty-one", "21 cats")
    assert not holds("anything", "")
