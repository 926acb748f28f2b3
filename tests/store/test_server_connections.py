"""Few connections, shared in turn: no caller waits for ever, and none gets one that another has left half way."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import evimem
from tests.reliability.support.interrupts import handlers, interrupted, places
from tests.sizes import sizes
from tests.store.test_server_failures import new_database

PROMISED = 5.0  # seconds that a call waits


def run_sql(postgres: str, *statements: str) -> list[Any]:
    """Run statements as a superuser; return the rows of the last."""
    import psycopg  # noqa: PLC0415

    rows = list[Any]()
    with psycopg.connect(postgres.replace("evimem@", "postgres@"), autocommit=True) as db:
        for one in statements:
            cursor = db.execute(one)
            rows = cursor.fetchall() if cursor.description else []
    return rows


@pytest.fixture
def few(postgres: str) -> Iterator[str]:
    """The address for a role that may have one connection."""
    with evimem.open(postgres, user="somebody"):
        pass
    role = f"few_{os.getpid()}"
    grant = f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA evimem TO {role}"
    made = f"CREATE ROLE {role} LOGIN CONNECTION LIMIT 1"
    run_sql(postgres, "SELECT pg_advisory_lock(1)", made, f"GRANT USAGE ON SCHEMA evimem TO {role}", grant)
    ((key,),) = run_sql(postgres, "SELECT key FROM evimem_key.secret")
    yield f"{postgres.replace('evimem@', f'{role}@')}&evimem_key={key}"
    run_sql(postgres, f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def pool_of(memory: evimem.Memory) -> Any:
    return memory._core.store.db._server.pool  # type: ignore[attr-defined]


def test_a_server_that_takes_no_more_connections_is_shared_in_turn(few: str, tmp_path: Path) -> None:
    with evimem.MemoryPool(few) as pool, ThreadPoolExecutor(12) as threads:

        def call(number: int) -> int:
            with pool.open(f"{tmp_path}/{number % 5}") as memory:
                memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20", id=f"t{number}")
                return len(memory.search("Porto"))

        assert all(threads.map(call, range(24)))


def connected(address: str) -> Any:
    """Connect as soon as the server has noticed that the connection before is closed."""
    import psycopg  # noqa: PLC0415

    end = time.monotonic() + 10
    while time.monotonic() < end:
        with suppress(psycopg.OperationalError):
            return psycopg.connect(address)
        time.sleep(0.02)
    return psycopg.connect(address)


def test_a_call_waits_as_long_as_is_promised_for_a_connection_of_the_server(few: str, tmp_path: Path) -> None:
    with evimem.open(few, user=str(tmp_path)) as memory:
        pool_of(memory).close()
        pool_of(memory).is_open = True
        with connected(few.partition("&evimem_key")[0]):
            began = time.monotonic()
            with pytest.raises(evimem.StoreBusy, match="max_connections"):
                memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20")
            assert PROMISED - 0.1 < time.monotonic() - began < PROMISED + 20  # on a busy machine too
        assert memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20").added == 1


def test_readers_wait_their_turn_for_as_long_as_others_have_theirs(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evimem.db.postgres_connections.MAX_CONNECTIONS", 1)
    with evimem.MemoryPool(postgres) as pool, ThreadPoolExecutor(12) as threads:

        def read(number: int) -> str:
            with pool.open(f"{tmp_path}/{number % 6}") as memory:
                db: Any = memory._core.store.db  # type: ignore[attr-defined]
                db._busy_seconds = 1.0  # of 1.65 that twelve threads wait for one another
                kinds = [db.writing, partial(db.writing, durably=False), db.reading, db.reading]
                with kinds[number % 4]():  # the second is what a search does that reads facts first
                    db.read_value("SELECT 1")
                    time.sleep(0.15)
            return "read"

        waited = [threads.submit(read, number) for number in range(24)]
        ended = [type(one.exception()) for one in waited]
    assert [kind for number, kind in enumerate(ended) if number % 4] == [type(None)] * 18
    assert evimem.StoreBusy in ended, "one that writes is refused after the time that is promised"


def test_unused_connections_are_closed_for_other_processes(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evimem.db.postgres_connections._SPARE_IDLE_SECONDS", 0.05)
    with evimem.open(postgres, user=str(tmp_path)) as memory:
        pool = pool_of(memory)
        gate = threading.Barrier(6)
        with ThreadPoolExecutor(6) as threads:

            def hold(number: int) -> None:
                with pool.borrow_connection(5.0) as lease:
                    gate.wait()
                    lease.sound = True

            list(threads.map(hold, range(6)))
        assert len(pool._idle) == 6
        end = time.monotonic() + 10
        while len(pool._idle) > 1:
            assert time.monotonic() < end
            time.sleep(0.02)
        assert memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20").added == 1


def fail_by_timeout(db: Any) -> None:
    with db.writing():
        db.execute("SET LOCAL statement_timeout = 1")
        db.execute("SELECT pg_sleep(5)")


def fail_by_cancel(db: Any) -> None:
    with db.reading():
        ((backend,),) = db.rows("SELECT pg_backend_pid()")
        db.rows("SELECT pg_cancel_backend(CAST(? AS integer)), pg_sleep(5)", (backend,))


def fail_by_interrupt(db: Any) -> None:
    with db.reading():
        db.rows("SELECT 1")
        raise KeyboardInterrupt


@pytest.mark.parametrize("fail", [fail_by_timeout, fail_by_cancel, fail_by_interrupt])
def test_a_connection_whose_statement_was_cut_short_is_thrown_away(
    postgres: str, tmp_path: Path, fail: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evimem.db.postgres_connections.MAX_CONNECTIONS", 1)
    with evimem.open(postgres, user=str(tmp_path)) as memory:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]
        before = db.read_value("SELECT pg_backend_pid()")
        assert db.read_value("SELECT pg_backend_pid()") == before
        with pytest.raises((evimem.StoreError, KeyboardInterrupt)):
            fail(db)
        assert db.read_value("SELECT pg_backend_pid()") != before
        assert memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20").added == 1


def test_an_error_of_a_caller_costs_no_connection(postgres: str, tmp_path: Path) -> None:
    with evimem.open(postgres, user=str(tmp_path)) as memory:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]
        before = db.read_value("SELECT pg_backend_pid()")
        with pytest.raises(evimem.UnknownTurn):
            memory.turn("t1")
        assert db.read_value("SELECT pg_backend_pid()") == before


NEAR = ("evimem/db/postgres", "evimem/db/safe_context")


@pytest.mark.parametrize("points", sizes(60, nightly=1_000_000, reduced=20))
@pytest.mark.parametrize("act", ["read", "write", "open"])
def test_after_a_signal_at_any_place_every_connection_and_lock_is_free(
    postgres: str, tmp_path: Path, act: str, points: int
) -> None:
    with evimem.open(postgres, user=str(tmp_path)) as memory, ThreadPoolExecutor(1) as other:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]
        calls: dict[str, Callable[[], object]] = {
            "read": lambda: list(memory.turns(limit=1)),
            "write": partial(memory.add, "Mira", "I moved to Porto.", time="2024-03-12T18:20"),
            "open": lambda: evimem.open(postgres, user=f"{tmp_path}/other").close(),
        }
        call = calls[act]
        call()
        kept = list[BaseException | None]()  # with their tracebacks, as a debugger keeps them
        with handlers():
            total = places(call, NEAR)
            for place in range(1, total + 2, max(1, total // points)):
                kept.append(interrupted(call, NEAR, place, signal.SIGINT))
                assert not pool_of(memory)._leases, f"a place stays taken after {place} of {total}"
                assert other.submit(db.read_value, "SELECT 1").result(PROMISED) == 1, f"after {place} of {total}"
        assert sum(error is not None for error in kept) > len(kept) / 2
        assert memory.check().problems == ()


def test_signals_at_random_leave_no_call_waiting(postgres: str, tmp_path: Path) -> None:
    program = """
import evimem, random, signal, sys, time
class Alarm(BaseException): pass
def alarm(*_): raise Alarm
signal.signal(signal.SIGALRM, alarm)
chance, raised = random.Random(3), 0
memory = evimem.open(sys.argv[1], user=sys.argv[2])
memory.add("Mira", "I like tea.", time="2024-03-12T18:20", id="a")
for number in range(300):
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0005, 0.02))
            list(memory.turns(limit=1))
            memory.add("Mira", f"Note {number}.", time="2024-03-12T18:20")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except (Alarm, evimem.StoreError):
        raised += 1
assert raised > 30, raised
assert memory.turn("a").text == "I like tea."
assert not memory._core.store.db._server.pool._leases
assert memory.check().problems == ()
memory.close()
evimem.open(sys.argv[1], user=sys.argv[2]).close()
"""
    subprocess.run([sys.executable, "-c", program, postgres, str(tmp_path)], check=True, timeout=120)


# Fields of an error as a server sends it that speaks German.
REFUSAL = b"SFATAL\0VFATAL\0C53300\0M" + b"tut mir leid, schon zu viele Verbindungen" + b"\0\0"


class Proxy:
    """A proxy before a server, which falls silent when it is told to, and refuses the first `refused` connections."""

    def __init__(self, postgres: str, refused: int = 0) -> None:
        self.silent = threading.Event()
        self.refused = refused
        self._server = f"{postgres.rpartition('=')[2]}/.s.PGSQL.5432"
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def address(self, role: str = "evimem", parameters: str = "") -> str:
        return f"postgresql://{role}@127.0.0.1:{self._listening.getsockname()[1]}/evimem{parameters}"

    def close(self) -> None:
        for one in (self._listening, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)  # else a thread that reads would keep it open, and a transaction with it
            one.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self.refused:
                    self.refused -= 1
                    client.recv(1 << 16)
                    client.sendall(b"E" + struct.pack("!i", 4 + len(REFUSAL)) + REFUSAL)
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._open += [client, server]
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if not self.silent.is_set():
                    target.sendall(data)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


def test_a_server_that_falls_silent_is_given_up_and_holds_up_no_other(postgres: str, tmp_path: Path) -> None:
    hasty = "?tcp_user_timeout=1000&connect_timeout=2"
    with closing(Proxy(postgres)) as proxy, evimem.open(proxy.address(parameters=hasty), user=str(tmp_path)) as memory:
        memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20", id="a")
        memory.search("Porto")
        proxy.silent.set()
        with ThreadPoolExecutor(3) as threads:
            calls = [
                threads.submit(memory.add, "Mira", "I like it.", time="2024-03-12T18:21"),
                threads.submit(evimem.open, proxy.address(parameters=hasty), user=f"{tmp_path}/other"),
                threads.submit(
                    evimem.open, proxy.address(parameters=f"{hasty}&application_name=x"), user=str(tmp_path)
                ),
            ]
            time.sleep(0.2)
            with evimem.open(postgres, user=str(tmp_path)) as another:
                assert another.turn("a").text == "I moved to Porto."
                assert not all(one.done() for one in calls), "it did not wait until they were given up"
            with within(30.0):
                assert [type(one.exception()) for one in calls] == [evimem.StoreUnavailable] * 3
        with within(30.0):
            memory.close()


def test_a_commit_into_silence_leaves_a_writer_in_doubt(postgres: str, tmp_path: Path) -> None:
    with (
        closing(Proxy(postgres)) as proxy,
        evimem.open(proxy.address(parameters="?tcp_user_timeout=1000"), user=str(tmp_path)) as memory,
    ):
        db: Any = memory._core.store.db  # type: ignore[attr-defined]

        def write() -> None:
            with db.writing():
                db.read_value("SELECT 1")
                proxy.silent.set()

        with pytest.raises(evimem.StoreUnavailable) as caught:
            write()
        assert caught.value.in_doubt


def test_a_server_that_refuses_a_connection_in_its_own_language_is_asked_again(postgres: str, tmp_path: Path) -> None:
    with closing(Proxy(postgres, refused=2)) as proxy:
        address = proxy.address(parameters="?sslmode=disable&gssencmode=disable")
        with evimem.open(address, user=str(tmp_path)) as memory:
            assert memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20").added == 1


def test_a_statement_is_waited_for_while_the_server_works_on_it(postgres: str, tmp_path: Path) -> None:
    with evimem.open(f"{postgres}&tcp_user_timeout=200", user=str(tmp_path)) as memory:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]
        assert db.read_value("SELECT CAST(pg_sleep(1.2) AS text)") == ""


def test_a_statement_that_takes_long_is_waited_for_as_long_as_the_address_says(postgres: str, tmp_path: Path) -> None:
    with evimem.open(f"{postgres}&tcp_user_timeout=60000", user=str(tmp_path)) as memory:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]
        assert pool_of(memory)._silence_seconds == 60.0
        assert db.read_value("SELECT CAST(pg_sleep(0.5) AS text)") == ""


def test_a_pool_is_made_while_its_server_is_down(postgres: str, tmp_path: Path) -> None:
    name = f"late_{os.getpid()}"
    pool = evimem.MemoryPool(postgres.replace("/evimem?", f"/{name}?"))
    with pytest.raises(evimem.StoreUnavailable) as caught:
        pool.count()
    assert caught.value.retryable
    new_database(postgres, "late")
    with pool, pool.open(str(tmp_path)) as memory:
        assert memory.add("Mira", "I moved to Porto.", time="2024-03-12T18:20").added == 1


def test_a_child_of_a_fork_opens_a_server_whatever_another_thread_of_the_parent_did(
    postgres: str, tmp_path: Path
) -> None:
    program = """
import evimem, os, sys, threading
from evimem.db import postgres_connections
memory = evimem.open(sys.argv[1], user=sys.argv[2])
held, go = threading.Event(), threading.Event()
def hold():
    with postgres_connections._SERVERS_LOCK:
        held.set(); go.wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
if not (child := os.fork()):
    evimem.open(sys.argv[1], user="child").close()
    os._exit(0)
go.set()
assert os.waitpid(child, 0)[1] == 0
memory.close()
"""
    subprocess.run([sys.executable, "-c", program, postgres, str(tmp_path)], check=True, timeout=60)
