"""Invented chats with the short answers that they prove, what they do not answer, and what questions ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evimem.extract import RuleExtractor
from evimem.judging.evidence import View
from evimem.offline.verified import ShortAnswer, short_answer
from evimem.offline.verified.asked_form import asked_kind, bare

Lines = list[tuple[str, str]]


def examples() -> Iterator[tuple[Lines, str, str]]:
    text = Path(__file__).with_name("examples.txt").read_text(encoding="utf-8")
    for block in text.split("\n\n"):
        lines: Lines = []
        for line in block.splitlines():
            if line.startswith("? "):
                question, _, answer = line[2:].rpartition(" = ")
                yield lines, question, answer
            elif line and not line.startswith("#"):
                speaker, _, said = line.partition(": ")
                lines.append((speaker, said))


def forms() -> Iterator[tuple[str, str]]:
    for line in Path(__file__).with_name("asked_forms.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            form, _, question = line.partition(": ")
            yield form, question


@pytest.mark.parametrize(("form", "question"), list(forms()))
def test_a_question_asks_for_the_same_form_however_it_is_put(form: str, question: str) -> None:
    assert asked_kind(bare(question)) == form


@pytest.mark.parametrize(("lines", "question", "answer"), list(examples()))
def test_a_short_answer_is_given_where_it_is_proved(
    see: Callable[..., View], lines: Lines, question: str, answer: str
) -> None:
    found = short_answer(see(question, lines), RuleExtractor())
    assert (found.text if isinstance(found, ShortAnswer) else "-") == answer


def test_a_citation_has_the_characters_that_it_quotes(see: Callable[..., View]) -> None:
    for lines, question, answer in examples():
        view = see(question, lines)
        found = short_answer(view, RuleExtractor())
        turns = {item.turn.id: item.turn.text for item in view.shown}
        for citation in found.citations if isinstance(found, ShortAnswer) else ():
            assert answer != "-"
            assert citation.span is not None
            assert turns[citation.turn_id][slice(*citation.span)] == citation.quote
