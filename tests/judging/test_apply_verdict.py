"""The clamps, in DESIGN's order: the temporal floor and caps first, then the downgrade for too few facts."""

from typing import Any

import pytest

from evimem.judging.apply_verdict import abstention, clamp, is_short, needed, sufficient
from evimem.judging.evidence import EntityCount, Variant, Verdict
from evimem.types.values import Gap, Tier

ENOUGH = {"Mira": EntityCount(found=2, needed=2, total=9)}
SHORT = {"Mira": EntityCount(found=1, needed=2, total=9)}


@pytest.mark.parametrize(("temporal", "expected"), [(False, 0.60), (True, 0.50)])
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
    assert needed(total, delta) == expected


def test_an_entity_that_the_memory_does_not_know_is_short_whatever_is_needed():
    assert is_short(EntityCount(found=0, needed=1, total=0))


@pytest.mark.parametrize(
    ("tier", "confidence", "temporal", "stops"),
    [
        (Tier.EXACT, 0.70, False, True),
        (Tier.EXACT, 0.69, False, False),
        (Tier.EXACT, 0.84, True, False),
        (Tier.EXACT, 0.85, True, True),
        (Tier.INFERRABLE, 0.70, True, True),
        (Tier.INFERRABLE, 0.69, False, False),
        (Tier.PARTIAL, 1.00, False, False),
        (Tier.NONE, 1.00, False, False),
    ],
)
def test_only_exact_and_inferrable_stop(tier, confidence, temporal, stops):
    assert sufficient(tier, confidence, temporal=temporal) is stops


def abstains(verdict: Verdict, facts: int = 9, checks: int = 3, below: float = 0.5, **variant: Any) -> bool:
    how = Variant(**variant)
    return abstention(verdict, how, facts=facts, checks=checks, most=checks, below=below) is not None


def test_it_abstains_where_nothing_is_relevant():
    assert abstains(Verdict(Tier.NONE, 0.9, probability=0.99))


def test_it_abstains_while_the_evidence_is_about_another_person():
    gap = Gap("attribution", "Tomas", "the evidence is about Mira, not Tomas")
    verdict = Verdict(Tier.EXACT, 0.9, probability=0.99, gaps=(gap,))
    assert abstention(verdict, Variant(), facts=9, checks=3, most=3, below=0.5) == gap.text


def test_it_abstains_below_the_minds_probability_or_the_budgets():
    assert abstains(Verdict(Tier.PARTIAL, 0.9, probability=0.49))
    assert not abstains(Verdict(Tier.PARTIAL, 0.1, probability=0.51))
    assert not abstains(Verdict(Tier.PARTIAL, 0.9, probability=0.49), below=0.4)


def test_without_abstention_something_is_answered_whatever_the_evidence():
    assert not abstains(Verdict(Tier.NONE, 0.0, probability=0.0), without={"abstention"})
