"""Own details are looked up by owner and slot, the newest value first, and refused where nothing speaks of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from evimem.judging.evidence import View
from evimem.offline.short_answers import NotStated, ShortAnswer, own_detail
from evimem.types.values import Tier

from .direct import judge

See = Callable[..., View]
HOME = [
    ("user", "I'm a night nurse at the Hill clinic, 34, and I live in Leeds with my wife Noor and our two kids."),
    ("assistant", "Nights are hard. Have you tried earplugs? I recommend the Softcap ones."),
    ("user", "Our dog Pickle wakes me up."),
    ("user", "My sister Amal came by. Amal is a plumber, and she is allergic to feathers."),
    ("user", "We moved to York last week. My bike is a red Trek, my sister's is fine."),
    ("user", "I can't stand karaoke."),
]


@pytest.mark.parametrize(
    ("question", "gap"),
    [
        ("What is my brother's name?", "nothing says the name of 'my brother'"),
        ("What is my favourite film?", "nothing says your favourite film"),
        ("What car do I drive?", "nothing says your car"),
        ("How old am I?", ""),  # "34" stands alone
        ("Where does my sister live?", ""),  # beside "we moved to York"
        ("Why did we move?", None),
        ("When did we move?", None),
    ],
)
def test_what_is_not_told_is_refused_where_nothing_hints_at_it(see: See, question: str, gap: str | None) -> None:
    found = own_detail(see(question, HOME))
    assert (found.gap if isinstance(found, NotStated) else found) == gap


def test_a_thing_may_go_by_its_make_and_a_person_by_no_other_word(see: See) -> None:
    lines = [("user", "I drive a 2015 Honda Civic, red."), ("user", "My sister Amal came by in a blue dress.")]
    found = [own_detail(see(question, lines)) for question in ("What colour is my car?", "What is my brother's name?")]
    assert [one.gap for one in found if isinstance(one, NotStated)] == ["", "nothing says the name of 'my brother'"]


def test_a_detail_that_is_not_stated_is_named_in_the_refusal(see: See) -> None:
    verdict = judge(see("What is my phone number?", HOME))
    assert verdict.reason == "nothing says your phone number"
    assert (verdict.gaps[0].kind, verdict.gaps[0].text) == ("attribute", verdict.reason)
    assert verdict.probability is not None
    assert verdict.probability < 0.5
    assert verdict.tier is Tier.PARTIAL


def test_the_value_before_is_cited_with_the_one_that_replaced_it(see: See) -> None:
    found = own_detail(see("Where do I live?", HOME))
    assert isinstance(found, ShortAnswer)
    assert [one.quote for one in found.citations] == ["York", "Leeds"]


def test_turns_of_one_time_keep_the_order_of_the_dialogue(see: See) -> None:
    view = see(
        "Where do I live?", [("user", "I live in Rome."), ("assistant", "Nice."), ("user", "I live in Bonn now.")]
    )
    at = view.evidence[0].turn.time
    same = tuple(replace(item, turn=replace(item.turn, time=at)) for item in reversed(view.evidence))
    around = tuple(item.turn for item in reversed(same))
    again = replace(view, evidence=same, shown=same, context={turn.id: around for turn in around}, memo={})
    found = own_detail(again)
    assert isinstance(found, ShortAnswer)
    assert found.text == "Bonn"
