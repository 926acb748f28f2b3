"""English rules find no facts in other languages: a wrong fact is worse than none."""

from datetime import datetime

import pytest

from evimem import Turn
from evimem.extract.rule_extractor import RuleExtractor
from evimem.extract.turn_facts import classify_stance


def turn(text: str, caption: str | None = None) -> Turn:
    return Turn("1", "s", "Mira", text, datetime(2024, 3, 13), caption)


@pytest.mark.parametrize(
    "text",
    [
        "Ich ziehe am liebsten Turnschuhe an.", "Je suis infirmière et mon frère habite à Nantes.",
        "Mi hermano trabaja en Vigo desde marzo.", "おばあちゃんが昨日台所で転んだ。",
        "मैंने शनिवार को गाड़ी ले ली, 2019 का model है", "Вчера мы купили новую машину",
    ],
)  # fmt: skip
def test_a_turn_in_another_language_has_no_facts_but_asserts_something(text: str) -> None:
    assert RuleExtractor().extract(turn(text)) == ()
    assert classify_stance(turn(text)) == "asserts"


def test_an_english_caption_of_such_a_turn_is_read() -> None:
    (fact,) = RuleExtractor().extract(turn("Regarde ce que j'ai fait hier soir", caption="a photo of a red bicycle"))
    assert fact.kind == "image"


@pytest.mark.parametrize("text", ["Tu viens demain soir ?", "来週の土曜は空いてる\uff1f", "هل وصلت إلى البيت؟"])
def test_a_question_in_another_language_asks(text: str) -> None:
    assert classify_stance(turn(text)) == "asks"


def test_the_english_sentences_of_a_mixed_turn_are_read() -> None:
    found = RuleExtractor().extract(turn("Ya llegué a casa, qué frío hace. My sister bought a red bicycle."))
    assert [fact.text for fact in found] == ["Mira's sister bought a red bicycle"]
