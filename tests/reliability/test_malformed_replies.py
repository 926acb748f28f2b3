"""A malformed reply loses no turn, is distinguished from one without facts, and adds nothing ungrounded."""

import json
from collections import Counter
from random import Random

import pytest

import evimem
from evimem import Memory, Turn
from evimem.testing import ScriptedModel
from evimem.text.names import SourceWords
from evimem.types.trace import Complete
from tests.doubles import FakeClock
from tests.llm.mutants import mutants
from tests.sizes import bound, sizes

from .support.world import EMBEDDER, EXTRACTOR, NOON

PAGE = 100  # turns of one memory
THINGS = ("a kite", "two lamps", "green tea", "an old boat")


def said(number: int) -> Turn:
    text = f"I bought {THINGS[number % len(THINGS)]} last Friday, for {number} francs."
    return Turn(f"t{number}", "s", "Mira", text, NOON.replace(minute=number % 60), role="user")


def fact(turn: Turn) -> dict[str, str]:
    thing = turn.text.removeprefix("I bought ").partition(",")[0]
    return {"subject": "I", "predicate": "bought", "object": thing, "quote": f"bought {thing}", "kind": "event"}


def states(memory: Memory) -> dict[str, tuple[str, str | None]]:
    sql = "SELECT turn.id, state, error FROM job JOIN turn USING (seq) WHERE kind = 'extract'"
    return {name: (state, error) for name, state, error in memory._core.store.db.rows(sql)}


def by_model(memory: Memory, name: str) -> list[evimem.Fact]:
    return [one for one in memory.facts([name]) if one.extractor == "llm"]


def check_grounded(memory: Memory, turn: Turn) -> int:
    """Check that every stored fact of a model has a span and an object in the text of its turn."""
    found = by_model(memory, turn.id)
    for one in found:
        quote = turn.text[slice(*one.span)]
        assert quote.strip(), f"a fact that stands nowhere: {one}"
        assert one.subject == turn.speaker or SourceWords([turn.speaker, turn.text]).may_refer_to(one.subject), (
            f"an ungrounded fact was stored: {one}"
        )
        assert SourceWords([turn.text]).are_grounded(one.object), f"an ungrounded fact was stored: {one}"
    return len(found)


@pytest.mark.parametrize("count", sizes(400, nightly=50_000, reduced=150))
def test_a_malformed_reply_loses_no_turn_and_the_next_is_read(disk, seed, count, tell):
    reached: Counter[str] = Counter()
    facts = 0
    for page in range(count // PAGE):
        turns = [said(page * PAGE + number) for number in range(PAGE)]
        random, clock = Random(f"{seed}/{page}"), FakeClock(1.7e9)
        malformed = {t.text: next(mutants([{"facts": [fact(t)]}], 1, random.getrandbits(32))) for t in turns}
        well = [False]

        def reply(request: Complete, malformed: dict[str, str] = malformed, well: list[bool] = well) -> str:
            asked = next(text for text in malformed if text in request.prompt.rpartition("<turn")[2])
            return json.dumps({"facts": [fact(Turn("", "", "Mira", asked, NOON))]}) if well[0] else malformed[asked]

        model = ScriptedModel(then=reply)
        with evimem.open(disk / f"{page}", llm=model, embedder=EMBEDDER, extractor=EXTRACTOR, clock=clock) as memory:
            memory.extend(turns, strict=True)
            memory.enrich()
            assert list(memory.turns()) == turns
            found = states(memory)
            for turn in turns:
                state, error = found[turn.id]
                assert (state == "done") == (error is None), f"{turn.id}: {state} for {error!r}"
                assert state in ("done", "pending")
                reached[state if error is None else "bad output"] += 1
                kept = check_grounded(memory, turn)
                assert not kept or state == "done"
                facts += kept
            unread = {name for name, (state, _) in found.items() if state == "pending"}
            well[0] = True
            clock.advance(86_400.0)
            memory.enrich()
            assert memory.health().pending == {}
            assert all(len(by_model(memory, name)) == 1 for name in unread), "a later reply was not read"
    assert min(reached["done"], reached["bad output"]) > count / 10, f"bad output is told from none nowhere: {reached}"
    tell(
        f"{count} malformed replies to turns, {reached['bad output']} told as such, {facts} facts kept: {bound(count)}"
    )


@pytest.mark.parametrize(
    ("reply", "status"), [('{"facts": []}', "ok"), ("{}", "degraded"), ("I'd rather not.", "degraded")]
)
def test_no_facts_and_a_bad_reply_are_distinguished(disk, reply, status):
    clock = FakeClock(1.7e9)
    with evimem.open(
        disk / "m", llm=ScriptedModel(then=reply), embedder=EMBEDDER, extractor=EXTRACTOR, clock=clock
    ) as memory:
        memory.extend([said(0)])
        for _ in range(4):
            memory.enrich()
            clock.advance(86_400.0)
        assert (memory.health().status, by_model(memory, "t0")) == (status, [])
        assert ("failed for good" in str(memory.health().problems)) == (status == "degraded")
