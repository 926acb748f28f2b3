"""A server that is killed loses nothing that was acknowledged, and who calls is told to try again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import evimem
from evimem.cli.arguments import Exit, run_command_line
from tests import postgres_server
from tests.postgres_server import Programs
from tests.sizes import sizes


@pytest.fixture(scope="module")
def own() -> Iterator[Programs]:
    """A server of these tests, which start and end it: that of the run is not to be killed."""
    postgres_server.need()
    bin_folder = postgres_server.programs()
    assert bin_folder is not None
    found = Programs(Path(tempfile.mkdtemp(prefix="evimem-pg-own-")), bin_folder)
    try:
        found.initialized()
        with stopping(found.serve()):
            found.with_database()
        yield found
    finally:
        shutil.rmtree(found.home, ignore_errors=True)


@contextmanager
def stopping(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End a server after a block, as who runs it does."""
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def killed(server: Programs) -> None:
    """Kill a server and all its processes, as the kernel does that runs out of memory; it frees nothing."""
    pid = int((server.home / "data" / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for one in (pid, *map(int, children)):
        os.kill(one, signal.SIGKILL)
    while any(Path(f"/proc/{one}/cmdline").read_bytes() for one in children if Path(f"/proc/{one}").exists()):
        time.sleep(0.01)


@pytest.mark.parametrize("kills", sizes(10, reduced=2))
def test_a_killed_server_keeps_every_acknowledged_turn(own: Programs, kills: int) -> None:
    process = own.serve()
    stored, told = list[str](), list[evimem.StoreError]()
    ended = threading.Event()

    def write() -> None:
        with evimem.open(postgres_server.address(own.home), user="mira") as memory:
            number = 0
            while not ended.is_set():
                try:
                    memory.add("Mira", f"Note {number}.", time="2024-03-12T18:20", id=f"t{number}")
                except evimem.StoreError as error:
                    told.append(error)
                    time.sleep(0.05)
                    continue  # the same turn again
                stored.append(f"t{number}")
                number += 1

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(kills):
        had = len(stored)
        while len(stored) < had + 5:
            time.sleep(0.01)
        killed(own)
        process.wait()
        process = own.serve()
    had = len(stored)
    while len(stored) < had + 5:
        time.sleep(0.01)
    ended.set()
    writer.join()
    with stopping(process), evimem.open(postgres_server.address(own.home), user="mira") as memory:
        assert [turn.id for turn in memory.turns()] == stored
        assert memory.check().problems == ()
    assert told
    assert all(isinstance(error, evimem.StoreUnavailable) and error.retryable for error in told), told


def test_a_server_that_was_restarted_between_two_calls_is_not_noticed(own: Programs) -> None:
    first = own.serve()
    with evimem.open(postgres_server.address(own.home), user="tomas") as memory:
        with stopping(first):
            memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20", id="a")
        with stopping(own.serve()):
            assert [hit.turn.id for hit in memory.search("Porto")] == ["a"]
            assert memory.add("Mira", "I like it.", time="2024-03-12T18:21").added == 1


def test_a_connection_that_is_lost_with_its_commit_leaves_a_writer_in_doubt(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with evimem.open(postgres, user=str(tmp_path)) as memory:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]

        def block() -> None:
            with db.writing():
                backend, sync = db.read_value("SELECT pg_backend_pid()"), db._sync
                monkeypatch.setattr(db, "_sync", lambda: (cut(postgres, backend), sync()))

        with pytest.raises(evimem.StoreUnavailable) as caught:
            block()
        monkeypatch.undo()
        assert (caught.value.retryable, caught.value.in_doubt) == (True, True)
        assert memory.add("Mira", "I like it.", time="2024-03-12T18:21").added == 1


def test_a_connection_that_is_lost_once_all_was_read_is_not_missed(postgres: str, tmp_path: Path) -> None:
    with evimem.open(postgres, user=str(tmp_path)) as memory:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]
        for _ in range(12):  # more than there are connections
            with db.reading():
                cut(postgres, db.read_value("SELECT pg_backend_pid()"))
        assert memory.add("Mira", "I like it.", time="2024-03-12T18:21").added == 1
        assert len(memory.search("like")) == 1


def test_what_the_server_refuses_before_a_commit_leaves_no_doubt(postgres: str, tmp_path: Path) -> None:
    with evimem.open(postgres, user=str(tmp_path)) as memory:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]

        def block() -> None:
            with db.writing():
                db.execute("SET LOCAL statement_timeout = 1")
                db.execute("SELECT pg_sleep(5)")

        with pytest.raises(evimem.StoreBusy, match="nothing was written"):
            block()


def test_a_connection_on_which_nothing_can_be_undone_is_given_up(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg  # noqa: PLC0415

    def lost(*_: object) -> None:
        raise psycopg.OperationalError("sending query failed")

    with evimem.open(postgres, user=str(tmp_path)) as memory:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]

        def block() -> None:
            with db.writing():
                monkeypatch.setattr(psycopg.Connection, "execute", lost)
                raise evimem.StoreError("the first")

        with pytest.raises(evimem.StoreError, match="the first"):
            block()
        monkeypatch.undo()
        assert memory.add("Mira", "I like it.", time="2024-03-12T18:21").added == 1


def test_a_server_that_says_nothing_is_not_waited_for_without_end() -> None:
    postgres_server.need()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://mira:pass-word@127.0.0.1:{silent.getsockname()[1]}/evimem?connect_timeout=2"
        with pytest.raises(evimem.StoreUnavailable):
            evimem.open(address, user="mira")


def cut(postgres: str, backend: int) -> None:
    import psycopg  # noqa: PLC0415

    with psycopg.connect(postgres.replace("evimem@", "postgres@")) as db:
        db.execute("SELECT pg_terminate_backend(%s, 5000)", (backend,))


@pytest.mark.parametrize("count", sizes(1000, reduced=12))
def test_two_programs_that_write_at_once_lose_and_repeat_nothing(postgres: str, tmp_path: Path, count: int) -> None:
    program = (
        "import evimem, sys\n"
        "with evimem.open(sys.argv[1], user=sys.argv[2]) as memory:\n"
        "    for n in range(int(sys.argv[3]), int(sys.argv[4])):\n"
        "        memory.add('Mira', f'Note {n}.', time='2024-03-12T18:20', id=f't{n}')\n"
    )
    spans = [(0, count), (count // 2, count + count // 2)]
    both = [
        subprocess.Popen([sys.executable, "-c", program, postgres, str(tmp_path), *map(str, span)]) for span in spans
    ]
    assert [one.wait() for one in both] == [0, 0]
    with evimem.open(postgres, user=str(tmp_path)) as memory:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]
        assert sorted(db.rows("SELECT seq FROM turn")) == [(number,) for number in range(1, spans[1][1] + 1)]
        assert {turn.id for turn in memory.turns()} == {f"t{number}" for number in range(spans[1][1])}
        assert memory.check().problems == ()


def test_a_writer_that_waits_too_long_for_another_is_told_to_try_again(postgres: str, tmp_path: Path) -> None:
    with evimem.open(postgres, user=str(tmp_path)) as one, evimem.open(postgres, user=str(tmp_path)) as two:
        two._core.store.db._busy_seconds = 0.2  # type: ignore[attr-defined]
        db: Any = one._core.store.db  # type: ignore[attr-defined]
        with db.writing():
            assert list(db.rows("SELECT 1")) == [(1,)], "what is sent ahead has arrived, and the tenant's row is held"
            with pytest.raises(evimem.StoreBusy) as caught:
                two.add("Mira", "Hello.", time="2024-03-12T18:20")
        assert caught.value.retryable
        assert two.add("Mira", "Hello.", time="2024-03-12T18:20").added == 1


@contextmanager
def undoing_every_third(postgres: str, tenant: str) -> Iterator[None]:
    """Have the server undo every third transaction that writes of a tenant, at its commit, as one that serializes."""
    import psycopg  # noqa: PLC0415

    with psycopg.connect(postgres.replace("evimem@", "postgres@"), autocommit=True) as db:
        db.execute("CREATE SEQUENCE IF NOT EXISTS public.commits")
        db.execute(
            "CREATE OR REPLACE FUNCTION public.undo() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN "
            "IF NEW.tenant::text = TG_ARGV[0] AND NEW.key = 'commits' AND nextval('public.commits') % 3 = 0 THEN "
            "RAISE serialization_failure; END IF; RETURN NULL; END $$"
        )
        db.execute(
            "CREATE CONSTRAINT TRIGGER undoing AFTER UPDATE ON evimem.meta DEFERRABLE INITIALLY DEFERRED "
            f"FOR EACH ROW EXECUTE FUNCTION public.undo('{tenant}')"
        )
        try:
            yield
        finally:
            db.execute("DROP TRIGGER undoing ON evimem.meta")


def test_what_a_server_undoes_for_the_sake_of_others_is_done_again(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evimem.store.rebuild.QUEUE_BATCH_TURNS", 2)
    postgres = new_database(postgres, "strict", "default_transaction_isolation = serializable")
    with evimem.open(postgres, user=str(tmp_path)) as memory, evimem.open(tmp_path / "m.evimem") as file:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]
        with undoing_every_third(postgres, db._tenant):
            for each in (memory, file):
                for n in range(6):
                    each.add("Mira", f"I moved to house {n}.", time="2024-03-12T18:20", id=f"t{n}")
                each.forget(turns=["t3"])
                said = [{"role": "user", "content": "I like Porto."}]
                assert [each.remember(said, session="s", time="2024-03-13T08:00").added for _ in range(3)] == [1, 0, 0]
                each.enrich()
            read = list[int]()
            memory.rebuild(progress=read.append)
            assert sum(read) == 6, "each turn once"
        assert [turn.text for turn in memory.turns()] == [turn.text for turn in file.turns()]
        assert memory.ask("Where did Mira move?").text == file.ask("Where did Mira move?").text
        assert memory.check().problems == ()
        undone = psycopg_value(postgres, "SELECT last_value FROM public.commits") // 3
        assert undone > 2


def new_database(postgres: str, name: str, setting: str = "") -> str:
    """Make a database of this process beside that of the run; return its address."""
    import psycopg  # noqa: PLC0415

    name = f"{name}_{os.getpid()}"
    with psycopg.connect(postgres.replace("evimem@", "postgres@"), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name} OWNER evimem")
        if setting:
            db.execute(f"ALTER DATABASE {name} SET {setting}")
    return postgres.replace("/evimem?", f"/{name}?")


def psycopg_value(postgres: str, sql: str) -> int:
    import psycopg  # noqa: PLC0415

    with psycopg.connect(postgres.replace("evimem@", "postgres@")) as db:
        return int(db.execute(sql).fetchone()[0])  # type: ignore[index]


@pytest.mark.parametrize("threads", sizes(200, reduced=24))
def test_more_threads_than_connections_are_served_or_told_to_try_again(
    postgres: str, tmp_path: Path, threads: int
) -> None:
    users, stored, refused = threads // 5, list[str](), list[evimem.StoreError]()
    with evimem.MemoryPool(postgres, capacity=users) as pool, ThreadPoolExecutor(threads) as callers:

        def call(number: int) -> None:
            with pool.open(f"{tmp_path}/{number % users}") as memory:
                try:
                    memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20", id=f"t{number}")
                    assert memory.search("Porto")
                except evimem.StoreBusy as error:
                    refused.append(error)
                else:
                    stored.append(f"t{number}")

        for done in [callers.submit(call, number) for number in range(2 * threads)]:
            done.result()
        there = set()
        for user in range(users):
            with pool.open(f"{tmp_path}/{user}") as memory:
                there |= {turn.id for turn in memory.turns()}
    assert len(stored) + len(refused) == 2 * threads
    assert set(stored) <= there


def test_nothing_is_waited_for_longer_than_another_writer_is(postgres: str, tmp_path: Path) -> None:
    with evimem.open(postgres, user=str(tmp_path)) as memory, ThreadPoolExecutor(12) as threads:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]
        db._busy_seconds = 0.3

        def write(number: int) -> float:
            began = time.monotonic()
            with suppress(evimem.StoreBusy), db.writing():
                time.sleep(0.2)
                return 0.0
            return time.monotonic() - began

        waited = list(threads.map(write, range(12)))
    assert 0 < waited.count(0.0) < 12
    assert all(0.25 < each < 3.0 for each in waited if each), "one deadline for threads, connections and writers"


def test_the_files_hold_no_forgotten_word_after_the_vacuum_that_the_report_names(own: Programs) -> None:
    import psycopg  # noqa: PLC0415

    word = f"zqo{uuid4().hex}"
    address = postgres_server.address(own.home)
    with stopping(own.serve()), evimem.open(address, user="ana") as memory:
        memory.add("Mira", f"I moved to {word}.", time="2024-03-12T18:20", id="a")
        memory.enrich()
        with psycopg.connect(address) as reader:
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reader.execute("SELECT 1")
            report = memory.forget(turns=["a"])
            assert report.status == "pending"
            assert "evimem vacuum" in (report.reason or "")
            assert run_command_line(["vacuum", address]) == Exit.STORE, "the reader could still see it"
        files = own.home / "data" / "base"
        with psycopg.connect(postgres_server.address(own.home, "postgres"), autocommit=True) as db:
            db.execute("CHECKPOINT")
            assert any(holds(path, word.encode()) for path in files.rglob("*")), "the report does not say it in vain"
            assert run_command_line(["vacuum", address]) == Exit.OK
            db.execute("CHECKPOINT")
            assert not any(holds(path, word.encode()) for path in files.rglob("*"))


def holds(path: Path, word: bytes) -> bool:
    with suppress(FileNotFoundError):  # a table that was rewritten has another file
        return path.is_file() and word in path.read_bytes()
    return False
