"""Derived rows follow from the turns: after forgetting, after a rebuild, after losing any part of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest

from evimem import Memory, Turn
from evimem.api.core import Core
from evimem.store import handle
from evimem.store.sqlite import SqliteStore
from evimem.types.trace import Found, Trace
from tests.copies import copied
from tests.doubles import HomeExtractor, WordEmbedder
from tests.sizes import share, sizes

from .support.tables import Dump, differences, dump
from .support.world import NOON, SPEAKERS, Unreachable, small_thresholds

PLACES = ("Lisbon", "Lisbon", "Porto", "Ghent")
THINGS = ("coffee", "the violin", "old maps", "swimming", "her kayak", "jazz")
SAYINGS = (
    "I live in {place}.", "I moved to {place} last month.", "I like {thing}.", "I no longer like {thing}.",
    "I bought {thing} yesterday. I am going to {place} next Friday.", "My brother lives in {place}. He loves {thing}.",
    "Do you still live in {place}?", "We went to {place} two weekends ago and it was about {thing}.", "Ha!",
    "I sold {thing}. I live in {place} now. I love {thing}!", "{thing}",
)  # fmt: skip
QUESTIONS = ("Where does Mira live now?", "Who likes coffee?", "What happened last month?", "the violin in Ghent")


def opened(path: Path) -> Memory:
    embedder = WordEmbedder(64)
    return Memory(Core(SqliteStore(path, embedder.name, embedder.dimension), embedder, None, HomeExtractor()))


def conversation(random: Random, count: int) -> list[Turn]:
    """Turns that replace, resemble and date one another, some arriving long after they were said."""
    turns = []
    for number in range(count):
        text = random.choice(SAYINGS).format(place=random.choice(PLACES), thing=random.choice(THINGS))
        minutes = number * 600 - (random.randint(0, 40_000) if random.random() < 0.2 else 0)
        turns.append(
            Turn(
                f"t{number}", f"s{number // 5}", random.choice(SPEAKERS), text.capitalize(),
                NOON + timedelta(minutes=minutes), caption=random.choice((None, None, "a dog on a beach")),
            )
        )  # fmt: skip
    return turns


def fresh(folder: Path, turns: Sequence[Turn]) -> Memory:
    memory = opened(folder / f"fresh-{len(list(folder.iterdir()))}.evimem")
    memory.extend(turns, strict=True)
    memory.enrich()
    return memory


def forgotten_at_random(memory: Memory, random: Random) -> None:
    """Forget by id and by session; add some of it again; cite turns in traces."""
    ids = [turn.id for turn in memory.turns()]
    for number in range(4):
        memory.keep_trace(Trace(f"question {number}", "iris", (Found(1, "anchor", tuple(random.sample(ids, 3))),)))
    again = [memory.turn(turn_id) for turn_id in random.sample(ids, 3)]
    memory.forget(turns=random.sample(ids, random.randint(1, 8)))
    memory.forget(session=f"s{random.randint(0, len(ids) // 5)}")
    memory.forget(before=NOON + timedelta(minutes=random.randint(-20_000, 6_000)))
    memory.extend([turn for turn in again if random.random() < 0.7])
    left = list(memory.turns())
    others = conversation(random, len(left))
    changed = [
        replace(turn, text=other.text) for turn, other in zip(left, others, strict=True) if random.random() < 0.2
    ]
    assert memory.extend(changed, strict=True, replace=True).refused == 0
    memory.enrich()


@pytest.mark.parametrize("count", sizes(12, nightly=2_000, reduced=2))
def test_after_forgetting_every_row_equals_that_of_a_memory_without_the_turns(disk, seed, count, tell):
    rows = 0
    with small_thresholds():
        for number in range(count):
            random = Random(f"{seed}/{number}")
            turns = conversation(random, 45)
            with opened(disk / f"{number}.evimem") as memory:
                for start in range(0, len(turns), 9):
                    memory.extend(turns[start : start + 9])
                memory.enrich()
                forgotten_at_random(memory, random)
                left = dump(memory)
                traces = left.pop("trace"), left.pop("trace_turn")
                with fresh(disk, list(memory.turns())) as without:
                    never = dump(without)
                    assert differences(left, {name: never[name] for name in left}) == [], (
                        f"seed {seed}, history {number}"
                    )
                cited = {turn_id for row in traces[1] for name, turn_id in row if name == "seq"}
                assert cited <= set(left["turns in order"]), "a trace of a forgotten turn was kept"
                memory.rebuild()
                assert differences(left, {name: dump(memory)[name] for name in left}) == [], (
                    f"seed {seed}, rebuild {number}"
                )
                rows += sum(map(len, left.values()))
    tell(f"{count} histories with forgetting, {rows} rows: 0 differ from those of a memory that never had the turns")


DAMAGE = {
    "documents are gone": "DELETE FROM document",
    "a document is gone": "DELETE FROM document WHERE row = (SELECT max(row) FROM document)",
    "a document has other words": """UPDATE document SET terms = '{"zebra":1}'""",
    "columns are zero": "UPDATE segment SET columns = zeroblob(length(columns)) WHERE number = 1",
    "dates are gone": "UPDATE segment SET events = '{}'",
    "vectors are gone": "UPDATE segment SET vectors = zeroblob(length(vectors)), scales = zeroblob(length(scales))",
    "the vectors of open documents are gone": "UPDATE document SET vector = NULL, scale = NULL",
    "passages are gone": "DELETE FROM passage",
    "postings are gone": "DELETE FROM posting",
    "a posting is gone": "DELETE FROM posting WHERE term = (SELECT max(term) FROM posting)",
    "a posting counts wrong": "UPDATE posting SET counts = zeroblob(length(counts))",
    "facts are gone": "DELETE FROM edge; DELETE FROM fact_vector; DELETE FROM fact",
    "a fact states something else": "UPDATE fact SET object = 'a zebra' WHERE row = (SELECT max(row) FROM fact)",
    "a fact has another date": "UPDATE fact SET event_start = '1999-01-01T00:00:00' WHERE event_start IS NOT NULL",
    "nothing was replaced": "UPDATE fact SET replaced_by = NULL",
    "the wrong thing was replaced": "UPDATE fact SET replaced_by = id WHERE replaced_by IS NULL AND topic IS NOT NULL",
    "links are gone": "DELETE FROM edge",
    "a link weighs more": "UPDATE edge SET weight = weight / 2",
    "the vectors of facts are gone": "DELETE FROM edge; DELETE FROM fact_vector",
    "jobs are gone": "DELETE FROM job",
}
DAMAGE["all of it is gone"] = (
    "DELETE FROM edge; DELETE FROM fact_vector; DELETE FROM fact; DELETE FROM document; DELETE FROM posting; "
    "DELETE FROM segment; DELETE FROM job"
)


@dataclass(frozen=True, slots=True)
class Whole:
    """Two memories of the same turns, of one of which some vectors are queued, and the rows that they should have."""

    path: Path
    queued: Path
    rows: Dump


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder, turns = tmp_path_factory.mktemp("derived"), conversation(Random("derived"), 43)
    paths = folder / "m.evimem", folder / "queued.evimem"
    with small_thresholds():
        for path, embedder in zip(paths, (WordEmbedder(64), Unreachable(64)), strict=True):
            with opened(path) as memory:
                memory.extend(turns[:40])
                memory.enrich()
                memory._core.embedder = embedder
                memory.extend(turns[40:])
        with fresh(folder, turns) as memory:
            return Whole(*paths, dump(memory))


@pytest.mark.parametrize("case", share(sorted(DAMAGE), 3, "lost rows"))
def test_lost_derived_rows_are_noticed_and_derived_again(disk, whole, case):
    path = copied(whole.queued if case == "jobs are gone" else whole.path, disk / "m.evimem")
    with small_thresholds(), opened(path) as memory:
        before = dump(memory)
        db = memory._core.store.db
        db.execute("PRAGMA foreign_keys=OFF")
        for statement in DAMAGE[case].split("; "):
            db.execute(statement)
        assert differences(dump(memory), before), "the damage changed nothing"
    with small_thresholds(), opened(path) as memory:
        assert memory.check().status == "degraded", "check() saw nothing wrong"
        memory.check(repair=True)
        memory.enrich()
        assert differences(dump(memory), whole.rows) == []
        assert memory.check().problems == ()


def test_facts_that_are_read_again_a_turn_a_transaction_have_the_same_links(disk, whole):
    path = copied(whole.path, disk / "m.evimem")
    with small_thresholds(), opened(path) as memory, patch.multiple(handle, HELD_SECONDS=0.0, MOST_HELD=0.0):
        for statement in DAMAGE["facts are gone"].split("; "):
            memory._core.store.db.execute(statement)
        memory.check(repair=True)
        memory.enrich()
        assert differences(dump(memory), whole.rows) == []


def test_results_do_not_change_when_a_memory_is_reopened(disk, seed):
    with small_thresholds(), opened(disk / "m.evimem") as memory:
        memory.extend(conversation(Random(seed), 60))
        memory.enrich()
        memory.forget(session="s3")
        first = [[(hit.turn.id, hit.score, hit.facts) for hit in memory.search(text, k=10)] for text in QUESTIONS]
    with opened(disk / "m.evimem") as memory:
        again = [[(hit.turn.id, hit.score, hit.facts) for hit in memory.search(text, k=10)] for text in QUESTIONS]
    assert again == first


def test_facts_that_got_their_vectors_late_are_linked_in_every_handle(disk):
    """Found by killing processes: the fact vectors cached by one handle never got rows smaller than its last."""
    early, later, last = (Turn(f"t{n}", "s", "Mira", "I love coffee.", NOON + timedelta(days=n)) for n in range(3))
    with opened(disk / "m.evimem") as memory, opened(disk / "m.evimem") as other:
        memory._core.embedder = Unreachable(64)
        memory.extend([early])
        memory._core.embedder = WordEmbedder(64)
        other.extend([later])
        memory.extend([last])
        db = memory._core.store.db
        db.execute("DELETE FROM job WHERE kind = 'vector'")  # what bumps the epoch; links alone must do it too
        memory.enrich()
        assert other._core.store.edges.count_facts_with_wrong_edges(0.7) == 0
        assert {hit.turn.id for hit in other.neighbours("t0")} == {"t1", "t2"}
