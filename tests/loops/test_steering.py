"""What steers the loop and what the user is told: open requirements, downgrades, contradictions, one confidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evimem.judging.evidence import Draft, Verdict
from evimem.judging.tracker import Requirement
from evimem.types.results import Citation
from evimem.types.trace import Acted, Called, Found, Judged, Queried, Stopped
from evimem.types.values import Gap, Tier

from .conftest import dialogue

QUESTION = "What is Mira's puppy called?"
EXACT = Tier.EXACT
NOTHING_MAPPED = {"nobody asked for this": ("s1:1",)}
CORRECTION = Gap("contradicted", "cello", "Mira plays the cello, not the violin")


def of(answer: Any, kind: type[Any]) -> list[Any]:
    return [event for event in answer.trace if isinstance(event, kind)]


def test_a_judge_that_maps_nothing_is_not_believed_to_have_exact_evidence(puppy: Any, script: Any) -> None:
    judge = script([Verdict(EXACT, 0.95, supported=NOTHING_MAPPED)])
    answer = puppy.ask(QUESTION, judge)
    assert (answer.tier, len(judge.views)) == (Tier.PARTIAL, 3)
    assert {gap.kind for gap in answer.gaps} == {"entity", "attribute"}
    literal = script([Verdict(EXACT, 0.95, supported=NOTHING_MAPPED)])
    assert puppy.ask(QUESTION, literal, without={"tracker"}).tier is EXACT


def test_one_open_requirement_is_looked_for_before_what_is_exact_is_answered(puppy: Any, script: Any) -> None:
    mapped = {"entity:Mira": ("s1:1",), "attribution:Mira": ("s1:1",)}
    whole = {**mapped, "attribute": ("s1:1",)}
    judge = script([Verdict(EXACT, 0.95, supported=mapped), Verdict(EXACT, 0.95, supported=whole)])
    answer = puppy.ask(QUESTION, judge)
    assert (answer.tier, len(judge.views)) == (EXACT, 2)
    assert of(answer, Judged)[0].gaps == (Gap("attribute", "puppy called", QUESTION),)


def test_what_is_waived_is_not_open(puppy: Any, script: Any) -> None:
    waived = {"entity:Mira": "all is there", "attribution:Mira": "nobody else is", "attribute": "only this is known"}
    assert puppy.ask(QUESTION, script([Verdict(EXACT, 0.95, waived=waived, supported=NOTHING_MAPPED)])).tier is EXACT


def test_what_is_open_stands_in_where_the_judge_names_nothing_and_what_is_asked_comes_first(
    puppy: Any, script: Any
) -> None:
    gaps = of(puppy.ask(QUESTION, script([Verdict(Tier.PARTIAL, 0.4)])), Judged)[0].gaps
    assert [gap.kind for gap in gaps] == ["attribute", "entity"]
    named = Gap("time", "", "no date")
    assert of(puppy.ask(QUESTION, script([Verdict(Tier.PARTIAL, 0.4, gaps=(named,))])), Judged)[0].gaps == (named,)


def test_a_downgrade_is_the_first_gap_and_its_name_is_in_the_next_query(puppy: Any, script: Any) -> None:
    other = Gap("time", "", "no date")
    judge = script([Verdict(Tier.PARTIAL, 0.4, gaps=(other,), query="a present for the wedding")])
    answer = puppy.ask("What did Mira give Bartholomew?", judge)
    missing = Gap("entity", "Bartholomew", "nothing in the memory is about Bartholomew")
    assert of(answer, Judged)[0].gaps == (missing, other)
    refined = [event.query for event in of(answer, Queried) if event.path == "refined"]
    assert refined[0] == "Bartholomew a present for the wedding"
    assert next(event.detail for event in of(answer, Acted) if event.action == "look up") == {"entity": "Bartholomew"}


def test_a_name_that_the_judge_found_under_another_is_believed(puppy: Any, script: Any) -> None:
    """Rules never say that nothing is about Kathryn once the judge has said that she is Katrin."""
    question = "What did Tomas book with Kathryn?"
    whole = {f"{kind}:{name}": ("s1:4",) for kind in ("entity", "attribution") for name in ("Tomas", "Kathryn")}
    draft = Draft("a ferry", (Citation("s1:4", None, ""),))
    judge = script([Verdict(EXACT, 0.95, supported={**whole, "attribute": ("s1:4",)})], draft=draft)
    answer = puppy.ask(question, judge)
    assert (answer.tier, answer.gaps, len(judge.views)) == (EXACT, (), 1)


def test_a_contradicted_premise_ends_the_search_at_once_and_is_corrected(puppy: Any, script: Any) -> None:
    judge = script([Verdict(Tier.PARTIAL, 0.4, gaps=(CORRECTION,))])
    answer = puppy.ask("Who teaches Mira the violin?", judge)
    assert (answer.abstained, answer.reason, answer.gaps[0]) == (True, CORRECTION.text, CORRECTION)
    assert (len(judge.views), of(answer, Stopped)[0].reason) == (1, "the premise is contradicted")


@pytest.mark.parametrize(
    ("first", "then", "checks"),
    [
        (("s1:1",), ("s1:1",), 2),
        (("s1:1",), (), 3),  # what it is about was not shown
        ((), ("s1:1",), 3),
    ],
)
def test_what_is_shown_to_be_anothers_at_two_checks_ends_the_search(
    puppy: Any, script: Any, first: tuple[str, ...], then: tuple[str, ...], checks: int
) -> None:
    """Between the two, the turns of the one asked about are searched."""
    gap = Gap("attribution", "Tomas", "the puppy is Mira's, not Tomas's")
    judge = script([Verdict(Tier.PARTIAL, 0.4, gaps=(gap,), pinned=shown) for shown in (first, then)])
    answer = puppy.ask("What is Tomas's puppy called?", judge)
    assert (answer.abstained, answer.reason, len(judge.views)) == (True, gap.text, checks)
    assert [query.speaker for query in puppy.searches if query.speaker][:1] == ["Tomas"]
    if checks == 2:
        assert of(answer, Stopped)[0].reason == "the evidence is about another person"


@pytest.mark.parametrize(
    ("tier", "said", "shown", "told"),
    [
        (EXACT, 0.95, 0.95, "Juno"),
        (Tier.INFERRABLE, 0.72, 0.57, "Juno"),
        (Tier.PARTIAL, 0.95, 0.60, "Juno"),
        (Tier.PARTIAL, 0.70, 0.55, "Juno"),
        (Tier.NONE, 0.99, 0.70, None),  # that the memory does not hold it
    ],
)
def test_a_confidence_that_was_never_calibrated_is_clamped_and_says_so(
    puppy: Any, script: Any, tier: Tier, said: float, shown: float, told: str | None
) -> None:
    answer = puppy.ask(QUESTION, script([Verdict(tier, said)], abstain_below=0.3))
    assert (answer.text, answer.tier, answer.confidence_is) == (told, tier, "uncalibrated")
    assert answer.confidence == pytest.approx(shown)


def test_what_is_lowered_lowers_a_calibrated_probability_too(puppy: Any, script: Any, verdict: Any) -> None:
    lowered = puppy.ask("What did Mira give Bartholomew?", script([verdict(EXACT, 0.99, probability=0.97)]))
    assert (lowered.tier, lowered.confidence, lowered.confidence_is) == (Tier.PARTIAL, 0.60, "calibrated")
    kept = puppy.ask(QUESTION, script([verdict(EXACT, 0.99, probability=0.97)]))
    assert (kept.tier, kept.confidence) == (EXACT, 0.97)


@pytest.mark.parametrize(
    ("question", "tier", "said", "shown"),
    [
        (QUESTION, Tier.PARTIAL, 0.95, 0.60),
        (QUESTION, Tier.INFERRABLE, 0.95, 0.95),
        ("When did Mira adopt her puppy?", Tier.PARTIAL, 0.95, 0.50),
        ("When did Mira adopt her puppy?", Tier.INFERRABLE, 0.95, 0.75),
        ("When did Mira adopt her puppy?", Tier.INFERRABLE, 0.72, 0.95),
    ],
)
def test_what_the_clamps_lower_is_shown_lowered_of_a_calibrated_judge_too(
    puppy: Any, script: Any, question: str, tier: Tier, said: float, shown: float
) -> None:
    judge = script([Verdict(tier, said, probability=0.95, calls=(Called(1, "judge", "ok"),))])
    answer = puppy.ask(question, judge)
    assert (answer.tier, answer.confidence, answer.confidence_is) == (tier, shown, "calibrated")


def test_no_abstention_calls_its_evidence_exact(puppy: Any, script: Any) -> None:
    answer = puppy.ask(QUESTION, script([Verdict(EXACT, 0.95)], draft=Draft(None, reason="it is not said")))
    assert (answer.abstained, answer.tier, answer.reason) == (True, Tier.PARTIAL, "it is not said")
    assert answer.confidence == pytest.approx(0.40)


@pytest.mark.parametrize(
    ("question", "manner"),
    [
        ("What was Mira's budget in March 2024?", "direct"),
        ("What colour did Mira choose last Friday?", "direct"),
        ("When did Mira choose the colour?", "precise"),
    ],
)
def test_a_date_is_asked_for_only_where_the_question_asks_when(
    puppy: Any, script: Any, question: str, manner: str
) -> None:
    judge = script([Verdict(EXACT, 0.95)])
    puppy.ask(question, judge)
    assert judge.manners == [manner]


def test_what_showed_a_gap_stays_in_view_and_the_gap_is_carried_on(puppy: Any, script: Any) -> None:
    unpinned = script([Verdict(Tier.PARTIAL, 0.4)], uses_model=False)
    puppy.ask(QUESTION, unpinned, tokens=150)
    seen = [{item.turn.id for item in view.shown} for view in unpinned.views]
    lost = next(iter(seen[0] - seen[2]))
    conflict = Requirement("gap:conflict:two names", "conflict", "puppy", "two names")
    judge = script([Verdict(Tier.PARTIAL, 0.4, pinned=(lost, "never shown"), extended=(conflict,))], uses_model=False)
    answer = puppy.ask(QUESTION, judge, tokens=150)
    assert all(lost in {item.turn.id for item in view.shown} for view in judge.views)
    assert judge.views[2].decisive == {lost}
    assert conflict.gap in answer.gaps


def test_turns_that_name_an_entity_count_beside_facts(world: Any, script: Any) -> None:
    said = [("Mira", "Guess who was at the door? Bartholomew!"), ("Tomas", "Oh, Bartholomew?")]
    judge = script([Verdict(EXACT, 0.9)])
    assert world(dialogue(said)).ask("What did Bartholomew want?", judge).tier is EXACT
    assert judge.views[0].entities["Bartholomew"].found == 2
    (shown,) = dialogue([("Mira", "Look at this!")])
    pictured = script([Verdict(EXACT, 0.9)])
    world([replace(shown, caption="Bartholomew with a cake")]).ask("What did Bartholomew bring?", pictured)
    assert pictured.views[0].entities["Bartholomew"].found == 1
    literal = script([Verdict(EXACT, 0.9)])
    assert world(dialogue(said)).ask("What did Bartholomew want?", literal, delta="paper").tier is Tier.PARTIAL


def test_what_is_told_under_another_name_counts(world: Any, script: Any) -> None:
    """Aliases are learned from the memory: "everyone calls her Kit"."""
    said = [("Mira", "I babysat my niece Katherine, everyone calls her Kit."), ("Mira", "Kit painted a whale.")]
    judge = script([Verdict(EXACT, 0.9)])
    answer = world(dialogue(said)).ask("What did Katherine paint?", judge, k=1, hops=0)
    assert (answer.tier, judge.views[0].entities["Katherine"].total >= 2) == (EXACT, True)
    assert judge.views[0].entities["Katherine"].found >= 1


def test_a_name_counts_in_each_of_its_forms(world: Any, script: Any) -> None:
    said = [("Mira", "Mr. Corkum sold the Welsh dresser.")]
    for question, name in [
        ("Where do the Corkums live?", "Corkums"),
        ("What came from Wales?", "Wales"),
    ]:
        judge = script([Verdict(EXACT, 0.9)])
        answer = world(dialogue(said)).ask(question, judge, k=2)
        assert (name, answer.tier) == (name, EXACT)
        assert world(dialogue(said)).ask(question, script([Verdict(EXACT, 0.9)]), delta="paper").tier is Tier.PARTIAL


def test_the_fact_that_tells_another_name_is_counted_once(world: Any, script: Any) -> None:
    judge = script([Verdict(EXACT, 0.9)])
    said = dialogue([("Mira", "Rain all week, but my colleague Ben took me to a pottery class.")])
    answer = world(said).ask("What did Ben do?", judge)
    (known,) = [view.entities["Ben"] for view in judge.views]
    assert (answer.tier, known.found, known.total) == (EXACT, known.total, known.found)


@pytest.mark.parametrize(
    ("question", "lowered"),
    [
        ("Would Mira likely enjoy Vivaldi?", False),
        ("Does Mira enjoy Vivaldi?", True),
        ("Would Vivaldi probably enjoy it?", True),
    ],
)
def test_a_name_that_a_guess_about_another_brings_up_need_not_be_told(
    world: Any, script: Any, question: str, *, lowered: bool
) -> None:
    memory = world(dialogue([("Mira", "I play the cello. I love old music.")]))
    assert (memory.ask(question, script([Verdict(EXACT, 0.9)])).tier is Tier.PARTIAL) == lowered


def test_a_name_in_other_letters_than_the_evidence_is_not_missed(world: Any, script: Any) -> None:
    said = dialogue([("\u7f8e\u54b2", "\u6765\u670813\u65e5\u306b\u5f15\u3063\u8d8a\u3059\u3088")])
    assert world(said).ask("When did Misaki move?", script([Verdict(EXACT, 0.9)])).tier is EXACT
    literal = world(said).ask("When did Misaki move?", script([Verdict(EXACT, 0.9)]), delta="paper")
    assert literal.tier is Tier.PARTIAL
    mixed = dialogue([("Mira", "We moved on the 13th of March."), ("Mira", "\u5f15\u3063\u8d8a\u3059")])
    assert world(mixed).ask("When did Misaki move?", script([Verdict(EXACT, 0.9)])).tier is Tier.PARTIAL


def test_the_hop_starts_from_the_best_turns_of_every_search(puppy: Any, script: Any) -> None:
    judge = script([Verdict(Tier.PARTIAL, 0.4)])
    answer = puppy.ask(QUESTION, judge, k=3)
    hops = [seeds for seeds, *_ in puppy.calls("expand")]
    anchor = next(event.turns for event in of(answer, Found) if event.path == "anchor")
    assert hops[0] == anchor[:3]
    assert hops == [tuple(item.turn.id for item in view.evidence[:3]) for view in judge.views]
