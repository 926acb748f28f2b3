"""A model that finds no answer where the evidence very probably holds one: the evidence is quoted, and that is said."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import Answer, Budget
from evimem.embedding.static_embedder import count_tokens
from evimem.loops import Iris
from evimem.loops.answering import MIN_QUOTE_PROBABILITY, NO_ANSWER_REASON
from evimem.testing import ScriptedModel
from tests.statements.conftest import verdict

TOLD = "I am allergic to shellfish, so no paella for me."
QUESTION = "What is Mira allergic to?"
# Tokens of a request that judges three turns and answers from them, its instructions among them; by the shipped
# embedder's count, which is above that of cl100k and o200k for such a text.
MAX_JUDGE_TOKENS = 900
BLIND = verdict("none", 1.0, reason="Mira is allergic to shellfish", requirements=[])
FALSE_PREMISE = {"kind": "contradicted", "about": "Mira", "text": "Mira is allergic to nothing", "evidence": ["e1"]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", TOLD, time="2024-03-12T18:20")
        memory.add("Tomas", "Noted. We adopted a puppy last Friday.", time="2024-03-12T18:21")
        memory.add("Mira", "What is it called?", time="2024-03-12T18:22")
    return tmp_path / "m.evimem"


def asked(path: Path, *replies: str, question: str = QUESTION, **options: Any) -> Answer:
    with evimem.open(path, llm=ScriptedModel(replies)) as memory:
        answer = memory.ask(question, **options)
        assert evimem.replay(answer.trace, memory, options.get("loop")) == replace(
            answer, usage=replace(answer.usage, seconds=0.0)
        )
        return answer


def test_evidence_that_a_model_passes_over_is_quoted_and_it_is_said(path: Path) -> None:
    answer = asked(path, BLIND)
    assert (answer.kind, answer.abstained, answer.usage.requests) == ("quote", False, 1)
    assert TOLD in (answer.text or "")
    assert (answer.reason or "").startswith(NO_ANSWER_REASON)
    assert answer.confidence >= MIN_QUOTE_PROBABILITY


def test_so_it_is_where_the_answering_model_declines(path: Path) -> None:
    declines = json.dumps({"steps": [], "answerable": False, "answer": "", "citations": []})
    answer = asked(path, verdict("inferrable", 0.9), declines)
    assert (answer.kind, answer.usage.requests) == ("quote", 2)


def test_a_model_that_finds_nothing_where_nothing_is_told_abstains(path: Path) -> None:
    assert asked(path, BLIND, question="What is Mira's blood type?").kind == "abstained"


def test_a_false_premise_stays_an_abstention(path: Path) -> None:
    answer = asked(path, verdict("partial", 1.0, gaps=[FALSE_PREMISE], requirements=[]))
    assert (answer.kind, answer.reason) == ("abstained", FALSE_PREMISE["text"])


def test_a_loop_of_the_caller_s_own_ends_as_it_says(path: Path) -> None:
    assert asked(path, BLIND, loop=Iris(iterations=1)).kind == "abstained"


def test_the_judge_s_page_of_three_turns_is_short(path: Path) -> None:
    model = ScriptedModel([BLIND])
    with evimem.open(path, llm=model) as memory:
        memory.ask(QUESTION)
    request = model.requests[0]
    assert count_tokens(request.system) + count_tokens(request.prompt) <= MAX_JUDGE_TOKENS


def test_a_question_has_an_end_whatever_the_model_takes() -> None:
    assert Budget().seconds is not None


def test_a_gap_that_a_model_names_does_not_hide_evidence_that_is_quoted_without_it(path: Path) -> None:
    missing = {"kind": "attribute", "about": "Mira", "text": "it was never told", "evidence": []}
    assert asked(path, verdict("none", 0.0, gaps=[missing], requirements=[])).kind == "quote"


UNSURE = "Where does Ada live?"  # its quotation is less likely than MIN_QUOTE_PROBABILITY


@pytest.fixture
def unsure(tmp_path: Path) -> Path:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "My sister Ada moved to Porto in March 2023.", time="2024-03-12T18:20")
        memory.add("Mira", "I drive a blue Volvo, and my dog is called Biscuit.", time="2024-03-12T18:21")
    return tmp_path / "m.evimem"


INVENTED = [{"id": "r1", "status": "supported", "evidence": ["e9"], "why": "it says so"}]


@pytest.mark.parametrize(
    "contradiction", [verdict("inferrable", 0.2, answer=""), verdict("none", 0.5, answer="", requirements=INVENTED)]
)
def test_a_verdict_that_contradicts_itself_is_as_none_at_all(unsure: Path, contradiction: str) -> None:
    with evimem.open(unsure) as memory:
        without = memory.ask(UNSURE)
    answer = asked(unsure, contradiction, question=UNSURE)
    assert (answer.kind, answer.text, answer.citations) == ("quote", without.text, without.citations)
    assert answer.confidence < MIN_QUOTE_PROBABILITY


def test_a_coherent_refusal_is_believed_where_no_line_is_very_likely(unsure: Path) -> None:
    assert asked(unsure, verdict("none", 0.5, answer="", requirements=[]), question=UNSURE).kind == "abstained"


def test_a_reply_lists_no_more_than_there_is_to_list(path: Path) -> None:
    model = ScriptedModel([BLIND])
    with evimem.open(path, llm=model) as memory:
        memory.ask(QUESTION)
    schema = model.requests[0].schema
    assert schema is not None
    most = {name: schema["properties"][name]["maxItems"] for name in ("requirements", "gaps", "citations")}
    assert most == {"requirements": 2, "gaps": 4, "citations": 3}
