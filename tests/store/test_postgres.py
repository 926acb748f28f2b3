"""A memory on a PostgreSQL server: the same answers as from a file, and users who do not meet."""

from __future__ import annotations

import asyncio
import logging
import os
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

import evimem
from evimem.api.open import key_of
from evimem.cli.arguments import run_command_line
from evimem.loaders.examples import load_example
from tests.sizes import sizes

QUESTIONS = ("Where does she live now?", "What did they do last summer?", "Who plays an instrument?", "What is my dog?")


@pytest.fixture
def user(tmp_path: Path) -> str:
    return str(tmp_path)


def sealed_early() -> Any:
    from evimem.store.postgres_store import PostgresStore  # noqa: PLC0415

    return patch.dict(PostgresStore.__init__.__kwdefaults__, segment=64)  # type: ignore[arg-type]


@contextmanager
def both(address: str, tmp_path: Path) -> Iterator[list[evimem.Memory]]:
    file = evimem.open(tmp_path / "m.evimem")
    with file, evimem.open(address, user=str(tmp_path)) as served:
        yield [file, served]


@pytest.mark.parametrize("count", sizes(400, nightly=2_000, reduced=80))
def test_a_chat_has_the_same_answers_as_in_a_file_to_the_last_bit(postgres: str, tmp_path: Path, count: int) -> None:
    said = load_example("friends")
    said = [replace(turn, id=f"{turn.id}/{n}") for n in range(-(-count // len(said))) for turn in said][:count]
    with sealed_early(), both(postgres, tmp_path) as memories:
        for memory in memories:
            memory.extend(said, strict=True)
            memory.forget(turns=[turn.id for turn in list(memory.turns())[3 : count // 2 : 9]])
        file, served = memories
        for question in QUESTIONS:
            assert served.search(question, k=12) == file.search(question, k=12)
            assert [served.ask(question).to_dict() | {"usage": None, "trace": None}] == [
                file.ask(question).to_dict() | {"usage": None, "trace": None}
            ]
            assert served.block(question).text == file.block(question).text
        assert served.facts(about="Nora") == file.facts(about="Nora")
        ids = [turn.id for turn in file.turns()][:400]
        assert served.facts(turns=ids) == file.facts(turns=ids)
        for memory in memories:
            memory.enrich()  # in a large memory, links wait for it, and from which turn on differs
        assert [served.neighbours(one) for one in ids[:9]] == [file.neighbours(one) for one in ids[:9]]


def test_a_search_after_an_erasure_is_as_by_a_handle_that_reads_all_anew(postgres: str, user: str) -> None:
    with sealed_early(), evimem.open(postgres, user=user) as memory:
        memory.extend(load_example("friends"), strict=True)
        ids = [turn.id for turn in memory.turns()]
        memory.search(QUESTIONS[0])
        corpus = memory._core.store.resident_corpus  # type: ignore[attr-defined]
        for erase in (lambda: memory.forget(turns=ids[5:50:4]), lambda: memory.update(ids[8], "My dog is Rex.")):
            erase()
            with evimem.open(postgres, user=user) as other:
                for question in QUESTIONS:
                    assert memory.search(question, k=12) == other.search(question, k=12)
        assert memory._core.store.resident_corpus is corpus  # type: ignore[attr-defined]


def test_what_another_handle_has_added_is_in_the_next_search(postgres: str, user: str) -> None:
    with evimem.open(postgres, user=user) as one, evimem.open(postgres, user=user) as two:
        one.search("Porto")
        two.add("Mira", "I moved to Porto.", time="2024-03-12T18:20", id="a")
        assert [hit.turn.id for hit in one.search("Porto")] == ["a"]
        two.forget(turns=["a"])
        assert one.search("Porto") == []


def test_users_of_one_server_do_not_meet(postgres: str, user: str) -> None:
    with evimem.open(postgres, user=f"{user}/a") as one, evimem.open(postgres, user=f"{user}/b") as two:
        one.add("Mira", "The code is 4711.", time="2024-03-12T18:20", id="a")
        assert two.search("code") == []
        assert two.add("Mira", "Hello.", time="2024-03-12T18:20", id="a").added == 1
        two.forget(everything=True)
        assert [turn.text for turn in one.turns()] == ["The code is 4711."]


def test_a_server_wants_a_user_and_a_file_none(postgres: str, tmp_path: Path) -> None:
    with pytest.raises(evimem.InvalidQuery, match="user"):
        evimem.open(postgres)
    with pytest.raises(evimem.InvalidQuery, match="file"):
        evimem.open(tmp_path / "m.evimem", user="mira")


@pytest.mark.parametrize("address", ["postgresql://[", "postgresql://h/d?nothing=1", "postgres://h/d?evimem_key=12"])
def test_an_address_that_cannot_be_read_is_refused(postgres: str, address: str) -> None:
    with pytest.raises(evimem.InvalidQuery, match="address"):
        evimem.open(address, user="mira")


def test_a_role_that_sees_all_users_is_refused(postgres: str) -> None:
    with pytest.raises(evimem.StoreError, match="superuser"):
        evimem.open(postgres.replace("evimem@", "postgres@"), user="mira")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://evimem:pa55-word@/evimem?host=/nowhere",
        "postgresql://evimem:pa55-word@/evimem?host=/nowhere&connect_timeout=soon",
        "postgresql://evimem:pa55-word@127.0.0.1:1/evimem",
        "postgresql://evimem:pa55-word@[/evimem",
        "postgresql://evimem@/evimem?password=pa55-word&host=/nowhere&evimem_key=pa55-word",
        Path("postgresql://evimem:pa55-word@/evimem?host=/nowhere"),
    ],
)
def test_a_password_is_in_no_error(postgres: str, address: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(evimem.EvimemError) as caught:
        evimem.open(address, user="mira")
    assert "pa55" not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(evimem.EvimemError) as caught:
        evimem.MemoryPool(address).count()
    assert "pa55" not in "".join(traceback.format_exception(caught.value))
    assert run_command_line(["stats", str(address), "--user", "mira"]) in {2, 4, 5}
    assert "pa55" not in capsys.readouterr().err


def test_a_password_is_in_no_representation(postgres: str, user: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    address = postgres.replace("evimem@", "evimem:pa55-word@")
    with evimem.open(address, user=user) as memory:
        memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20")
        shown = (repr(memory), repr(memory._core), repr(memory._core.store), memory.stats(), memory.health())
    with evimem.MemoryPool(address) as pool:
        shown = (*shown, repr(pool), repr(pool._place))
    assert "pa55" not in f"{shown}{caplog.text}"


@pytest.mark.parametrize("address", ["postgresql+psycopg://u:pa55@h/x", "mysql://u:pa55@h/x", "sqlite:///m.db"])
def test_the_address_of_another_service_is_no_file(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for opened in (evimem.open, evimem.open_async, evimem.MemoryPool):
        with pytest.raises(evimem.InvalidQuery, match="postgresql://") as caught:
            opened(address)
        assert "pa55" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_cannot_hold_every_text_is_refused_at_once(postgres: str) -> None:
    import psycopg  # noqa: PLC0415

    with psycopg.connect(postgres.replace("evimem@", "postgres@"), autocommit=True) as db:
        db.execute("DROP DATABASE IF EXISTS latin")
        db.execute(
            "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0 OWNER evimem"
        )
    with pytest.raises(evimem.StoreError, match="LATIN1; expected UTF8"):
        evimem.open(postgres.replace("/evimem?", "/latin?"), user="mira")


def test_a_server_that_is_not_there_says_to_try_again(postgres: str) -> None:
    with pytest.raises(evimem.StoreUnavailable) as caught:
        evimem.open("postgresql://evimem@/evimem?host=/nowhere", user="mira")
    assert caught.value.retryable


def test_a_pool_on_a_server_opens_counts_and_erases_users(postgres: str, user: str) -> None:
    with evimem.MemoryPool(postgres, capacity=2) as pool:
        for name in ("a", "b", "c"):
            with pool.open(f"{user}/{name}") as memory:
                memory.add("Mira", f"I am {name}.", time="2024-03-12T18:20")
        assert f"{user}/b" in pool
        assert pool.count() >= 3, "other tests have users here too"
        assert pool.erase(f"{user}/b").turns == 1
        assert f"{user}/b" not in pool
        assert pool.bytes() > 0
        with pool.open(f"{user}/a") as memory:
            assert [turn.text for turn in memory.turns()] == ["I am a."]


def test_a_memory_erased_by_another_pool_is_opened_anew(postgres: str, user: str) -> None:
    with evimem.MemoryPool(postgres) as one, evimem.MemoryPool(postgres) as two:
        with one.open(user) as memory:
            memory.add("Mira", "Hello.", time="2024-03-12T18:20")
        two.erase(user)
        with one.open(user) as memory, pytest.raises(evimem.StoreRolledBack):
            memory.search("Hello")
        with one.open(user) as memory:
            assert memory.search("Hello") == []


def test_the_asynchronous_door_stands_on_a_server_too(postgres: str, user: str) -> None:
    async def use() -> Any:
        async with evimem.open_async(postgres, user=user) as memory:
            await memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20")
            return await memory.ask("Where did Mira move?")

    assert "Porto" in asyncio.run(use()).text


def test_an_export_of_a_server_is_that_of_a_file(postgres: str, tmp_path: Path) -> None:
    with both(postgres, tmp_path) as memories:
        for number, memory in enumerate(memories):
            memory.extend(load_example("friends")[:40])
            memory.enrich()
            memory.export(tmp_path / f"{number}.jsonl")
        assert (tmp_path / "0.jsonl").read_bytes() == (tmp_path / "1.jsonl").read_bytes()
        assert memories[1].check().problems == ()
        memories[1].rebuild()
        assert memories[1].check().problems == ()


def test_metadata_selects_on_a_server_as_in_a_file(postgres: str, tmp_path: Path) -> None:
    wanted = ({"page": {"$gt": 2}}, {"page": {"$ne": 3}}, {"tag": {"$in": ["x", "z"]}}, {"tag": {"$prefix": "y"}})
    with both(postgres, tmp_path) as memories:
        for memory in memories:
            for page in range(6):
                data = {"page": page, "tag": "xyz"[page % 3]}
                memory.add("Mira", f"Page {page}.", time="2024-03-12T18:20", id=f"p{page}", metadata=data)
        file, served = memories
        for where in wanted:
            assert served.search("page", where=where) == file.search("page", where=where)
            assert list(served.turns(where=where)) == list(file.turns(where=where))


def test_what_is_forgotten_is_in_no_row_of_any_table(postgres: str, user: str) -> None:
    from evimem.store.postgres_store import tenant_of  # noqa: PLC0415

    with evimem.MemoryPool(postgres) as pool:
        with pool.open(user) as memory:
            memory.add(
                "Mira",
                "I moved to Zqobluvek.",
                time="2024-03-12T18:20",
                id="a",
                session="Zqobluvek",
            )
            memory.add("Mira", "I like tea.", time="2024-03-12T18:21", id="b")
            memory.keep_trace(memory.ask("Who moved to Zqobluvek?").trace)
            assert {"turn", "fact", "session", "trace"} <= set(rows_with(postgres, "zqobluvek"))
            memory.forget(turns=["a"])
            assert rows_with(postgres, "zqobluvek") == {}
        tenant = tenant_of(key_of(user))
        assert "turn" in rows_with(postgres, tenant)
        pool.erase(user)
        assert rows_with(postgres, tenant) == {}


def rows_with(postgres: str, words: str) -> dict[str, int]:
    """How many rows hold words, as text or as bytes, by their table, of all users: a superuser sees them."""
    import psycopg  # noqa: PLC0415

    with psycopg.connect(postgres.replace("evimem@", "postgres@")) as db:
        names = db.execute("SELECT schemaname, tablename FROM pg_tables WHERE schemaname LIKE 'evimem%'").fetchall()
        sql = "SELECT count(*) FROM {}.{} AS whole WHERE strpos(lower(whole::text), %s) + strpos(whole::text, %s) > 0"
        given = (words, words.encode().hex())
        counts = {name: db.execute(sql.format(schema, name), given).fetchone()[0] for schema, name in names}
    return {name: count for name, count in counts.items() if count}


def test_a_server_that_is_older_than_what_was_seen_is_refused(postgres: str, user: str) -> None:
    import psycopg  # noqa: PLC0415

    from evimem.store.postgres_store import tenant_of  # noqa: PLC0415

    with evimem.open(postgres, user=user) as memory:
        memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20")
        memory.search("Porto")
        with psycopg.connect(postgres.replace("evimem@", "postgres@")) as db:  # as a failover to a replica behind does
            of_user = "WHERE tenant = %s AND key = 'commits'"
            db.execute(f"UPDATE evimem.meta SET value = '0' {of_user}", (tenant_of(key_of(user)),))
        for call in (lambda: memory.search("Porto"), lambda: memory.add("Mira", "Hi.", time="2024-03-12T18:21")):
            with pytest.raises(evimem.StoreRolledBack):
                call()


def test_tables_of_a_later_version_are_left_alone(postgres: str, tmp_path: Path) -> None:
    import psycopg  # noqa: PLC0415

    name = f"later_{os.getpid()}"
    with psycopg.connect(postgres.replace("evimem@", "postgres@"), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name} OWNER evimem")
    address = postgres.replace("/evimem?", f"/{name}?")
    with evimem.open(address, user="mira"):
        pass
    with psycopg.connect(address) as db:
        db.execute("INSERT INTO evimem.migration VALUES (99)")
    with pytest.raises(evimem.NewerSchema):
        evimem.open(address, user="mira")


def test_a_handle_that_was_closed_is_closed(postgres: str, user: str) -> None:
    memory = evimem.open(postgres, user=user)
    with closing(memory):
        pass
    with pytest.raises(evimem.StoreClosed):
        memory.search("Porto")


def test_a_call_waits_for_the_server_as_often_for_many_turns_as_for_few(postgres: str, user: str) -> None:
    turns = [replace(turn, id=f"t{n}", session="s", speaker="Mira") for n, turn in enumerate(load_example("friends"))]
    with evimem.open(postgres, user=user) as memory:
        memory.extend(turns[:16])
        few = waits(memory, lambda: memory.extend(turns[16:32], strict=True))
        assert waits(memory, lambda: memory.extend(turns[32:160], strict=True)) == few
        memory.enrich()
        memory.search("Porto")
        assert waits(memory, lambda: memory.search("Porto", k=2)) == waits(memory, lambda: memory.search("Porto", k=40))


def test_how_often_a_call_waits_for_the_server(postgres: str, user: str) -> None:
    with evimem.open(postgres, user=user) as memory:
        memory.extend(load_example("friends")[:100])
        memory.enrich()
        memory.ask("When did Mira adopt her puppy?")
        assert waits(memory, lambda: memory.search("Where is Porto?")) == 1
        assert waits(memory, lambda: memory.block("Where does Mira live?")) <= 6, (
            "2, one for later mentions, and a page of facts each"
        )
        assert waits(memory, lambda: memory.ask("When did Mira adopt her puppy?")) == 8
        assert waits(memory, lambda: memory.add("Mira", "Hello.", time="2031-03-12T18:20")) == 2
        said = [{"role": "user", "content": "I am off."}, {"role": "assistant", "content": "Have fun!"}]
        memory.remember(said, session="chat", time="2031-03-12T18:20")
        assert waits(memory, lambda: memory.remember(said, session="chat", time="2031-03-12T18:21")) <= 4
        memory.add("Mira", "I saw a film yesterday.", time="2031-03-12T18:30")
        assert waits(memory, lambda: memory.block("What did Mira see last week?")) <= 17, "the facts of what is new too"
        assert waits(memory, lambda: memory.extend(load_example("friends")[100:], strict=True)) == 3
        assert waits(memory, memory.enrich) <= 36
    with evimem.open(postgres, user=user) as memory:
        assert memory._core.store.db.round_trips == 2  # type: ignore[attr-defined]
        assert waits(memory, lambda: memory.search("Where is Porto?")) == 3


def test_sealed_columns_are_read_at_once_and_their_postings_by_the_question(postgres: str, user: str) -> None:
    with sealed_early(), evimem.open(postgres, user=user) as memory:
        memory.extend(load_example("friends"))
        memory.enrich()
    with evimem.open(postgres, user=user) as memory:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]
        assert db.read_value("SELECT count(*) FROM segment") > 1
        assert waits(memory, lambda: memory.search("What did Mira see in summer?")) == 4, (
            "speakers, columns, postings, turns"
        )
        assert waits(memory, lambda: memory.search("What did Mira see in summer?")) == 1


def test_what_was_expected_and_is_no_longer_so_is_asked_again(postgres: str, tmp_path: Path) -> None:
    chance, said = Random(11), load_example("friends")[:60]
    ids = [f"t{number}" for number in range(12)]
    with both(postgres, tmp_path) as (file, served), evimem.open(postgres, user=str(tmp_path)) as other:
        for _ in range(25):
            turn = replace(chance.choice(said), id=chance.choice(ids), speaker=chance.choice(["Mira", "Tomas", "Ana"]))
            change = chance.choice(["add", "add", "forget", "enrich"])
            gone = [one for one in ids_of(file) if one == turn.id] or ids_of(file)[:1]
            for memory in (file, chance.choice([served, other])):
                if change == "add":
                    memory.extend([turn], replace=True)
                elif change == "enrich":
                    memory.enrich()
                else:
                    memory.forget(turns=gone)
            for memory in (served, other):
                kept = ids_of(file)
                assert ids_of(memory) == kept
                for question in ("Where does Mira live?", "What did Ana say of Tomas?"):
                    assert memory.search(question, k=5) == file.search(question, k=5)
                assert memory.facts(turns=kept) == file.facts(turns=kept)
                assert [memory.neighbours(one) for one in kept[:3]] == [file.neighbours(one) for one in kept[:3]]
                assert memory.ask("Where does Mira live?").text == file.ask("Where does Mira live?").text


def ids_of(memory: evimem.Memory) -> list[str]:
    return [turn.id for turn in memory.turns()]


def test_threads_share_a_memory(postgres: str, user: str) -> None:
    def write(memory: evimem.Memory, thread: int) -> None:
        for number in range(6):
            memory.add("Mira", f"Note {number}.", time="2024-03-12T18:20", id=f"{thread}-{number}")
            memory.search("note")

    with evimem.open(postgres, user=user) as memory, ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(write, memory, thread) for thread in range(4)]:
            done.result()
        assert len(list(memory.turns())) == 24


def waits(memory: evimem.Memory, call: Callable[[], object]) -> int:
    """How many round trips a call makes."""
    db: Any = memory._core.store.db  # type: ignore[attr-defined]
    before = db.round_trips
    call()
    return int(db.round_trips - before)
