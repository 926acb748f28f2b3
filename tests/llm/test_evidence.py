"""The page of evidence: items, their labels and order, passages, what facts add, and what others said otherwise."""

import json
import re
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evimem
from evimem.embedding.static_embedder import count_tokens
from evimem.llm.evidence_prompt import show_evidence
from evimem.page.loop_page import extend_page
from evimem.testing import ScriptedModel
from evimem.text.prompt_text import RankedPassages, join_ranges, resolved_references
from evimem.text.terms import terms
from evimem.types.values import Fact, TimeSpan
from tests.llm.views import evidence, page, turn, view_of
from tests.statements.conftest import draft, verdict

PUPPY = turn(12, "We adopted a puppy last Friday.")
FRIDAY = TimeSpan(datetime(2024, 3, 8), datetime(2024, 3, 9), "day", "last Friday")


def test_an_item_tells_who_said_what_when_and_what_its_times_mean():
    fact = Fact("f", PUPPY.id, "Mira", "adopted", "a puppy", FRIDAY, (3, 17), "event", "rules")
    shown = show_evidence(view_of([evidence(PUPPY, facts=(fact,))])).text
    assert shown.splitlines() == [
        "[e1] Mira, Wed 13 Mar 2024: We adopted a puppy last Friday.",
        '= "last Friday" is 8 March 2024',
    ]


def test_no_word_of_a_long_neighbour_or_caption_is_cut():
    said = [turn(1, "Nevertheless nothing extraordinary happened, " * 20), turn(2, "We adopted a puppy.")]
    pictured = [replace(one, caption="extraordinarily picturesque " * 20) for one in said]
    text = show_evidence(view_of([pictured[1]], context={said[1].id: tuple(pictured)})).text
    whole = set(re.findall(r"\w+", f"{pictured[0].text} {pictured[0].caption} {said[1].text} picture"))
    heads = re.compile(r"^\[e\d+\] (?:Mira, )?\w+ \d+ \w+(?: \d+)?: ", re.MULTILINE)
    assert set(re.findall(r"\w+", heads.sub("", text))) <= whole
    assert len(re.findall(r"\[picture: [^\]]*\]", text)) == text.count("[picture: ") == 2


def test_an_item_keeps_its_label_and_its_words_when_more_is_found():
    long = turn(9, "It rained. " * 300 + "The kiln broke. " + "It rained. " * 300)
    first = view_of([turn(1, "a"), long])
    before = show_evidence(first)
    turns = [turn(3, "c"), long, turn(1, "a"), turn(2, "b")]
    after = show_evidence(replace(view_of(turns, iteration=2, queries=["kiln"]), page=extend_page(first)))
    assert after.text.startswith(before.text)
    assert list(after.items.items())[:2] == list(before.items.items())


def test_the_dialogue_around_an_item_is_shown_once_with_labels_of_its_own():
    before, said, after = turn(1, "Which pet?", "Noah"), turn(2, "A puppy."), turn(3, "Lovely!", "Noah")
    around = (before, said, after)
    shown = show_evidence(view_of([said, after], context={said.id: around, after.id: (said, after)}))
    assert shown.text.splitlines() == [
        "[e1] Noah, Sat 2 Mar 2024: Which pet?", "[e2] Mira, Sun 3 Mar: A puppy.", "[e3] Noah, Mon 4 Mar: Lovely!",
    ]  # fmt: skip
    assert shown.turn("e1") is before


def test_no_turn_has_a_second_line_once_it_is_found_itself():
    said, after = turn(2, "A puppy."), turn(3, "It chewed the sofa. " * 20 + "Its name is Biscuit.", "Noah")
    first = view_of([said], context={said.id: (said, after)})
    before = show_evidence(first)
    found = replace(view_of([after, said], iteration=2, context={said.id: (said, after)}), page=extend_page(first))
    assert show_evidence(found) == before
    assert before.turn("e2") is after


def test_of_a_cut_turn_that_is_searched_for_the_rest_is_shown_and_nothing_twice():
    long = turn(3, " ".join(f"It rained on day {day}." for day in range(10, 40)))
    first = replace(view_of([long]), tokens=120)
    days = re.findall(r"day \d+", show_evidence(first).text)
    second = replace(view_of([long], iteration=2), page=extend_page(first), tokens=800, parts={"sought": {long.id: ""}})
    text = show_evidence(second).text
    assert 0 < len(days) < 30
    assert sorted(re.findall(r"day \d+", text)) == [f"day {day}" for day in range(10, 40)]
    assert text.count("[e1] ") == 2


def test_a_long_turn_is_shown_as_passages_around_what_matches():
    padding = "The weather stayed grey over the harbour. " * 400
    said = turn(5, f"{padding}We adopted a puppy from the shelter. {padding}")
    found = (len(padding), len(padding) + 36)  # as a search finds it
    shown = show_evidence(view_of([replace(evidence(said), span=found)])).text
    assert "We adopted a puppy from the shelter." in shown
    assert len(shown) < 2_000
    assert shown.count("\u2026") >= 2


def test_the_dialogue_around_gives_way_to_what_was_found():
    turns = [turn(n, f"word{n} " * 20) for n in range(40)]
    around = {t.id: (turn(100 + n, f"talk{n} " * 20), t) for n, t in enumerate(turns)}
    bare, full = (replace(view_of(turns, context=context), tokens=3_000) for context in ({}, around))
    assert {*show_evidence(bare).turns} <= {*show_evidence(full).turns}


def test_a_page_keeps_to_its_tokens_and_later_lines_to_those_that_are_left():
    turns = [turn(n, f"word{n} " * 40) for n in range(28)]
    first = replace(view_of(turns), tokens=800)
    assert count_tokens(show_evidence(first).text) <= 800
    second = replace(view_of(turns, iteration=2), page=extend_page(first), tokens=1_200)
    assert 1_000 < count_tokens(show_evidence(second).text) <= 1_200 + len("New in check 2:")


@pytest.mark.parametrize("label", ["e2", "[e2]", "E2", "2", "(e02)", "t2"])
def test_a_label_is_read_as_models_write_it(label):
    turns = (turn(1, "a"), turn(2, "b"))
    assert page(*turns).turn(label) is turns[1]


@pytest.mark.parametrize("label", ["e3", "e0", "", "-1", "1.0", "0 ", "e" * 99, "t3", "e1; e2", "9" * 4_000])
def test_a_label_that_was_not_offered_names_nothing(label):
    assert page(turn(1, "a"), turn(2, "b")).turn(label) is None


def test_lines_stand_in_the_order_of_the_dialogue_those_of_one_minute_too():
    said = [replace(turn(1, f"Line {number}."), id=f"t{number}") for number in range(4)]
    other = turn(9, "Line 9.")
    view = view_of([said[2], other, said[0], said[3], said[1]], order=[one.id for one in said])
    assert show_evidence(view).turns == (*said, other)


def test_the_answer_sees_the_lines_of_all_checks_in_order_of_time():
    late, early = turn(20, "later"), turn(3, "earlier")
    first = view_of([late])
    show_evidence(first)
    second = replace(view_of([early, late], iteration=2), page=extend_page(first))
    assert show_evidence(second).turns == (late, early)
    assert show_evidence(second, by_time=True).turns == (early, late)


def test_what_is_new_in_this_check_is_marked():
    old, new = evidence(turn(1, "a")), evidence(turn(2, "b"), iteration=2)
    first = view_of([old])
    before = show_evidence(first).text
    after = show_evidence(replace(view_of([new, old], iteration=2), page=extend_page(first))).text
    assert after == f"{before}\nNew in check 2:\n[e2] Mira, Sun 3 Mar 2024: b"


GREY = "The weather stayed grey over the harbour. "


def test_a_short_text_is_shown_as_it_is():
    assert RankedPassages("We adopted a puppy.", {"puppi"}).ranges_within(100) == ((0, 19),)
    assert join_ranges("We adopted a puppy.", ((0, 19),)) == "We adopted a puppy."


def test_what_matches_is_shown_with_what_stands_beside_it():
    text = GREY * 50 + "We met Ana there. We adopted a puppy. It is called Biscuit. " + GREY * 50
    shown = join_ranges(text, RankedPassages(text, set(terms("puppy"))).ranges_within(100))
    assert shown == "\u2026 We met Ana there. We adopted a puppy. It is called Biscuit. \u2026"


def test_a_rare_word_outweighs_a_common_one():
    text = GREY * 50 + "The puppy slept. " + GREY * 50
    (only,) = RankedPassages(text, set(terms("grey weather harbour puppy"))).ranges_within(20)
    assert text[slice(*only)] == "The puppy slept."


def test_without_a_match_the_start_is_shown():
    ranges = RankedPassages(GREY * 50, {"xylophon"}).ranges_within(100)
    assert join_ranges(GREY * 50, ranges) == f"{GREY * 2}".strip() + " \u2026"


def test_a_text_without_sentences_is_cut_between_words():
    text = "word " * 2_000 + "puppy " + "word " * 2_000
    (start, end), *_ = RankedPassages(text, {"puppi"}).ranges_within(300)
    assert "puppy" in text[start:end]
    assert text[start - 1 : start + 1].isspace() or text[start : end + 1].split(maxsplit=1)[0] == "word"


@given(st.text(), st.sets(st.sampled_from(["a", "b", "0"])), st.integers(1, 60))
def test_ranges_lie_in_the_text_in_order_and_keep_to_their_room(text, wanted, most):
    ranges = RankedPassages(text, wanted).ranges_within(most)
    ends = [place for pair in ranges for place in pair]
    assert ends == sorted(ends)
    assert all(0 <= start <= end <= len(text) for start, end in ranges)
    assert sum(end - start for start, end in ranges) <= most


MEANT = 'She got a place at the clinic.\n= that is: "Wilhelmina got a place at the clinic"'
FACT = {"subject": "Wilhelmina", "predicate": "got", "object": "a place at the clinic", "when": "", "kind": "event"}


def reply(request):
    facts = [{**FACT, "quote": "She got a place"}] if "She got" in request.prompt.rpartition("<turn")[2] else []
    return {"judge": verdict(), "answer": draft("a place"), "extract": json.dumps({"facts": facts})}[request.role]


@pytest.fixture
def clinic(tmp_path):
    model = ScriptedModel(then=reply)
    with evimem.open(tmp_path / "m.evimem", llm=model) as memory:
        memory.add("Mira", "Any news of Wilhelmina?", time="2024-03-12T18:20", id="a")
        memory.add("Noah", "She got a place at the clinic.", time="2024-03-12T18:21", id="b")
        memory.enrich()
        yield memory, model


def test_judge_and_answer_read_whom_a_pronoun_means(clinic):
    memory, model = clinic
    memory.ask("What did Wilhelmina get at the clinic?")
    prompts = {request.role: request.prompt for request in model.requests}
    assert MEANT in prompts["judge"]
    assert MEANT in prompts["answer"]


def test_a_block_says_whom_a_pronoun_means(clinic):
    memory, _ = clinic
    lines = memory.block("What did Wilhelmina get at the clinic?").text.splitlines()
    said = next(at for at, line in enumerate(lines) if line.endswith("She got a place at the clinic."))
    assert lines[said + 1] == MEANT.splitlines()[1]


@pytest.mark.parametrize(
    ("said", "fact", "meant"),
    [
        ("I got a place at the clinic.", {"subject": "Noah"}, False),
        ("Mum got a place at the clinic.", {"subject": "Noah's mother"}, False),
        ("Wilhelmina got a place at the clinic.", {}, False),
        ("She got it!", {}, True),
    ],
)
def test_facts_that_repeat_the_words_of_their_turn_are_not_shown(tmp_path, said, fact, meant):
    found = json.dumps({"facts": [{**FACT, **fact, "quote": said}]})
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=found)) as memory:
        memory.add("Mira", "Did Wilhelmina get a place at the clinic?", time="2024-03-12T18:20", id="a")
        memory.add("Noah", said, time="2024-03-12T18:21", id="b")
        memory.enrich()
        assert [one.text for one in memory.facts(["b"])] == [
            f"{fact.get('subject', 'Wilhelmina')} got a place at the clinic"
        ]
        assert ("that is:" in memory.block("Who got a place at the clinic?").text) is meant


def test_few_facts_are_shown_those_that_name_most_and_no_report():
    turn = evimem.Turn("b", "s", "Noah", "She got it there!", "2024-03-12T18:21", role="user")
    told = [
        ("Ana", "saw", "it"),
        ("Ana", "got", "a place at the clinic"),
        ("Ana", "likes", "the clinic"),
        ("Eli", "is", "x"),
    ]
    facts = [Fact(f"f{n}", "b", *parts, None, (0, 17), "state", "llm") for n, parts in enumerate(told)]
    reported = Fact("r", "b", "Noah", "said", "Bea got a dog, two cats and a horse", None, (0, 17), "report", "llm")
    assert (
        resolved_references([*facts, reported], turn, turn.text)
        == 'that is: "Ana got a place at the clinic"; "Eli is x"'
    )
