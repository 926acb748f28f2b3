"""Memories on a PostgreSQL server: `python -m benchmarks.server postgresql://... [--users 10000] [--shards]`.

The same calls on a file, on the server, and on the server behind a proxy that holds every message of either way for
half a millisecond, in turn, with how often one waits. Times are by the clock, and of this process; what the server
takes is only in the former. `--users` makes so many users of five turns, then opens some of them in any order, each for
a first search, and says what memories that are open take and how many connections the server has. `--shards` measures
nothing: it draws how long a question waits for one memory of 1e8 or 1e9 turns in shards, from the time of one of 1e5
turns; what is assumed stands beside it in the code.
"""

from __future__ import annotations

import argparse
import random
import resource
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.parse import quote

import psycopg

import evimem

from .recording import add_result, record
from .scoring.result_file import ResultTable
from .speed import QUESTIONS, SEED, chat

HALF_A_TRIP = 0.0005  # seconds
FEW = 5  # turns a user
OPENED = 1000  # users, of all
HELD = 256  # memories that are open at once


@contextmanager
def delayed(address: str) -> Iterator[str]:
    """Yield the address of a proxy before a server: each message comes half a millisecond later."""
    said = psycopg.conninfo.conninfo_to_dict(address)
    host, port = str(said.get("host", "127.0.0.1")), int(said.get("port") or 5432)
    place: Any = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_serve, args=(listening, place), daemon=True).start()
        user = quote(str(said.get("user", "")))
        yield f"postgresql://{user}@127.0.0.1:{listening.getsockname()[1]}/{said.get('dbname')}"


def _serve(listening: socket.socket, place: Any) -> None:
    with suppress(OSError):  # the listening socket is closed: the end
        while True:
            client, _ = listening.accept()
            server = socket.socket(socket.AF_UNIX if isinstance(place, str) else socket.AF_INET)
            server.connect(place)
            for one in (client, *([] if isinstance(place, str) else [server])):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for source, target in ((client, server), (server, client)):
                queue: SimpleQueue[tuple[float, bytes]] = SimpleQueue()
                threading.Thread(target=_take, args=(source, queue), daemon=True).start()
                threading.Thread(target=_give, args=(target, queue), daemon=True).start()


def _take(source: socket.socket, queue: SimpleQueue[tuple[float, bytes]]) -> None:
    data = b"-"
    while data:
        with suppress(OSError):
            data = source.recv(1 << 16)
        queue.put((time.perf_counter() + HALF_A_TRIP, data))


def _give(target: socket.socket, queue: SimpleQueue[tuple[float, bytes]]) -> None:
    with suppress(OSError), target:
        while True:
            due, data = queue.get()
            if not data:
                return
            time.sleep(max(0.0, due - time.perf_counter()))
            target.sendall(data)


def beside_a_file(address: str, size: int) -> ResultTable:
    """Compare the calls of a memory on a server, near and behind a network, with those of one in a file."""
    with ExitStack() as held:
        folder = held.enter_context(tempfile.TemporaryDirectory(prefix="evimem-server-"))
        far = held.enter_context(delayed(address))
        memories = [held.enter_context(evimem.open(Path(folder) / "m.evimem"))]
        memories += [held.enter_context(evimem.open(one, user=f"{folder}/{one}")) for one in (address, far)]
        stored, extra = list(chat(size, 22)), [iter(chat(400, 22, first=size)) for _ in memories]
        rows = [
            _compared(f"extend, {size:,} turns", memories, lambda at: memories[at].extend(stored), 1),
            _compared("enrich", memories, lambda at: memories[at].enrich(), 1),
        ]
        for text, call in (
            ("search", lambda at: memories[at].search(QUESTIONS[0])),
            ("block", lambda at: memories[at].block(QUESTIONS[2])),
            ("ask", lambda at: memories[at].ask(QUESTIONS[3])),
            ("add", lambda at: memories[at].extend([next(extra[at])])),
            ("ask after an add", lambda at: (memories[at].extend([next(extra[at])]), memories[at].ask(QUESTIONS[3]))),
        ):
            rows.append(_compared(text, memories, call, 15))
        for memory in memories:
            memory.forget(everything=True)
    heads = ("", "file, ms", "server, ms", "with 1 ms of network", "file, ms of this process", "server", "waits")
    return ResultTable("server", "A memory on a server beside one in a file", heads, tuple(rows), ())


def _compared(
    text: str, memories: Sequence[evimem.Memory], call: Callable[[int], object], times: int
) -> tuple[str | float, ...]:
    """Return the medians of a call by the clock and of this process, and how often one waits for the server."""
    db: Any = memories[1]._core.store.db  # type: ignore[attr-defined]
    clock: list[list[float]] = [[] for _ in memories]
    own: list[list[float]] = [[] for _ in memories]
    for at in range(len(memories)) if times > 1 else ():
        call(at)
    waits = db.round_trips
    for _ in range(times):
        for at in range(len(memories)):
            began = time.perf_counter(), time.process_time()
            call(at)
            clock[at].append(1000 * (time.perf_counter() - began[0]))
            own[at].append(1000 * (time.process_time() - began[1]))
    medians = [*map(statistics.median, clock), *map(statistics.median, own[:2])]
    return (text, *medians, (db.round_trips - waits) / times)


def many_users(address: str, count: int) -> ResultTable:
    """Make users, and open some of them for a first search."""
    chance, prefix = random.Random(SEED), f"benchmark {time.time()} "
    turns = list(chat(FEW, 22))
    with evimem.MemoryPool(address, capacity=HELD) as pool, psycopg.connect(address, autocommit=True) as watching:
        with pool.open(f"{prefix}first") as memory:  # what a process takes for the first memory, it takes once
            memory.extend(turns)
            memory.search(QUESTIONS[0])
        before, took, began = _resident(), list[float](), time.perf_counter()
        for number in range(count):
            with pool.open(f"{prefix}{number}") as memory:
                memory.extend(turns)
        made = count / (time.perf_counter() - began)
        chosen = chance.sample(range(count), min(OPENED, count))
        for number in chosen:
            began = time.perf_counter()
            with pool.open(f"{prefix}{number}") as memory:
                memory.search(QUESTIONS[0])
            took.append(1000 * (time.perf_counter() - began))
        own = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        row = watching.execute(own).fetchone()
        size = pool.bytes()
    took.sort()
    rows = (
        ("users", float(count)),
        (f"made a second, with {FEW} turns each", made),
        ("opened a second, each with its first search", 1000 / statistics.fmean(took)),
        ("open and first search, ms, p50", took[len(took) // 2]),
        ("open and first search, ms, p95", took[len(took) * 95 // 100]),
        (f"memory of this process more with {HELD} open, MB", (_resident() - before) / 1024),
        ("connections", float(row[0]) if row else 0.0),
        ("tables and indexes of all users, MB", size / 1e6),
    )
    return ResultTable("users", "Many users on one server", ("", "figure"), rows, ())


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# Of one shard of 1e5 turns, measured on two cores: milliseconds of a question, p50. How they grow with the size of a
# shard, how they spread, and how often a call is slow are assumed, as are the network and the last scoring.
AT, SHARD = 1e5, {"evimem's columns, a process a shard": (9.3, 0.45), "PostgreSQL's ts_rank and HNSW": (64.0, 0.85)}
SPREAD, SLOW, SLOWER, NETWORK, LAST = 0.23, 0.01, 8.0, 0.5, 8.0
DRAWN = 2000  # questions


def in_shards() -> ResultTable:
    """Draw how long a question takes that waits for all shards, or asks a second copy after the 95th percentile."""
    chance = random.Random(SEED)
    rows: list[tuple[str | float, ...]] = []
    for turns, shards in ((1e8, 10), (1e8, 100), (1e9, 100)):
        for engine, (base, power) in SHARD.items():
            typical = base * (turns / shards / AT) ** power

            def one(typical: float = typical) -> float:
                slow = SLOWER if chance.random() < SLOW else 1.0
                return typical * chance.lognormvariate(0.0, SPREAD) * slow + NETWORK

            late = sorted(one() for _ in range(DRAWN))[DRAWN * 95 // 100]
            for policy in ("all", "hedged"):
                took = []
                for _ in range(DRAWN):
                    waited = [one() for _ in range(shards)]
                    if policy == "hedged":
                        waited = [min(each, late + one()) if each > late else each for each in waited]
                    took.append(max(waited) + LAST)
                took.sort()
                figures = [took[DRAWN * share // 100] for share in (50, 95, 99)]
                rows.append((f"{turns:.0e} turns, {shards} shards, {engine}, {policy}", *figures))
    heads = ("drawn, not measured", "ms, p50", "p95", "p99")
    return ResultTable("shards", "One memory in shards", heads, tuple(rows), ())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", nargs="?", help="postgresql://role@host/database")
    parser.add_argument("--turns", type=int, default=1000, help="of the memory whose calls are compared")
    parser.add_argument("--users", type=int, help="make so many users")
    parser.add_argument("--shards", action="store_true", help="draw the times of one memory in shards")
    add_result(parser)
    options = parser.parse_args()
    tables = [beside_a_file(options.address, options.turns)] if options.address and not options.users else []
    tables += [many_users(options.address, options.users)] if options.address and options.users else []
    tables += [in_shards()] if options.shards else []
    if not tables:
        parser.error("give the address of a server, or --shards")
    record("server", options, tables)


if __name__ == "__main__":
    main()
