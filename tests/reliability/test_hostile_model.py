"""Any reply of a model adds grounded facts or nothing: no turn changes, and asking writes nothing.

Some replies are malformed; the others are well formed and demand what no reply may do.
"""

import json
import re
from random import Random
from typing import Any

import pytest

import evimem
from evimem import Memory, ModelError, Turn
from evimem.loops import LOOPS
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete
from tests.doubles import FakeClock
from tests.llm.mutants import mutants
from tests.llm.test_fuzz import ANSWER, CHAIN, DECIDE, EXTRACT, JUDGE
from tests.sizes import sizes

from .support.world import EMBEDDER, NOON, damage, small_thresholds

SAYINGS = (
    "I like coffee, but I don't like the noise.", "We adopted a puppy last Friday.", "I live in Porto. Lisbon is nice.",
    "I work as a nurse.", "I moved to Ghent, after years in Lisbon.", "I no longer like coffee.",
)  # fmt: skip
CLAIMS_ON_IT = ("no longer likes", "hates", "lives in", "moved to", "quit", "sold", "never adopted", "works as", "is")
IDS = tuple(f"t{number}" for number in range(12))
ACTIONS = ("delete", "update", "merge", "forget", "replace", "supersede", "rename", "write", "tool_calls")
TARGETS = (list(IDS), ["t1"], ["t99"], ["other-user:t1"], "*", {"everything": True}, [{"id": "t2", "text": "gone"}], -1)
Rows = list[tuple[Any, ...]]


def kept(number: int, name: str = "t") -> Turn:
    text = f"{SAYINGS[number % len(SAYINGS)]} Number {number % 12}."
    return Turn(f"{name}{number}", f"s{number // 4}", "Mira", text, NOON.replace(minute=number % 60), role="user")


def contradiction(request: Complete, random: Random) -> dict[str, Any]:
    """Return a fact in words of the turn that contradicts the turn, or repeats it."""
    words = re.findall(r"[A-Za-z]+", request.prompt.rpartition("<turn")[2].partition(">")[2]) or ["coffee"]
    thing, quote = random.choice(words), random.choice(words)
    claim = random.choice(CLAIMS_ON_IT)
    return {"subject": "Mira", "predicate": claim, "object": thing, "quote": quote, "kind": "state", "when": ""}


def wicked(request: Complete, random: Random) -> str:
    """Return a well-formed reply, mostly to the request, that also demands what no reply may do."""
    fitting = {"judge": JUDGE, "decide": DECIDE, "answer": ANSWER, "extract": EXTRACT}.get(request.role, CHAIN)
    base: dict[str, Any] = dict(
        fitting if random.random() < 0.8 else random.choice((JUDGE, DECIDE, ANSWER, CHAIN, EXTRACT))
    )
    for action in random.sample(ACTIONS, 3):
        base[action] = random.choice(TARGETS)
    if "facts" in base:
        orders = {"id": random.choice(IDS), "turn_id": random.choice(IDS), "replaced_by": "t1", "extractor": "rules"}
        said = [*base["facts"], *(contradiction(request, random) for _ in range(20))]
        base["facts"] = [{**fact, **orders} for fact in said] * random.randint(1, 9)
    return json.dumps(base)


def raw(memory: Memory) -> Rows:
    return memory._core.store.db.rows("SELECT * FROM turn WHERE seq <= 12 ORDER BY seq")


def by_rules(memory: Memory) -> Rows:
    """Return the facts of the rules; `replaced_by` is the last column."""
    return memory._core.store.db.rows(
        """SELECT id, seq, subject, predicate, object, event_start, event_end, granularity, phrase, span_start,
        span_end, kind, extractor, owner, topic, instant, replaced_by
        FROM fact WHERE extractor = 'rules' AND seq <= 12 ORDER BY id"""
    )


def taken_back(memory: Memory) -> Rows:
    """Return the facts of the rules that a model retracted in the same turn, or without a fact of its own."""
    return memory._core.store.db.rows(
        """SELECT one.id, one.predicate, one.object, other.predicate, other.object
        FROM fact AS one LEFT JOIN fact AS other ON other.id = one.replaced_by
        WHERE one.replaced_by IS NOT NULL AND one.extractor = 'rules'
        AND (other.id IS NULL OR (other.extractor = 'llm' AND other.seq = one.seq))"""
    )


def commits(memory: Memory) -> int:
    return int(memory._core.store.db.read_meta_value("commits") or 0)


@pytest.mark.parametrize("count", sizes(300, nightly=10_000, reduced=300))
def test_no_reply_changes_a_turn_and_asking_writes_nothing(disk, seed, count, tell):
    random, clock = Random(seed), FakeClock(1.7e9)
    malformed = mutants([JUDGE, DECIDE, ANSWER, CHAIN, EXTRACT], count + 100, seed)
    model = ScriptedModel(then=lambda asked: next(malformed) if random.random() < 0.3 else wicked(asked, random))
    given = answered = failed = fresh = stored = 0
    with small_thresholds(), evimem.open(disk / "m.evimem", llm=model, embedder=EMBEDDER, clock=clock) as memory:
        memory.extend([kept(number) for number in range(12)])
        memory.stats()  # reads their facts, as the first question else would
        turns, facts = raw(memory), by_rules(memory)
        while given < count:
            model.requests.clear()
            before = commits(memory)
            try:
                if random.random() < 0.3:
                    fresh += 1
                    memory.extend([kept(fresh, "n")])
                    clock.advance(86_400.0)
                    memory.enrich()
                else:
                    answer = memory.ask("When did Mira adopt a puppy?", random.choice(sorted(LOOPS)))
                    answered += 1
                    assert len(model.requests) <= 2 * (8 + 1), "the requests of one question have no end"
                    assert {citation.turn_id for citation in answer.citations} <= {turn.id for turn in memory.turns()}
                    assert commits(memory) == before, "asking wrote something"
            except ModelError:
                failed += 1
            given += len(model.requests)
            assert raw(memory) == turns, "a turn was changed, or is gone"
            found, read = {row[:-1] for row in by_rules(memory)}, read_by_a_model(memory)
            assert found == {row[:-1] for row in facts if row[1] not in read}, (
                "a reply changed what the rules found in another turn"
            )
            assert taken_back(memory) == [], "a reply took back what the same turn says"
            if fresh % 30 == 29:  # a question over ever more of the same says nothing new
                stored += llm_facts(memory)
                forget_the_new(memory)
        stored += llm_facts(memory)
        found = damage(memory, memory._core.extractor)
        assert by_rules(memory) != facts, "no reply ever said that something is no longer so"
        assert found == [], f"what a model said was stored without being in the turn: {found}"
    with evimem.open(disk / "m.evimem", embedder=EMBEDDER, clock=clock) as memory:
        forget_the_new(memory)
        memory.rebuild(reread=True)
        assert by_rules(memory) == facts, "what a model said cannot be undone"
        assert (llm_facts(memory), damage(memory, memory._core.extractor)) == (0, [])
        assert memory.health().pending == {"extract": memory.stats().turns}
    tell(f"{given} replies, {answered} answers, {failed} model errors, {stored} facts: 0 turns changed, 0 ungrounded")


def forget_the_new(memory: Memory) -> None:
    memory.forget(turns=[turn.id for turn in memory.turns() if turn.id.startswith("n")])


def read_by_a_model(memory: Memory) -> set[int]:
    """Return the turns that have facts of a model, in the place of those by rule."""
    return {seq for (seq,) in memory._core.store.db.rows("SELECT DISTINCT seq FROM fact WHERE extractor = 'llm'")}


def llm_facts(memory: Memory) -> int:
    return int(memory._core.store.db.read_value("SELECT count(*) FROM fact WHERE extractor = 'llm'"))
