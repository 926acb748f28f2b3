"""The clamps, in DESIGN's order: the temporal floor and caps first, then the downgrade for too few facts."""

from dataclasses import replace

import pytest

from evimem.judging.apply_verdict import abstention, clamp, lacks_facts, needed_facts, update_tracker
from evimem.judging.evidence import EntityCount, Variant, Verdict
from evimem.judging.tracker import Requirement, start
from evimem.types.values import Tier

ENOUGH = {"Mira": EntityCount(found=2, needed=2, total=9)}
SHORT = {"Mira": EntityCount(found=1, needed=2, total=9)}


@pytest.mark.parametrize(("temporal", "expected"), [(False, 0.60), (True, 0.60)])
def test_too_few_facts_about_an_entity_downgrade_after_the_floor(temporal, expected):
    clamped = clamp(Verdict(Tier.EXACT, 0.99), temporal=temporal, entities=SHORT)
    assert (clamped.tier, clamped.confidence) == (Tier.PARTIAL, expected)
    assert [gap.kind for gap in clamped.gaps] == ["entity"]
    assert "Mira" in clamped.gaps[0].text


def test_nothing_relevant_stays_nothing_relevant():
    assert clamp(Verdict(Tier.NONE, 0.9), temporal=False, entities=SHORT).tier is Tier.NONE


@pytest.mark.parametrize(
    ("total", "delta", "expected"), [(0, 2, 1), (1, 2, 1), (5, 2, 2), (1, "paper", 2), (0, "paper", 2)]
)
def test_an_entity_needs_what_the_memory_can_give(total, delta, expected):
    assert needed_facts(total, delta) == expected


def test_an_entity_that_the_memory_does_not_know_is_short_whatever_is_needed():
    assert lacks_facts(EntityCount(found=0, needed=1, total=0))


def test_without_abstention_something_is_answered_whatever_the_evidence():
    nothing = Verdict(Tier.NONE, 0.0, probability=0.0)
    for variant, answers in ((Variant(), False), (Variant(without={"abstention"}), True)):
        assert (abstention(nothing, variant, checks=3, most=3, below=0.5) is None) == answers


CAUSE = Requirement("attribute", "attribute", "nuala die", "What did Nuala die of?")


@pytest.mark.parametrize(
    ("gap", "reopens"),
    [
        (Requirement("gap:1", "attribute", "Nuala", "The cause of death was never told."), False),
        (Requirement("gap:2", "attribute", "", "What Nuala died of was never told."), False),
        (Requirement("gap:3", "time", "Nuala", "It is not known when Nuala died."), True),
        (Requirement("gap:4", "attribute", "Declan", "Where Declan lives was never told."), True),
    ],
)
def test_a_gap_that_restates_a_waived_requirement_opens_none(gap: Requirement, *, reopens: bool) -> None:
    waives = Verdict(Tier.PARTIAL, 0.1, waived={"attribute": "no search found it"}, extended=(gap,))
    assert (gap in update_tracker(start([CAUSE]), waives, 1).tracker.open) is reopens
    later = update_tracker(start([CAUSE]), replace(waives, extended=()), 1).tracker
    assert (gap in update_tracker(later, replace(waives, waived={}), 2).tracker.open) is reopens
