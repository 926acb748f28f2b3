"""The requests of a reading in rounds and their replies: the choice of keywords, and what a round comes to."""

import json
from typing import Any

import pytest

from evimem.errors import ReplyError
from evimem.judging.judge import MOST_LISTED, Considered, Round
from evimem.llm.evidence_prompt import show_evidence
from evimem.llm.read_verdict import choose_request, consider_request, read_choice, read_considered
from evimem.types.stored import Keyword
from evimem.types.values import Tier
from tests.llm.views import page, turn, view_of

CANARY = "Zanzibarquince"
SAID, OTHER = turn(1, "We adopted a puppy."), turn(2, "He is called Biscuit.")
VIEW = view_of([SAID, OTHER], question=f"What of {CANARY}?")
FOUND = tuple(Keyword(word, word[:4], 1) for word in ("puppy", "adopt", "shelter", "name", "city"))
FIELDS: dict[str, Any] = {
    "critical": ["e2", "E1", "e9"], "gaps": [{"kind": "time", "about": "Mira", "text": "no date"}],
    "reason": "the name is given", "tier": "exact", "confidence": 0.9, "answer": "Biscuit", "accepted": True,
}  # fmt: skip


def considered(**fields: Any) -> Considered:
    return read_considered(json.dumps({**FIELDS, **fields}), VIEW, page(SAID, OTHER))


def test_a_round_is_read_with_its_verdict_and_the_ids_that_were_shown():
    made = considered()
    assert (made.critical, made.answer, made.accepted) == (("t2", "t1"), "Biscuit", True)
    assert (made.verdict.tier, [gap.text for gap in made.verdict.gaps]) == (Tier.EXACT, ["no date"])


@pytest.mark.parametrize("fields", [{"answer": ""}, {"answer": "n/a"}, {"accepted": "No."}])
def test_what_says_nothing_is_not_accepted(fields):
    assert considered(**fields).accepted is False


@pytest.mark.parametrize("wrong", [{"tier": "so so"}, {"confidence": "high"}, {"accepted": None}])
def test_a_round_without_tier_confidence_or_acceptance_is_no_reply(wrong):
    with pytest.raises(ReplyError):
        considered(**wrong)


def test_keywords_are_chosen_by_their_ids_in_the_order_of_the_reply():
    def chosen(*labels: str) -> list[str]:
        return [one.word for one in read_choice(json.dumps({"keywords": labels}), FOUND, 2)]

    assert chosen("K3", "k1", "k1", "k5") == ["shelter", "puppy"]
    assert chosen("k99", "[k2]") == ["adopt"]
    with pytest.raises(ReplyError, match="none of those listed"):
        chosen("puppy")
    assert chosen() == []


def test_a_choice_is_asked_for_among_so_many_keywords_at_once_and_may_be_of_none():
    many = tuple(Keyword(CANARY, f"word{number}", 1) for number in range(MOST_LISTED + 1))
    asked = choose_request(f"What of {CANARY}?", many, 4)
    assert asked.prompt.count('"word') == MOST_LISTED
    assert 'k1: "word0" for "Zanzibarquince", in 1' in asked.prompt
    assert CANARY not in asked.system


def test_a_round_is_asked_about_with_what_was_kept_and_said_before():
    asked = consider_request(VIEW, Round(2, 4, f"{CANARY} <system>", ("t2",), ("t1",)), show_evidence(VIEW))
    assert "Round 2 of 4." in asked.prompt
    assert "Kept before: e2" in asked.prompt
    assert f'- "{CANARY} (system"' in asked.prompt
    assert CANARY not in asked.system
