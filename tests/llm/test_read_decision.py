"""A decider's reply: its action, its verdict, and gaps that become requirements."""

import json
from typing import Any

import pytest

from evimem.errors import ReplyError
from evimem.llm.read_verdict import MOST_REQUIREMENTS, read_decision
from tests.llm.views import page, turn, view_of

SAID = turn(1, "We adopted a puppy.")
VIEW = view_of([SAID], requirements=("adoption",))
FIELDS: dict[str, Any] = {
    "requirements": [{"id": "r1", "status": "supported", "evidence": ["e1", "e9"], "why": ""}],
    "gaps": [{"kind": "time", "about": "Mira", "text": "no date"}], "reason": "a date is missing", "tier": "partial",
    "confidence": 0.4, "action": "retrieve", "query": "last Friday", "draft": "",
}  # fmt: skip


def decided(**fields: Any) -> Any:
    return read_decision(json.dumps({**FIELDS, **fields}), VIEW, page(SAID))


def test_a_decision_is_read_with_its_verdict():
    made = decided(draft="in March")
    assert (made.action, made.draft, made.verdict.query) == ("retrieve", "in March", "last Friday")
    assert (dict(made.verdict.supported), made.verdict.confidence) == ({"adoption": ("t1",)}, 0.4)


@pytest.mark.parametrize("wrong", [{"action": "dance"}, {"action": None}, {"tier": "so so"}, {"confidence": "high"}])
def test_a_decision_without_action_tier_or_confidence_is_no_reply(wrong):
    with pytest.raises(ReplyError):
        decided(**wrong)


def test_what_is_missing_beyond_the_requirements_becomes_one_once():
    again = [{"kind": "time", "about": "", "text": " No  DATE "}, *FIELDS["gaps"]]
    assert [need.id for need in decided(gaps=again).verdict.extended] == ["gap:time:no date"]


def test_a_model_adds_only_so_many_requirements():
    gaps = [{"kind": "attribute", "about": "", "text": f"thing {number}"} for number in range(8)]
    view = view_of([SAID], requirements=[f"need {number}" for number in range(7)])
    made = read_decision(json.dumps({**FIELDS, "gaps": gaps}), view, page(SAID))
    assert len(made.verdict.extended) == MOST_REQUIREMENTS - 7


@pytest.mark.parametrize("kind", ["attribution", "contradicted", "granularity"])
def test_what_no_search_closes_becomes_no_requirement(kind):
    made = decided(gaps=[{"kind": kind, "about": "Mira", "text": "only the year"}])
    assert (made.verdict.extended, [gap.kind for gap in made.verdict.gaps]) == ((), [kind])


def test_a_gap_that_a_requirement_already_leaves_is_not_required_twice():
    assert (
        decided(gaps=[{"kind": "attribute", "about": "adoption", "text": "the adoption of it"}]).verdict.extended == ()
    )
