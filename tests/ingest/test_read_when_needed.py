"""Facts are read when they are first needed: no caller can tell that they were not read when the turn came."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import Memory, Turn
from evimem.api.core import PAGE_JOBS, Core
from evimem.extract.rule_extractor import RuleExtractor
from evimem.store.sqlite import SqliteStore
from tests.doubles import WordEmbedder

NOON = datetime(2024, 3, 12, 12)
SAID = (
    "I moved to {} yesterday.", "I live in {} now.", "Last week I visited {}.", "My dog is called {}.",
    "I work in {} since May 2023.", "Do you know {}?",
)  # fmt: skip
NAMES = ("Porto", "Lisbon", "Rex", "Bonn", "Graz", "Ghent")
ASKED = (
    "Where does Mira live?", "Who moved on 11 March 2024?", "What is the dog called?", "When did Tomas visit Graz?",
)  # fmt: skip


def turn(chance: random.Random, number: int) -> Turn:
    text = chance.choice(SAID).format(chance.choice(NAMES))
    said = NOON + timedelta(hours=chance.randrange(900))
    return Turn(f"t{number}", f"s{number % 3}", chance.choice(("Mira", "Tomas")), text, said)


def many(count: int) -> list[Turn]:
    return [turn(random.Random(number), number) for number in range(count)]


def opened(path: Path, segment: int = 32) -> Memory:
    """Open a memory whose segments are sealed early, and whose clock stands still."""
    embedder = WordEmbedder(16)
    return Memory(
        Core(
            SqliteStore(path, embedder.name, embedder.dimension, segment=segment),
            embedder,
            clock=lambda: 1_800_000_000.0,
        )
    )


Act = Callable[[Memory], Any]


def acts(chance: random.Random) -> Iterator[Act]:
    """Yield random calls; each returns what its caller sees."""
    for number in range(25):
        many, asked = [turn(chance, 10 * number + at) for at in range(chance.randrange(1, 4))], chance.choice(ASKED)
        gone, about = f"t{10 * chance.randrange(number + 1)}", chance.choice(("Mira", "Tomas", "Rex"))
        yield lambda memory, many=many: memory.extend(many).added
        yield chance.choice(
            (
                lambda memory, asked=asked: memory.search(asked, k=4),
                lambda memory, asked=asked: memory.search(asked, k=4, before=NOON + timedelta(days=9)),
                lambda memory, asked=asked: said(memory.ask(asked)),
                lambda memory, asked=asked: memory.block(asked),
                lambda memory, about=about: memory.facts(about=about),
                lambda memory, many=many: memory.neighbours(many[0].id),
                lambda memory, gone=gone: memory.forget(turns=[gone]).turns if has(memory, gone) else 0,
                lambda memory, many=many, about=about: memory.update(many[0].id, f"I live in {about}.").replaced,
                lambda memory: memory.rebuild(),
                lambda memory: memory.stats().facts,
            )
        )


def has(memory: Memory, turn_id: str) -> bool:
    return any(one.id == turn_id for one in memory.turns())


def said(answer: evimem.Answer) -> Any:
    return answer.text, answer.kind, answer.tier, answer.confidence, answer.citations


def exported_turns(path: Path) -> list[bytes]:
    """Return the lines of turns with their facts; the marks of forgotten ones are made with a key of each memory."""
    return [line for line in path.read_bytes().splitlines() if line.startswith(b'{"turn"')]


@pytest.mark.parametrize("seed", range(6))
def test_no_call_sees_whether_facts_were_read_before_it_or_when_the_turn_came(tmp_path, seed):
    with opened(tmp_path / "late.evimem") as late, opened(tmp_path / "early.evimem") as early:
        for act in acts(random.Random(seed)):
            assert act(late) == act(early)
            early.enrich()
        assert (late.check().problems, early.check().problems) == ((), ())
        assert late.stats().edges == early.stats().edges
        late.export(tmp_path / "late.jsonl"), early.export(tmp_path / "early.jsonl")
    assert exported_turns(tmp_path / "late.jsonl") == exported_turns(tmp_path / "early.jsonl") != []


def test_adding_reads_nothing_and_enriching_reads_all(tmp_path):
    with opened(tmp_path / "m.evimem") as memory:
        report = memory.extend(many(9))
        assert (report.facts, {one.pending for one in report.statuses}) == (0, {("facts",)})
        assert (memory.health().pending, memory.health().status) == ({"facts": 9}, "ok")
        assert (memory.enrich().done, memory.enrich().done, memory.health().pending) == (9, 0, {})


def test_a_search_that_asks_for_no_time_does_not_wait_for_a_large_import(tmp_path):
    with opened(tmp_path / "m.evimem") as memory:
        memory.extend(many(PAGE_JOBS + 1))
        found = memory.search("dog called Rex")
        assert memory.health().pending == {"facts": PAGE_JOBS + 1}
        assert [[fact.text for fact in hit.facts] for hit in found] == [
            [fact.text for fact in memory.facts([hit.turn.id])] for hit in found
        ]


class Counted(RuleExtractor):
    """The rules, and how many turns they read."""

    read = 0

    def extract(self, turn):
        Counted.read += 1
        return super().extract(turn)


WEEK = {"after": NOON + timedelta(days=7), "before": NOON + timedelta(days=14)}
DATED: dict[str, Act] = {
    "search": lambda memory: memory.search("Who moved on 17 March 2024?"),
    "search within": lambda memory: memory.search("Who moved to Porto?", **WEEK),
    "block": lambda memory: memory.block("Who moved on 17 March 2024?"),
    "stats": lambda memory: memory.stats(),
}


@pytest.mark.parametrize("call", DATED)
def test_a_search_for_a_time_reads_the_facts_of_its_candidates_only_beside_a_large_import(tmp_path, call):
    """It read those of every turn that waited: 3.7 s beside 10,000, 150 s beside 300,000."""
    with evimem.open(tmp_path / "m.evimem", extractor=Counted(), embedder=WordEmbedder(16)) as memory:
        memory.extend(many(2 * PAGE_JOBS))
        before = Counted.read
        DATED[call](memory)
        assert Counted.read - before <= 20
        assert memory.health().pending == {"facts": 2 * PAGE_JOBS}


def test_beside_a_large_import_a_search_within_bounds_finds_no_turn_of_a_dated_event_beyond_them(tmp_path):
    with opened(tmp_path / "m.evimem") as memory:
        memory.extend(many(PAGE_JOBS + 1))
        found = memory.search("Who moved to Porto yesterday?", **WEEK)
        assert memory.health().pending == {"facts": PAGE_JOBS + 1}
        events = [fact.event for hit in found for fact in memory.facts([hit.turn.id]) if fact.event]
        assert events
        assert all(one.start < WEEK["before"] and one.end > WEEK["after"] for one in events)


def test_what_searches_score_follows_facts_that_are_read_and_is_not_read_again(tmp_path):
    with opened(tmp_path / "m.evimem") as memory, opened(tmp_path / "m.evimem") as other:
        memory.extend(many(20)), memory.search("Rex"), other.search("Rex")
        before = [one._core.store._corpus for one in (memory, other)]
        memory.add("Mira", "I moved to Porto yesterday.", time=NOON)
        assert memory.search(ASKED[1]) == other.search(ASKED[1])
        after = [one._core.store._corpus for one in (memory, other)]
        assert all(one is two for one, two in zip(before, after, strict=True))


def test_several_handles_read_the_same_turns_at_once_and_no_fact_twice(tmp_path):
    with ExitStack() as stack:
        handles = [stack.enter_context(opened(tmp_path / "m.evimem")) for _ in range(3)]
        handles[0].extend(many(2 * PAGE_JOBS))
        counts = list[int]()
        threads = [threading.Thread(target=lambda one=one: counts.append(one.stats().facts)) for one in handles]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(set(counts)), len(counts), handles[0].check().problems) == (1, 3, ())


def test_a_file_that_takes_no_more_answers_from_what_is_read_and_health_says_what_is_not(tmp_path):
    with opened(tmp_path / "m.evimem") as memory:
        memory.extend(many(200))
        db = memory._core.store.db
        db.execute(f"PRAGMA max_page_count={db.read_value('PRAGMA page_count')}")
        assert memory.search("Rex")
        assert memory.ask(ASKED[2]).citations
        read = memory.facts(about="Mira")
        assert 0 < memory.health().pending["facts"] <= 200
        db.execute("PRAGMA max_page_count=100000")
        assert (len(memory.facts(about="Mira")) > len(read), memory.health().pending) == (True, {})
