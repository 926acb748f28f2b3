"""Every result says what it holds: as JSON to a program, on a line to a session, and escaped to a notebook."""

import html
import inspect
import json
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import datetime
from typing import Any, get_args

import pytest

import evimem
from evimem import Answer, Block, Citation, Edge, Fact, Gap, Hit, Stats, Tier, TimeSpan, Trace, Turn, TurnStatus, Usage
from evimem.types.public_value import PublicValue
from evimem.types.trace import Acted, Called, Event, Found, GapsChanged, Judged, Queried, Stopped

GIVEN = {
    "Budget",
    "EndpointReranker",
    "Labelled",
    "OpenAI",
    "OpenAIEmbedder",
    "Query",
}  # values that a caller makes for a call, and evimem does not return
EVIL = "</b><script>alert(1)</script>"
TURN = Turn("s1:1", "s1", "Mira", "x" * 2**20, datetime(2024, 3, 12, 18, 20), metadata={"k": [1, None, "v"]})
SPAN = TimeSpan(datetime(2024, 3, 8), datetime(2024, 3, 9), "day", "last Friday")
FACT = Fact("f", "s1:1", "Mira", "adopted", "a puppy", SPAN, (0, 4), "event", "rules")
HIT = Hit(TURN, (FACT,), 0.5, {"words": 0.5}, "search", ("s1:2",), (0, 1000))
GAP = Gap("time", "Mira", "no date")
CALL = Called(1, "judge", "ok", 12, 3, cost=0.5)
EVENTS = (
    Queried(1, "anchor", "When?", 10), Found(1, "anchor", ("s1:1",)), Acted(1, "show", "", {"turns": ("s1:1",)}),
    Judged(1, "rules", Tier.EXACT, 0.9, Tier.PARTIAL, 0.6, None, {"Mira": 3}, (GAP,)),
    GapsChanged(1, {"time": ("s1:1",)}, open=(GAP,)), CALL, Stopped(1, "exact evidence"),
)  # fmt: skip
TRACE = Trace("When?", "iris", EVENTS, {"s1:1": "d1"})
ANSWER = Answer("8 March", "answer", Tier.EXACT, 0.9, (Citation("s1:1", (0, 4), "xxxx"),), (GAP,), TRACE, Usage(1))
STATS = Stats("m", 1, 1, ("Mira",), 1, {"next": 0}, TURN.time, None, "static", 256, 4096, 3)
VALUES = [
    TURN, SPAN, FACT, HIT, GAP, TRACE, ANSWER, STATS, Edge("a", "b", "next", 1.0), TurnStatus("a", "added"), *EVENTS,
]  # fmt: skip


def results() -> list[type[Any]]:
    public = [getattr(evimem, name) for name in evimem.__all__ if name not in GIVEN]
    return [*filter(inspect.isclass, public), *get_args(Event)]


def test_every_public_value_is_a_result():
    assert [one.__name__ for one in results() if is_dataclass(one) and not issubclass(one, PublicValue)] == []


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_result_is_a_json_object_with_a_key_for_each_field(value):
    data = value.to_dict()
    assert {one.name for one in fields(value)} <= set(data)
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_times_and_tiers_are_texts_and_values_in_values_are_objects():
    data = HIT.to_dict()
    assert (data["turn"]["time"], data["turn"]["metadata"]) == ("2024-03-12T18:20:00", {"k": [1, None, "v"]})
    assert data["facts"][0]["event"]["start"] == "2024-03-08T00:00:00"
    assert (ANSWER.to_dict()["tier"], ANSWER.to_dict()["abstained"]) == ("exact", False)
    assert [event["kind"] for event in TRACE.to_dict()["events"]] == [event.kind for event in EVENTS]


def test_what_json_cannot_say_is_refused_where_it_is_written():
    with pytest.raises(TypeError):
        Trace("?", "mine", (Acted(0, "mine", "", {"odd": object()}),)).to_json()


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_repr_is_short_and_leaves_out_what_is_not_set(value):
    shown = repr(value)
    assert shown.startswith(f"{type(value).__name__}(")
    assert len(shown) < 1200
    unset = [one.name for one in fields(value) if one.default is None and getattr(value, one.name) is None]
    assert [name for name in unset if f", {name}=" in shown] == []
    assert all(f"{one.name}=" in shown for one in fields(value) if one.default is one.default_factory is MISSING)


def test_an_answer_prints_its_text_and_what_it_rests_on():
    assert str(ANSWER) == "8 March\n  [s1:1] xxxx"
    refused = replace(ANSWER, text=None, kind="abstained", citations=(), reason="nobody said so")
    assert str(refused) == "no answer: nobody said so"
    assert str(TRACE).splitlines()[:2] == ["When?", "1. searching (anchor): When?"]


@pytest.mark.parametrize(
    "value",
    [
        Hit(Turn(f"t{EVIL}", "s", f"M{EVIL}", f"I said {EVIL}", TURN.time), (), 0.5),
        Trace(EVIL, EVIL, (Queried(1, EVIL, EVIL, 3), Acted(1, EVIL, EVIL, {EVIL: EVIL}))),
        replace(ANSWER, text=EVIL, citations=(Citation("t", (0, 9), EVIL),)),
        Block(f"<memory>{EVIL}", (TURN,), 3, 0.5),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_notebook_shows_text_and_never_an_element_of_it(value):
    page = value._repr_html_()
    assert html.unescape(page) != page
    assert "<script" not in page
    assert "</b><" not in page.replace("</b></p><", "")
    assert "&lt;script&gt;alert(1)" in page


def test_a_notebook_shows_the_quotes_of_an_answer_and_the_hits_of_a_search_marked(friends):
    answer = friends.ask("When did Mira adopt her puppy?")
    assert "&quot;last Friday&quot;: 8 March 2024" in answer._repr_html_()
    assert f"<mark>{html.escape(answer.citations[0].quote)}</mark>" in answer._repr_html_()
    hits = friends.search("puppy", k=3)
    assert hits._repr_html_().count("<li>") == 3
    assert "We adopted a puppy last Friday." in hits._repr_html_()
    long = replace(HIT, span=(5_000, 5_010))
    assert f"<mark>{'x' * 10}</mark>" in long._repr_html_()
    assert len(long._repr_html_()) < 1_200
