"""Which turn most probably holds the answer: of the asked type, of the asked person, and late where that is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from evimem.judging.evidence import View
from evimem.offline.constants import SHIPPED
from evimem.offline.likely_turns import likely_turns, turn_signals
from evimem.offline.match_sentences import match
from evimem.offline.signals import attribution, meaning, of_another

See = Callable[..., View]
Lines = Sequence[tuple[str, str]]
MONEY: Lines = [
    ("Mira", "The kiln repair is done at last, what a relief."),
    ("Tomas", "Good! Mine is at the workshop too."),
    ("Mira", "The kiln repair came to 240 pounds."),
]
MOVES: Lines = [
    ("Mira", "My studio is in Porto and I love it."),
    ("Tomas", "Lucky you."),
    ("Mira", "My studio is in Braga and I love it."),
]

PUPILS = "Five classes, about 130 pupils in all."


def likely(view: View) -> dict[str, float]:
    return likely_turns(view, match(view), SHIPPED.likely)


def signals(view: View, name: str) -> list[float]:
    found = turn_signals(view, match(view))
    return [found[f"s1:{place}"][name] for place in range(1, len(view.shown) + 1)]


def about_another(view: View) -> float:
    matches = match(view)
    return of_another(view, matches, next(m for m in matches.ranked if m.unit.text == PUPILS))


def test_a_turn_with_a_value_of_the_asked_type_is_likelier(see: See) -> None:
    view = see("How much was Mira's kiln repair?", MONEY)
    assert signals(view, "typed") == [0.0, 0.0, 1.0]
    found = likely(view)
    assert max(found, key=lambda turn: found[turn]) == "s1:3"
    assert all(0 < probability < 1 for probability in found.values())


def test_words_that_look_like_the_asked_type_count_half(see: See) -> None:
    lines = [("Mira", "She met the painter Leonor in the harbour."), ("Mira", "She met the painter in the harbour.")]
    assert signals(see("Who met Mira in the harbour?", lines), "typed") == [0.5, 0.0]


def test_a_turn_about_the_asked_person_is_likelier(see: See) -> None:
    lines = [("Tomas", "I adopted a cat in spring."), ("Mira", "I adopted a cat in spring.")]
    view = see("What did Mira adopt?", lines, found=[1, 2])
    assert signals(view, "about") == [0.0, 1.0]
    assert likely(view)["s1:2"] > likely(view)["s1:1"]


def test_the_later_turn_is_likelier_only_where_what_holds_now_is_asked(see: See) -> None:
    now = see("Where is Mira's studio now?", MOVES)
    assert signals(now, "newer") == [0.0, 0.5, 1.0]
    assert signals(see("Where was Mira's studio?", MOVES), "newer") == [0.0, 0.0, 0.0]


def test_what_no_search_for_the_question_found_has_no_search_score(see: See) -> None:
    view = see("How much was Mira's kiln repair?", MONEY)
    assert signals(view, "search")[0] == 1.0
    linked = (replace(view.shown[0], path="edge"), *view.shown[1:])
    assert signals(replace(view, shown=linked, memo={}), "search")[:2] == [0.0, 1.0]


def test_nothing_shown_has_no_probabilities(see: See) -> None:
    assert likely(see("What is it?", [])) == {}


def test_in_a_small_memory_the_nearest_turns_are_averaged_over_those_there_are(see: See) -> None:
    view = see("Where is Mira's studio now?", MOVES)
    near = tuple(replace(item, parts={"meaning": 0.5}) for item in view.evidence)
    assert meaning(replace(view, evidence=near, memo={}))["meaning_ten"] == 0.5


def test_what_is_said_of_others_counts_against_only_beyond_what_is_said_of_the_asked_one(see: See) -> None:
    lines = [("Mira", "I live in Leeds."), ("Tomas", "I live in Porto.")]
    alike, other = see("Where does Mira live?", lines), see("Where does Mira live?", lines, found=[2])
    assert attribution(alike, match(alike))["facts_against"] == 0.0
    assert attribution(other, match(other))["facts_against"] == 1.0


def test_a_fact_that_names_the_asked_one_is_not_against_it(see: See) -> None:
    lines = [("Mira", "I have a cat called Juno."), ("Tomas", "I have a boat.")]
    view = see("What colour is Juno?", lines)
    assert attribution(view, match(view))["facts_other"] == 0.5
    assert attribution(view, match(view))["facts_against"] == 0.0


def test_where_nobody_is_asked_about_no_fact_is_against(see: See) -> None:
    view = see("How much was the van?", [("Mira", "I sold the van.")])
    assert attribution(view, match(view))["facts_other"] > 0.0
    assert attribution(view, match(view))["facts_against"] == 0.0


def test_nothing_that_a_user_says_is_about_the_assistant(see: See) -> None:
    reply = "Well done."
    assert about_another(see("How many pupils do I have?", [("user", PUPILS), ("assistant", reply)])) == 0.0
    assert about_another(see("How many pupils does Mira have?", [("Mira", PUPILS), ("Tomas", reply)])) == 0.3
