"""The page of evidence: items, their labels and order, passages, what facts add, and what others said otherwise."""

import json
import re
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evimem
from evimem.extract.rule_extractor import RuleExtractor
from evimem.llm.evidence_prompt import AROUND_CHARACTERS, show_evidence
from evimem.testing import ScriptedModel
from evimem.text.prompt_text import Passages, excerpt, what_is_meant
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
        '<item e1, "Mira", Wed 13 March 2024 18:20>',
        "> We adopted a puppy last Friday.",
        '= "last Friday" is 8 March 2024',
    ]


def test_no_word_of_a_long_neighbour_or_caption_is_cut():
    said = [turn(1, "Nevertheless nothing extraordinary happened, " * 20), turn(2, "We adopted a puppy.")]
    pictured = [replace(one, caption="extraordinarily picturesque " * 20) for one in said]
    text = show_evidence(view_of([pictured[1]], context={said[1].id: tuple(pictured)})).text
    whole = set(re.findall(r"\w+", f"{pictured[0].text} {pictured[0].caption} {said[1].text} picture"))
    assert {word for line in text.splitlines() if line[0] == ">" for word in re.findall(r"\w+", line)} <= whole
    assert len(re.findall(r"\[picture: [^\]]*\]", text)) == text.count("[picture: ") == 2


def test_an_item_keeps_its_label_and_its_words_when_more_is_found():
    long = turn(9, "It rained. " * 300 + "The kiln broke. " + "It rained. " * 300)
    first = view_of([turn(1, "a"), long])
    before = show_evidence(first)
    turns = [turn(3, "c"), long, turn(1, "a"), turn(2, "b")]
    after = show_evidence(replace(view_of(turns, iteration=2, queries=["kiln"]), memo=first.memo))
    assert after.text.startswith(before.text)
    assert list(after.items.items())[:2] == list(before.items.items())


def test_the_dialogue_around_an_item_is_shown_once_with_labels_of_its_own():
    before, said, after = turn(1, "Which pet?", "Noah"), turn(2, "A puppy."), turn(3, "Lovely!", "Noah")
    around = (before, said, after)
    shown = show_evidence(view_of([said, after], context={said.id: around, after.id: (said, after)}))
    assert shown.text.splitlines() == [
        '<item e1, "Noah", before e2>', "> Which pet?", '<item e2, "Mira", Sun 3 March 2024 18:20>', "> A puppy.",
        '<item e3, "Noah", Mon 4 March 2024 18:20>', "> Lovely!",
    ]  # fmt: skip
    assert shown.turn("e1") is before


def test_a_turn_that_stood_around_an_item_is_shown_in_full_once_it_is_found():
    said, after = turn(2, "A puppy."), turn(3, "It chewed the sofa. " * 20 + "Its name is Biscuit.", "Noah")
    first = view_of([said], context={said.id: (said, after)})
    assert "Biscuit" not in show_evidence(first).text
    found = replace(view_of([after, said], iteration=2, context={said.id: (said, after)}), memo=first.memo)
    shown = show_evidence(found)
    assert '<item e2, "Noah", Mon 4 March 2024 18:20, in full>' in shown.text
    assert "Biscuit" in shown.text
    assert shown.turn("e2") is after


def test_a_long_turn_is_shown_as_passages_around_what_matches():
    padding = "The weather stayed grey over the harbour. " * 400
    said = turn(5, f"{padding}We adopted a puppy from the shelter. {padding}")
    shown = show_evidence(view_of([said])).text
    assert "We adopted a puppy from the shelter." in shown
    assert len(shown) < 2_000
    assert shown.count("\u2026") >= 2


def test_the_dialogue_around_has_a_budget_of_its_own():
    turns = [turn(n, f"word{n} " * 40) for n in range(40)]
    around = {t.id: (turn(100 + n, f"talk{n} " * 40), t) for n, t in enumerate(turns)}
    bare, full = show_evidence(view_of(turns)).text, show_evidence(view_of(turns, context=around)).text
    assert 0 < len(full) - len(bare) <= AROUND_CHARACTERS


@pytest.mark.parametrize("label", ["e2", "[e2]", "E2", "2", "(e02)", "t2"])
def test_a_label_is_read_as_models_write_it(label):
    turns = (turn(1, "a"), turn(2, "b"))
    assert page(*turns).turn(label) is turns[1]


@pytest.mark.parametrize("label", ["e3", "e0", "", "-1", "1.0", "0 ", "e" * 99, "t3", "e1; e2", "9" * 4_000])
def test_a_label_that_was_not_offered_names_nothing(label):
    assert page(turn(1, "a"), turn(2, "b")).turn(label) is None


def test_items_of_one_minute_say_which_came_before():
    """Times are shown to the minute: which of two values is the later one must be said."""
    said = [replace(turn(1, f"Line {number}."), id=f"t{number}") for number in range(4)]
    other = turn(9, "Line 9.")
    view = view_of([said[2], other, said[0], said[3], said[1]], order=[one.id for one in said])
    heads = [line.partition(":20")[2] for line in show_evidence(view).text.splitlines() if line.startswith("<item")]
    assert heads == [">", ">", ", before e1>", ", after e1>", ", after e3>"]


def test_the_answer_sees_the_items_in_order_of_time():
    late, early = turn(20, "later"), turn(3, "earlier")
    assert [t.id for t in show_evidence(view_of([late, early])).turns] == [late.id, early.id]
    assert [t.id for t in show_evidence(view_of([late, early]), by_time=True).turns] == [early.id, late.id]


def test_an_assistants_reply_has_less_room_than_a_persons_words():
    text = "The weather stayed grey over the harbour. " * 400
    own, reply = turn(1, text), replace(turn(2, text), role="assistant")
    assert len(show_evidence(view_of([reply])).text) < 0.6 * len(show_evidence(view_of([own])).text)


def test_what_is_new_in_this_check_is_marked():
    old, new = evidence(turn(1, "a")), evidence(turn(2, "b"), iteration=2)
    first = view_of([old])
    before = show_evidence(first).text
    after = show_evidence(replace(view_of([new, old], iteration=2), memo=first.memo)).text
    assert after == f'{before}\nNew in check 2:\n<item e2, "Mira", Sun 3 March 2024 18:20>\n> b'


GREY = "The weather stayed grey over the harbour. "


def test_a_short_text_is_shown_as_it_is():
    assert Passages("We adopted a puppy.", {"puppi"}).within(100) == ((0, 19),)
    assert excerpt("We adopted a puppy.", ((0, 19),)) == "We adopted a puppy."


def test_what_matches_is_shown_with_what_stands_beside_it():
    text = GREY * 50 + "We met Ana there. We adopted a puppy. It is called Biscuit. " + GREY * 50
    shown = excerpt(text, Passages(text, set(terms("puppy"))).within(100))
    assert shown == "\u2026 We met Ana there. We adopted a puppy. It is called Biscuit. \u2026"


def test_a_rare_word_outweighs_a_common_one():
    text = GREY * 50 + "The puppy slept. " + GREY * 50
    (only,) = Passages(text, set(terms("grey weather harbour puppy"))).within(20)
    assert text[slice(*only)] == "The puppy slept."


def test_without_a_match_the_start_is_shown():
    ranges = Passages(GREY * 50, {"xylophon"}).within(100)
    assert excerpt(GREY * 50, ranges) == f"{GREY * 2}".strip() + " \u2026"


def test_a_text_without_sentences_is_cut_between_words():
    text = "word " * 2_000 + "puppy " + "word " * 2_000
    (start, end), *_ = Passages(text, {"puppi"}).within(300)
    assert "puppy" in text[start:end]
    assert text[start - 1 : start + 1].isspace() or text[start : end + 1].split(maxsplit=1)[0] == "word"


@given(st.text(), st.sets(st.sampled_from(["a", "b", "0"])), st.integers(1, 60))
def test_ranges_lie_in_the_text_in_order_and_keep_to_their_room(text, wanted, most):
    ranges = Passages(text, wanted).within(most)
    ends = [place for pair in ranges for place in pair]
    assert ends == sorted(ends)
    assert all(0 <= start <= end <= len(text) for start, end in ranges)
    assert sum(end - start for start, end in ranges) <= most


OWN, REPORT = turn(12, "I live in Leeds."), turn(20, "Mira lives in Paris now.", "Tomas")


class Homes(RuleExtractor):
    """An extractor that says that somebody has one home at a time."""

    name = "homes"

    def extract(self, turn):
        return tuple(replace(fact, extractor=self.name, attribute="home") for fact in super().extract(turn))


def found(said, iteration=1):
    return evidence(said, facts=Homes().extract(said), iteration=iteration)


def test_the_page_says_beside_a_report_what_the_person_said(tmp_path):
    model = ScriptedModel([verdict(), draft("Leeds")])
    with evimem.open(tmp_path / "m.evimem", llm=model, extractor=Homes()) as memory:
        memory.extend([OWN, REPORT])
        assert memory.ask("Where does Mira live?").text == "Leeds"
    for request in model.requests:
        page = request.prompt
        assert '> Mira lives in Paris now.\n= "Mira" said otherwise: "Mira lives in Leeds"' in page
        assert "no longer so" not in page
        assert "themselves" in request.system


def test_an_own_word_that_is_found_after_the_report_is_shown_beside_it():
    first = view_of([found(REPORT)])
    show_evidence(first)
    second = view_of([found(OWN, 2), found(REPORT)], iteration=2)
    shown = show_evidence(replace(second, memo=first.memo)).text
    assert shown.endswith('> I live in Leeds.\n= "Tomas" said otherwise: "Mira lives in Paris"')


def test_a_report_that_agrees_or_came_before_or_was_replaced_says_nothing_otherwise():
    agrees = turn(20, "Mira lives in Leeds.", "Tomas")
    before = turn(3, "Mira lives in Paris now.", "Tomas")
    gone = evidence(REPORT, facts=tuple(replace(fact, replaced_by="x") for fact in found(REPORT).facts))
    for other in (found(agrees), found(before), gone):
        assert "otherwise" not in show_evidence(view_of([found(OWN), other])).text


MEANT = '> She got a place at the clinic.\n= that is: "Wilhelmina got a place at the clinic"'
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
    assert what_is_meant([*facts, reported], turn, turn.text) == 'that is: "Ana got a place at the clinic"; "Eli is x"'
