"""Memories that earlier versions wrote are opened by this one with every turn, their past, and their queued jobs."""

import hashlib
import json
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

import evimem
from evimem import Memory, MemoryPool, TraceMismatch, Turn, TurnConflict
from evimem.db.connection import Connection
from evimem.db.schema import MIGRATIONS, apply_migration
from evimem.store.handle import RULES_VERSION
from evimem.testing import ScriptedModel
from evimem.types.trace import Trace
from tests.doubles import FakeClock
from tests.golden.make import EMBEDDER, USERS, reply, said
from tests.reliability.support.tables import differences, dump

HERE = Path(__file__).parent
SCHEMAS = sorted(HERE.glob("schema-*"), key=lambda folder: int(folder.name.partition("-")[2]))
FORGOTTEN = {"t3", "t20", *(f"t{number}" for number in range(18, 27))}
LATE = [replace(turn, id=f"late-{turn.id}") for turn in said(5)]
KEPT = [turn for turn in said(44) if turn.id not in FORGOTTEN] + LATE
LATER = FakeClock(1.8e9)
READ = {1: "bd8539b1431f760b"}  # what the rules of a number make of `said`


@pytest.fixture(params=SCHEMAS, ids=lambda folder: folder.name)
def golden(request, tmp_path):
    """A copy of the files of one schema, to be opened and changed."""
    return Path(shutil.copytree(request.param, tmp_path / "golden"))


def opened(golden: Path, llm: object = None) -> Memory:
    return evimem.open(golden / "memory.evimem", embedder=EMBEDDER, llm=llm, clock=LATER)


def fresh(folder: Path, turns: list[Turn]) -> Memory:
    memory = evimem.open(folder / "fresh.evimem", embedder=EMBEDDER)
    memory.extend(turns, strict=True)
    memory.enrich()
    return memory


def test_every_schema_has_its_golden_memories():
    assert [folder.name for folder in SCHEMAS] == [f"schema-{number}" for number in range(1, len(MIGRATIONS) + 1)]
    assert all(file.stat().st_size < 200_000 for folder in SCHEMAS for file in folder.rglob("*.evimem"))


def test_migrations_are_appended_and_never_changed(golden, tmp_path):
    """The tables of a file of an earlier version are those that the first migrations make today."""
    with closing(apsw.Connection(str(golden / "memory.evimem"))) as old:
        number = old.pragma("user_version")
        tables = old.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name").fetchall()
    db = Connection(tmp_path / "fresh.evimem")
    with db.writing():
        for migration in MIGRATIONS[:number]:
            apply_migration(db, migration)
    assert db.rows("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name") == tables
    db.close()


def test_every_turn_is_there_as_it_was_said(golden):
    with opened(golden) as memory:
        assert list(memory.turns()) == KEPT
        assert memory.stats().schema == len(MIGRATIONS)


def test_it_is_searched_asked_and_written(golden):
    with opened(golden) as memory:
        hits = memory.search("Mira violin Lisbon", k=3)
        assert all("violin" in hit.turn.text for hit in hits)
        assert len(memory.search("anything", k=100)) == len(KEPT)
        assert len(memory.search("Mira", session="s0", k=100)) == sum(turn.session == "s0" for turn in KEPT)
        answer = memory.ask("Which animal did Tomas adopt?")
        assert answer.abstained or answer.citations
        assert memory.neighbours("t0")
        assert memory.add("Mira", "And on it goes.", time=LATE[-1].time).added == 1
        with pytest.raises(TurnConflict):
            memory.add("Mira", "Something else.", time=LATE[0].time, id="t0")


def test_it_is_outdated_and_not_damaged_until_it_is_rebuilt(golden, capsys):
    with evimem.open(golden / "crashed.evimem", embedder=EMBEDDER) as memory:
        memory.enrich()
        seen = [memory.health(), memory.check()]
        assert [health.status for health in seen] == ["outdated", "outdated"]
        assert all("rebuild()" in health.problems[0] for health in seen)
        memory._core.store.db.execute("DELETE FROM passage WHERE seq = 2")
        assert memory.check().status == "degraded"
        memory.rebuild()
        assert (memory.check().status, memory.check().problems) == ("ok", ())


def test_rows_of_todays_rules_are_those_that_the_number_of_the_rules_stands_for(tmp_path):
    with fresh(tmp_path, said(44)) as memory:
        rows = json.dumps(dump(memory)["index"], sort_keys=True, default=str)
        facts = "\n".join(repr(replace(fact, replaced_by=None)) for fact in memory.facts([one.id for one in said(44)]))
    digest = hashlib.sha256(f"{rows}{facts}".encode()).hexdigest()[:16]
    assert {RULES_VERSION: digest} == READ, (
        "the same turns give other rows: raise RULES with the next release, and change READ"
    )


def test_its_trace_its_dead_letters_and_its_queued_jobs_are_carried_over(golden):
    model = ScriptedModel(then=reply)
    with opened(golden, model) as memory:
        assert memory.trace().question == "Where does Mira live?"
        health = memory.health()
        assert health.failed == {"extract": len([turn for turn in KEPT[: -len(LATE)] if "DROP TABLE" in turn.text])}
        assert health.pending["vector"] == health.pending["extract"] == len(LATE)
        memory.enrich()
        assert memory.health().pending == {}
        owned = [
            fact.text for turn_id in ("t0", "late-t0") for fact in memory.facts([turn_id]) if fact.extractor == "llm"
        ]
        assert len(owned) == 2


@pytest.mark.parametrize(("read", "found"), [({}, "version 1"), ({"version": 4}, "version 4")])
def test_a_trace_of_another_version_is_read_and_never_replayed_to_another_answer(golden, read, found):
    text = (HERE / "trace-1.json").read_text()
    trace = Trace.from_json(text)
    assert trace.to_json() == text.strip()
    begun = replace(trace.events[0], detail={**trace.events[0].detail, **read})
    with opened(golden) as memory, pytest.raises(TraceMismatch, match=f"{found}.*ask the question again"):
        evimem.replay(replace(trace, events=(begun, *trace.events[1:])), memory)


def test_derived_again_it_equals_a_memory_made_today(golden, tmp_path):
    with opened(golden) as memory:
        memory.rebuild()
        memory.enrich()
        assert [one for one in memory._core.store.find_damage(memory._core.extractor) if isinstance(one, str)] == []
        upgraded = dump(memory)
    with fresh(tmp_path, KEPT) as made:
        today = dump(made)
        in_columns = {name: today[name] for name in ("turn", "session", "speaker", "index")}
        assert differences({name: upgraded[name] for name in in_columns}, in_columns) == []
        by_rules = [fact for turn in KEPT for fact in made.facts([turn.id])]
    with opened(golden) as memory:
        kept = [fact for turn in KEPT for fact in memory.facts([turn.id])]
        by_model = {fact.turn_id for fact in kept if fact.extractor == "llm"}
        assert by_model, "no file with facts of a model, which an earlier version kept beside those by rule"
        of_rules = {fact.id for fact in by_rules if fact.turn_id not in by_model}
        assert {fact.id for fact in kept if fact.extractor == "rules"} == of_rules != set()


def test_the_users_of_a_pool_find_their_own(golden):
    with MemoryPool(golden / "pool", embedder=EMBEDDER) as pool:
        for user, first in zip(USERS, (0, 20), strict=True):
            with pool.open(user) as memory:
                assert list(memory.turns()) == said(first + 20)[first:]
                assert {hit.turn.id for hit in memory.search("Mira", k=99)} == {f"t{first + n}" for n in range(20)}


def test_one_that_was_not_closed_is_read_from_its_log(golden):
    with evimem.open(golden / "crashed.evimem", embedder=EMBEDDER) as memory:
        assert list(memory.turns()) == said(6)
