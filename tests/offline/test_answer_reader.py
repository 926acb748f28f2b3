"""Short answers with the place they stand in: dates, lengths, numbers, yes and no, and plain words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.span import SPAN, answer_reader
from evimem.extract.rule_extractor import RuleExtractor
from evimem.judging.evidence import Draft, View


def read(view: View) -> Draft:
    return answer_reader.read(view, SPAN.word, RuleExtractor())


See = Callable[..., View]
FRIENDS = [
    ("Mira", "We adopted a puppy last Friday. She is called Juno."),
    ("Tomas", "Lovely! I sold nine pieces at the craft fair, and the van cost £2,900."),
    ("Mira", "I have played the cello for six years, my teacher is Mrs. Okafor."),
    ("Tomas", "Katrin was offered a post in Rotterdam. I never went to Norway."),
    ("Mira", "I swim twice a week, and I moved to Sheffield in May 2021."),
    ("Tomas", "I started at the workshop two weeks ago."),
    ("Katrin", "I won my fourth tournament on Sunday!"),
]


def quoted(draft: Draft) -> str:
    citation = draft.citations[0]
    text = dict((f"s1:{place}", said) for place, (_, said) in enumerate(FRIENDS, 1))[citation.turn_id]
    assert citation.span is not None
    assert text[citation.span[0] : citation.span[1]] == citation.quote
    return citation.quote


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How long has Mira played the cello?", "six years"),
        ("How many pieces did Tomas sell at the craft fair?", "nine"),
        ("How much did the van cost Tomas?", "£2,900"),
        ("How often does Mira swim?", "twice a week"),
        ("How many tournaments has Katrin won?", "four"),
        ("Where was Katrin offered a post?", "Rotterdam"),
        ("Who is Mira's cello teacher?", "Mrs. Okafor"),
        ("Did Tomas go to Norway?", "No"),
        ("Did Mira move to Sheffield?", "Yes"),
    ],
)
def test_short_answers(see: See, question: str, text: str) -> None:
    draft = read(see(question, FRIENDS))
    assert draft.text == text
    assert quoted(draft)
