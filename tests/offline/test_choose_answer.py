"""What an answer without a model claims: proven and probable is an answer, else a quotation, else nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import evimem
from benchmarks import span
from evimem.extract import RuleExtractor
from evimem.judging.evidence import Draft, View
from evimem.offline.choose_answer import UNPROVEN, choose
from evimem.offline.constants import SHIPPED, Constants, Linear

from .direct import judge

See = Callable[..., View]
LINES = [("Mira", "We adopted a puppy last Friday."), ("Tomas", "Lovely, a puppy! The rain never stops here.")]
WHEN, HOW = "When did Mira adopt her puppy?", "How does Mira's puppy sleep?"


def chosen(view: View, constants: Constants = SHIPPED) -> Draft:
    return choose(view, judge(view, constants), constants, RuleExtractor())


def test_what_is_proven_is_answered_shortly(see: See) -> None:
    draft = chosen(see(WHEN, LINES))
    assert (draft.kind, draft.text, draft.reason) == ("answer", "8 March 2024", None)
    assert draft.confidence is not None
    assert draft.confidence >= SHIPPED.answer_from


def test_what_is_proven_but_improbable_is_quoted(see: See) -> None:
    draft = chosen(see(WHEN, LINES), replace(SHIPPED, right=Linear({}, -4.0)))
    assert (draft.kind, draft.reason) == ("quote", UNPROVEN)
    assert "We adopted a puppy last Friday." in (draft.text or "")


def test_what_is_not_proven_is_quoted_with_the_probability_that_it_holds_the_answer(see: See) -> None:
    draft = chosen(see(HOW, LINES), replace(SHIPPED, holds=Linear({}, 0.0)))
    assert (draft.kind, draft.confidence) == ("quote", 0.5)
    assert draft.citations


def test_nothing_shown_is_neither(see: See) -> None:
    assert chosen(see("What is it?", [])).text is None


def test_probabilities_follow_a_calibration_of_ones_own(see: See) -> None:
    view = see(HOW, LINES)
    sure, doubtful = (
        choose(view, replace(judge(view), probability=told), SHIPPED, RuleExtractor()).confidence
        for told in (0.95, 0.3)
    )
    assert sure is not None
    assert doubtful is not None
    assert sure > doubtful


def test_no_shipped_probability_is_certain(see: See) -> None:
    assert SHIPPED.calibrated(99.0) < 1.0
    assert SHIPPED.calibrated(-99.0) > 0.0


def test_the_reader_for_research_says_that_it_proves_nothing(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "We adopted a puppy last Friday.", time="2024-03-12T18:20")
        span.read_spans(memory)
        answer = memory.ask("What did Mira adopt?")
        assert (answer.kind, answer.reason) == ("answer", span.UNPROVEN)
        assert evimem.replay(answer.trace, memory) == answer
