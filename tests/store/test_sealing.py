"""Segments, rebuilds and forgetting: what is stored is a function of the turns and their order of arrival."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem import Memory, StoreError, Turn
from evimem.api.core import Core
from evimem.embedding.static_embedder import StaticEmbedder
from evimem.extract.rule_extractor import RuleExtractor
from evimem.index.document import documents, passages
from evimem.loaders.examples import load_example
from evimem.store import erase
from evimem.store.handle import WriteBudget
from evimem.store.rebuild import QUEUE_BATCH_TURNS
from evimem.store.sqlite import SqliteStore
from evimem.text.terms import stem
from evimem.types.stored import Entry
from tests.copies import copied
from tests.sizes import REDUCED, few


def some_long(turns: list[Turn]) -> list[Turn]:
    """The same turns, every twentieth with the text of the next dozen besides its own: several passages."""
    return [
        replace(turn, text=" ".join(other.text for other in turns[at : at + 12])) if at % 20 == 5 else turn
        for at, turn in enumerate(turns)
    ]


TURNS = some_long(list(load_example("friends"))[: 132 if REDUCED else None])
ROWS = sum(len(passages(turn.text)) for turn in TURNS)
QUESTIONS = ["Where does Mira live now?", "Which instrument does she play?", "What happened last summer?", "boat"]
# Everything that is derived, by the turn it belongs to: row numbers differ with history, content must not.
DERIVED = {
    "passage": "SELECT id, first, count FROM passage JOIN turn USING (seq) ORDER BY id",
    "document": "SELECT * FROM document ORDER BY row",
    "segment": "SELECT * FROM segment ORDER BY number",
    "posting": "SELECT * FROM posting ORDER BY term, number",
    "fact": "SELECT id, subject, predicate, object, event_start, span_start, topic, replaced_by FROM fact ORDER BY id",
    "edge": """SELECT min(a.id, b.id), max(a.id, b.id), edge.kind, round(weight, 5) FROM edge
        JOIN fact a ON a.row = source JOIN fact b ON b.row = target ORDER BY 1, 2, 3""",
    "fact_vector": "SELECT id, vector, scale FROM fact_vector JOIN fact USING (row) ORDER BY id",
    "job": "SELECT id, kind FROM job JOIN turn USING (seq) ORDER BY 1, 2",
}


def opened(path: Path, segment: int = 64) -> Memory:
    embedder = StaticEmbedder()
    return Memory(Core(SqliteStore(path, embedder.name, embedder.dimension, segment=segment), embedder))


def derived(memory: Memory) -> dict[str, list[object]]:
    db = memory._core.store.db
    return {table: db.rows(sql) for table, sql in DERIVED.items()}


def found(memory: Memory) -> list[list[tuple[str, float]]]:
    return [[(hit.turn.id, hit.score) for hit in memory.search(question, k=15)] for question in QUESTIONS]


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A closed memory of all turns, in sealed segments and an open one."""
    path = tmp_path_factory.mktemp("sealed") / "m.evimem"
    with opened(path) as memory:
        memory.extend(TURNS)
        memory.enrich()
    return path


@pytest.fixture
def path(template, tmp_path):
    return copied(template, tmp_path / "m.evimem")


def test_sealing_does_not_change_results(tmp_path):
    with opened(tmp_path / "open.evimem", segment=10_000) as whole, opened(tmp_path / "sealed.evimem") as sealed:
        for memory in (whole, sealed):
            memory.extend(TURNS)
        expected = found(whole)
        assert found(sealed) == expected
        assert sealed._core.store.db.read_value("SELECT count(*) FROM segment") == ROWS // 64
    with opened(tmp_path / "sealed.evimem") as again:
        assert found(again) == expected
        assert again.check().problems == ()


def test_a_handle_follows_another_across_a_seal(tmp_path):
    with opened(tmp_path / "m.evimem") as writer, opened(tmp_path / "m.evimem") as reader:
        for start in range(0, len(TURNS), 23):
            writer.extend(TURNS[start : start + 23])
            assert found(reader) == found(writer)


@pytest.mark.parametrize("segment", [64, 10_000])
def test_columns_read_at_once_equal_those_grown_turn_by_turn(tmp_path, segment):
    with opened(tmp_path / "m.evimem", segment) as memory:
        store = memory._core.store
        for number, turn in enumerate(TURNS):
            if number % 7 == 0:  # its vector is still queued
                store.write([Entry(replace(turn, role="user"))])
            else:
                memory.extend([turn])
                memory.stats()  # reads its facts
            if number == len(TURNS) // 2:  # rows without a turn, before others and at the end
                memory.forget(turns=[turn.id for turn in (*TURNS[40:50], turn)])
            grown = store.corpus()
        with store.db.reading():
            read = store.segments.corpus()
        for name in ("alive", "scale", "vectors", "event_start", "event_end"):
            assert np.array_equal(getattr(read, name)[read.alive], getattr(grown, name)[grown.alive]), name
        for name in "session speaker time turn part parts role rules length asks temporal".split():
            assert np.array_equal(getattr(read, name)[read.alive], getattr(grown, name)[read.alive]), name
        assert np.array_equal(read.dialogue.before.values, grown.dialogue.before.values)
        assert np.array_equal(read.dialogue.after.values, grown.dialogue.after.values)
        assert [read.events(at) for at in np.flatnonzero(read.alive)] == [
            grown.events(at) for at in np.flatnonzero(read.alive)
        ]
        for term in {term for turn in TURNS for document in documents(turn) for term in document.terms}:
            assert [part.tolist() for part in astuple(read.posting(term))] == [
                part.tolist() for part in astuple(grown.posting(term))
            ], term
        assert (read.turns, read.words) == (grown.turns, grown.words) == (len(TURNS) - 11, read.words)


def test_a_search_after_an_erasure_is_as_by_a_handle_that_reads_all_anew(path):
    """Beginning, middle and open rows; one alone, several, some that replace others, and a speaker's last."""
    with opened(path) as memory:
        found(memory)
        corpus, ids = memory._core.store.resident_corpus, [turn.id for turn in memory.turns()]
        erasures = (
            lambda: memory.forget(turns=ids[3:4]),
            lambda: memory.forget(turns=[*ids[20:60:3], *ids[-4:]]),
            lambda: memory.update(ids[70], "We bought a boat on 3 May 2021, and I play the piano."),
            lambda: memory.extend([replace(turn, text=f"{turn.text} Boat!") for turn in TURNS[80:84]], replace=True),
            lambda: memory.add("Zed", "The instrument is in the boat.", time=TURNS[9].time, id="late"),
            lambda: memory.forget(speaker="Zed"),
        )
        for erase_some in erasures:
            erase_some()
            here = found(memory)
            with opened(path) as other:
                assert found(other) == here
        assert memory._core.store.resident_corpus is corpus
        memory.rebuild()
        assert found(memory) == here


def test_an_erasure_that_is_undone_leaves_nothing_of_it_in_memory(path):
    with opened(path) as memory:
        before, ids = found(memory), [turn.id for turn in memory.turns()]
        path.with_name(f"{path.name}.ann").mkdir()  # the index of vectors, which an erasure deletes before its commit
        with pytest.raises(StoreError):
            memory.forget(turns=ids[:30])
        assert found(memory) == before


def test_a_rebuild_gives_the_same_rows_and_results(path):
    with opened(path) as memory:
        before = derived(memory), found(memory)
        memory.rebuild()
        assert (derived(memory), found(memory)) == before


class Undated(RuleExtractor):
    """The rules as in a version that read no dates."""

    def extract(self, turn):
        return tuple(replace(fact, event=None) for fact in super().extract(turn))


def steps_of_a_rebuild(memory, most):
    """Rebuild a memory, and end it after so many effects; return how many there were."""
    flow, answer = memory._core.rebuild(None, reread=False), None
    with closing(flow):
        for step in range(most):
            try:
                answer = memory._perform(flow.send(answer))
            except StopIteration:
                return step
    return most


def test_a_rebuild_that_ends_anywhere_leaves_a_right_memory_and_is_done_by_the_next(path, monkeypatch):
    monkeypatch.setattr(WriteBudget, "exceeded", lambda self: True)
    with opened(path) as memory:
        before, core, rules = derived(memory), memory._core, memory._core.extractor
        core.extractor = Undated()
        memory.rebuild()
        undated = derived(memory)
        total = steps_of_a_rebuild(memory, 10_000)
        for cut in range(1, total, 7):
            core.extractor = rules if cut % 2 else Undated()
            assert steps_of_a_rebuild(memory, cut) == cut
            wrong = [one for one in memory.check().problems if "has other facts than its text gives" not in one]
            assert wrong == [], f"ended after {cut} of {total}"
        core.extractor = rules
        memory.rebuild()
        assert derived(memory) == before != undated


def test_others_write_while_a_memory_is_rebuilt(path, monkeypatch):
    monkeypatch.setattr(WriteBudget, "exceeded", lambda self: True)
    with opened(path) as memory, opened(path) as other:
        count = 0
        for count, _ in enumerate(memory._core.store.rebuild(memory._core.extractor.name), start=1):
            other.add("Ben", f"I bought kite {count}.", time=TURNS[-1].time)
        assert count > len(TURNS) / QUEUE_BATCH_TURNS
        memory.enrich()
        assert (memory.stats().turns, memory.check().problems) == (len(TURNS) + count, ())


@few(3)
@given(gone=st.sets(st.integers(0, len(TURNS) - 1), min_size=1, max_size=40))
def test_forgetting_leaves_what_a_rebuild_without_the_turns_gives(gone, template, tmp_path_factory):
    with opened(copied(template, tmp_path_factory.mktemp("forget") / "m.evimem")) as memory:
        memory.forget(turns=[TURNS[index].id for index in gone])
        after = derived(memory)
        memory.rebuild()
        assert derived(memory) == after
        assert memory.check().problems == ()


@pytest.mark.parametrize("segment", [16, 10_000])
def test_rows_are_numbered_anew_when_many_numbers_are_unused(tmp_path, monkeypatch, segment):
    monkeypatch.setattr(erase, "SPARE_ROWS", 20)
    some = TURNS[:70]
    staying = some[5::4]
    gone = [turn.id for turn in some if turn not in staying]
    with opened(tmp_path / "m.evimem", segment) as memory, opened(tmp_path / "m.evimem", segment) as reader:
        memory.extend(some)
        found(reader)
        store = memory._core.store
        for start in range(0, len(gone), 30):
            memory.forget(turns=gone[start : start + 30])
            assert memory.check().problems == ()
            assert found(reader) == found(memory)
        rows = sum(len(passages(turn.text)) for turn in staying)
        assert len(store.corpus()) <= rows + max(rows // 8, 20), "numbers of erased rows were not given again"
        memory.extend(TURNS[120:126])
        with opened(tmp_path / "new.evimem", segment) as fresh:
            fresh.extend([*staying, *TURNS[120:126]])
            assert found(fresh) == found(memory) == found(reader)
        memory.enrich()
        before = derived(memory)
        memory.rebuild()
        assert derived(memory) == before


def test_numbering_anew_keeps_queued_vectors_and_events(tmp_path, monkeypatch):
    monkeypatch.setattr(erase, "SPARE_ROWS", 4)
    with opened(tmp_path / "m.evimem", 16) as memory:
        store = memory._core.store
        for number, turn in enumerate(TURNS[:60]):
            facts = memory._core.extractor.extract(turn)
            store.write([Entry(replace(turn, role="user"), facts)] if number % 3 else [])
            memory.extend([] if number % 3 else [turn])
        memory.forget(turns=[turn.id for turn in TURNS[:40]])
        assert memory.stats().turns == 20
        assert memory.health().pending["vector"] == 14
        assert memory.check().problems == ()
        memory.enrich()
        with opened(tmp_path / "new.evimem", 16) as fresh:
            fresh.extend([replace(turn, role="user") if at % 3 else turn for at, turn in enumerate(TURNS[:60])][40:])
            assert found(fresh) == found(memory)


def test_forgetting_everything_begins_the_numbers_anew(tmp_path):
    with opened(tmp_path / "m.evimem", 16) as memory:
        memory.extend(TURNS[:40])
        memory.forget(everything=True)
        memory.extend(TURNS[40:45])
        rows = sum(len(passages(turn.text)) for turn in TURNS[40:45])
        assert len(memory._core.store.corpus()) == rows
        assert memory.check().problems == ()


def interleaved(order: Iterable[int]) -> list[Turn]:
    """Turns of all sessions, in an order that keeps each session's own."""
    sessions: dict[str, list[Turn]] = {}
    for turn in TURNS:
        sessions.setdefault(turn.session, []).append(turn)
    queues = [list(reversed(turns)) for turns in sessions.values()]
    mixed = []
    for choice in order:
        waiting = [queue for queue in queues if queue]
        if waiting:
            mixed.append(waiting[choice % len(waiting)].pop())
    return mixed + [turn for queue in queues for turn in reversed(queue)]


@few(2)
@given(order=st.lists(st.integers(0, 97), max_size=len(TURNS)))
def test_any_interleaving_that_keeps_each_session_finds_the_same(order, template, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mix")
    with opened(copied(template, folder / "a.evimem")) as plain, opened(folder / "b.evimem") as mixed:
        mixed.extend(interleaved(order))
        mixed.enrich()
        for first, second in zip(found(plain), found(mixed), strict=True):
            assert sorted(first) == sorted(second) or {s for _, s in first} == {s for _, s in second}
        assert derived(mixed)["fact"] == derived(plain)["fact"]


def test_terms_that_begin_alike_are_read_of_sealed_rows_and_open_ones(tmp_path: Path) -> None:
    physical = ("physique", "physics", "physiotherapist", "physician")
    with opened(tmp_path / "m.evimem", segment=4) as memory:
        for number, word in enumerate((*physical[:3], "phone", "rain", physical[3])):
            memory.add("Mira", f"{word} {number}", time="2024-03-12T18:20")
        memory.search("rain")
        corpus = memory._core.store.corpus()
        assert corpus.terms_beginning("phy") == sorted(
            map(stem, ("physique", "physics", "physiotherapist", "physician"))
        )
        assert memory.search("the physioterapyst", k=1)[0].turn.text == "physiotherapist 2"
