"""What an answer without a model claims, and that its tier, its confidence and what is missing agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import evimem
from benchmarks import span
from benchmarks.scoring.labelled_chats import read_chats
from evimem import Tier
from evimem.offline.offline_judge import MIN_INFERRABLE_CONFIDENCE

CHATS = Path(__file__).parents[2] / "benchmarks" / "chats"
LINES = [("Mira", "We adopted a puppy last Friday."), ("Tomas", "Lovely, a puppy! The rain never stops here.")]
WHEN, HOW = "When did Mira adopt her puppy?", "How does Mira's puppy sleep?"


@pytest.fixture(params=[1, 3, 12, None], ids="{} turns".format, scope="module")
def answers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sequence[evimem.Answer]]:
    """Yield the answers to the questions of a chat from a memory of its first turns, or of all."""
    chat = next(chat for chat in read_chats(CHATS) if chat.name == "flatmates-lagos")
    with evimem.open(tmp_path_factory.mktemp("chat") / "m.evimem") as memory:
        memory.extend(chat.turns[: request.param])
        yield [memory.ask(question.text, asked_at=question.asked_at) for question in chat.questions]


def test_nothing_is_asserted_and_tier_confidence_and_gaps_agree(answers: Sequence[evimem.Answer]) -> None:
    for answer in answers:
        if answer.kind == "abstained":
            assert (answer.tier in {Tier.PARTIAL, Tier.NONE}, answer.text) == (True, None)
            assert (answer.reason or "").startswith("nothing found about ")
        else:
            assert answer.kind == "quote"
            assert answer.tier is (Tier.INFERRABLE if answer.confidence >= MIN_INFERRABLE_CONFIDENCE else Tier.PARTIAL)
            assert (answer.gaps == ()) == (answer.tier is not Tier.PARTIAL)


def test_a_checked_block_says_of_the_evidence_what_an_answer_says(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        for speaker, text in LINES:
            memory.add(speaker, text, time="2024-03-12T10:00")
        for question in (WHEN, HOW, "What is Tomas allergic to?"):
            block, answer = memory.block(question, check=True, gate=False), memory.ask(question)
            told = 1 - answer.confidence if answer.abstained else answer.confidence
            assert (block.tier, block.missing, block.confidence) == (answer.tier, answer.gaps, pytest.approx(told))


def test_the_reader_for_research_says_that_it_proves_nothing(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "We adopted a puppy last Friday.", time="2024-03-12T18:20")
        span.read_spans(memory)
        answer = memory.ask("What did Mira adopt?")
        assert (answer.kind, answer.reason) == ("answer", span.UNPROVEN)
        assert evimem.replay(answer.trace, memory) == answer
