"""Long use by many users, with a failing disk, a failing endpoint and crashes: nothing is lost, nothing leaks."""

import contextlib
import itertools
import json
import os
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from evimem import Memory, MemoryPool, ModelError, OpenAI, StoreError, Turn, UnknownTurn
from evimem.testing import ScriptedModel
from tests.doubles import FakeClock
from tests.model_server import FAULTS, Fault, ModelServer
from tests.sizes import bound

from .support.children import Send, in_child, killed_after, start
from .support.faults import failing
from .support.world import EMBEDDER, WORDS, said

USERS, HANDLES, TEXTS = 20, 3, 3_000
LIFE = 300.0  # seconds between crashes of a long soak; the last half of any soak is one life
LOG = 16 << 20  # bytes of a write-ahead log: SQLite moves it into the file at four megabytes
SPARE = 60  # MB that a process may use beyond what it used early, and what its turns take: handles differ in size
A_TURN = 0.004  # MB
A_SECOND = 28  # turns that a long soak adds: 200,000 in two hours
QUIET = 6_000  # turns of a life without a model
LEFT = 200  # bytes a turn: what the heap's pieces may take in so short a life; a turn with its rows takes thousands
LONG = 3_600  # seconds from which on times and slopes say something
CONNECTIONS = 2 * 8  # sockets: eight requests at once, and those about to close
PARTS = 8  # of the time in which growth is measured: what lies a minute apart is not independent
SURE = 2.45  # standard errors of a line through so many means within which its slope lies in 19 cases of 20
STATM = Path("/proc/self/statm")
QUICK = sorted(FAULTS.keys() - {"hang", "hang_after_headers", "drip", "drip_body", "endless", "gzip_bomb"})


@dataclass(frozen=True, slots=True)
class Size:
    """Resources of a process: MB of it, descriptors, bytes of its longest log.

    Then how many turns it has added, and its age in seconds.
    """

    memory: float
    descriptors: int
    log: int
    turns: int
    age: float


def turn_of(user: int, number: int) -> Turn:
    """Return the turn of a number; texts recur, so that caches of words are soon full."""
    turn, text = said(number), f"{said(number % TEXTS).text} u{user}"
    return Turn(f"u{user}-{number}", turn.session, turn.speaker, text, turn.time, role="user")


def read_well(prompt: str) -> str:
    """Reply as a model that finds one fact in each turn: its speaker says its first word."""
    found = re.search(r'<turn speaker="(\w+)".*?>\s*(\w+)', prompt, re.DOTALL)
    if not found or found[2] not in WORDS:
        return '{"facts": []}'
    fact = {
        "subject": found[1], "predicate": "says", "object": found[2], "quote": found[2], "kind": "event", "when": "",
    }  # fmt: skip
    return json.dumps({"facts": [fact]})


def there(memory: Memory, name: str) -> bool:
    """Say whether a memory holds a turn: a failed call of forget() may have erased some."""
    try:
        memory.turn(name)
    except UnknownTurn:
        return False
    return True


def fill_numpys_cache() -> None:
    """Have numpy keep as many freed blocks as it ever will: 7 of each size below a kilobyte, 3.7 MB in all.

    Else they come one by one, as arrays of one more size happen to be made, and look like a leak for hours.
    """
    made = [np.empty(size, np.uint8) for size in range(1024) for _ in range(7)]
    del made


def read_all(seed: int, send: Send) -> None:
    """Serve a model that reads well, and fails now and then, for as long as the parent lives."""
    random, parent = Random(seed), os.getppid()

    def answer(body: Any) -> str:
        return read_well(body["messages"][-1]["content"])

    answers = [
        Fault(random.choice(QUICK), retry_after="0") if random.random() < 0.05 else answer for _ in range(50_000)
    ]
    with ModelServer(*answers, then=answer) as server:
        send(server.url)
        while os.getppid() == parent:
            time.sleep(0.5)
            server.received.clear()


@contextlib.contextmanager
def served(seed: int) -> Iterator[str]:
    """Serve a model from a process of its own, whose room is not counted; yield its address."""
    server = start(lambda send: read_all(seed, send))
    try:
        yield next(server.messages())
    finally:
        server.kill()
        server.wait()


class Life:
    """One process: adds, searches, forgets and enriches for users at random, and records what was acknowledged."""

    def __init__(
        self, root: Path, journal: Path, seed: int, first: int, *, rate: float, steady: bool, model: str = ""
    ) -> None:
        self.root, self.journal, self.first, self.rate, self.steady = root, journal, first, rate, steady
        self.model = model
        self.random = Random(seed)
        self.fresh: defaultdict[int, list[str]] = defaultdict(list)
        self.disk: Any = None

    def __call__(self, send: Send) -> None:
        with self.journal.open("ab", buffering=0) as self.out, failing(for_all=True) as (_, self.disk):
            model = OpenAI("small", base_url=self.model, api_key="k", deadline=2.0, max_retries=1)
            self._talk(model, lambda: send("begun"), itertools.count(self.first))

    def quietly(self, turns: int) -> None:
        """Live for so many turns with a disk that does not fail, and without a model."""
        with self.journal.open("ab", buffering=0) as self.out:
            self._talk(None, lambda: None, range(self.first, self.first + turns))

    def _talk(self, model: OpenAI | None, begun: Callable[[], object], numbers: Iterable[int]) -> None:
        fill_numpys_cache()
        with MemoryPool(self.root, capacity=HANDLES, embedder=EMBEDDER, llm=model) as users:
            self.began = time.monotonic()
            begun()
            user = 0
            for number in numbers:
                user = self.random.randrange(USERS) if self.random.random() < 0.1 else user  # they talk for a while
                self._do(users, user, number)

    def _do(self, users: MemoryPool, user: int, number: int) -> None:
        turn, done = turn_of(user, number), number - self.first
        self._surely(users, user, lambda memory: self._add(memory, turn))
        self.fresh[user].append(turn.id)
        if done % 20 == 7:
            self._surely(users, user, lambda memory: memory.search(turn.text, k=1))
        if self.steady and len(self.fresh[user]) == 100:
            gone = self.fresh.pop(user)
            self._surely(users, user, lambda memory: self._forget(memory, gone))
        elif done % 50 == 3:
            self._surely(users, user, lambda memory: self._forget(memory, [turn.id]))
        if done % 200 == 11:
            self._surely(users, user, self._enrich)
        if done % 50 == 0:
            self._tell("size", *self._size(done))
        time.sleep(max(0.0, self.began + done / self.rate - time.monotonic()))

    def _surely(self, users: MemoryPool, user: int, work: Callable[[Memory], Any]) -> None:
        """Do some work on a disk that may fail meanwhile, and repeat it if it did, as a caller would."""
        if self.random.random() < 0.02 and self.disk is not None:
            kind = self.random.choice(("full", "broken", "short read"))
            self.disk.arm(self.random.randrange(40), kind, stays=self.random.random() < 0.3)
            try:
                with users.open(f"user-{user}") as memory:
                    work(memory)
            except StoreError as error:
                self._tell("failed", type(error).__name__)
            finally:
                self.disk.disarm()
        with users.open(f"user-{user}") as memory:
            work(memory)

    def _add(self, memory: Memory, turn: Turn) -> None:
        began = time.thread_time()  # and not by the clock on the wall: other work is no slowness of ours
        memory.extend([turn], strict=True)
        self._tell("added", turn.id, time.thread_time() - began)

    def _forget(self, memory: Memory, ids: list[str]) -> None:
        self._tell("forgetting", *ids)
        memory.forget(turns=[name for name in ids if there(memory, name)])

    @staticmethod
    def _enrich(memory: Memory) -> None:
        with contextlib.suppress(ModelError):
            memory.enrich()

    def _tell(self, *what: object) -> None:
        self.out.write(f"{' '.join(map(str, what))} .\n".encode())

    def _size(self, turns: int) -> tuple[object, ...]:
        pages = int(STATM.read_text().split()[1])
        log = max((log.stat().st_size for log in self.root.glob("**/*-wal")), default=0)
        memory = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
        return memory, len(os.listdir("/proc/self/fd")), log, turns, time.monotonic() - self.began


def check_growth(sizes_seen: list[Size]) -> None:
    """Compare the resources of a process late in its life with those early in it."""
    third = max(1, len(sizes_seen) // 3)  # a slow machine may tell of two in a short life
    early, late = sizes_seen[:third], sizes_seen[third:]
    assert max(size.log for size in sizes_seen) <= LOG, "a write-ahead log grows without an end"
    most = max(size.descriptors for size in early) + 2 * HANDLES + CONNECTIONS
    assert max((size.descriptors for size in late), default=0) <= most, "descriptors are not given back"
    for size in late:
        grown = size.memory - max(size.memory for size in early)
        assert grown <= SPARE + A_TURN * size.turns, f"{grown:.0f} MB more after {size.turns} turns"


def sizes_told(lines: list[list[str]]) -> list[Size]:
    """Return what a process told of its resources among the lines of its journal."""
    told = [line[1:] for line in lines if line[0] == "size"]
    return [Size(float(one[0]), *map(int, one[1:4]), float(one[4])) for one in told]


def growth(sizes_seen: list[Size]) -> tuple[float, float]:
    """Return by how many MB an hour a process grows after its first third, and how far off that may be.

    The line goes through the means of `PARTS` parts of that time: what malloc keeps stays for minutes, so that sizes
    told one after the other say the same again.
    """
    late = np.array([(size.age / 3_600, size.memory) for size in sizes_seen[len(sizes_seen) // 3 :]])
    hours, memory = np.array([part.mean(axis=0) for part in np.array_split(late, PARTS)]).T
    (slope, _), spread = np.polyfit(hours, memory, 1, cov=True)
    return float(slope), SURE * float(np.sqrt(spread[0, 0]))


def check_the_end(root: Path) -> set[str]:
    """Check that every turn is there verbatim and that the queue drains; return the ids of the turns."""
    clock, stored = FakeClock(time.time()), set[str]()
    model = ScriptedModel(then=lambda request: read_well(request.prompt))
    with MemoryPool(root, capacity=HANDLES, embedder=EMBEDDER, llm=model, clock=clock) as users:
        for user in range(USERS):
            with users.open(f"user-{user}") as memory:
                turns = list(memory.turns())
                assert turns == [turn_of(user, int(turn.id.partition("-")[2])) for turn in turns]
                stored |= {turn.id for turn in turns}
                for _ in range(12):
                    clock.advance(86_400.0)
                    memory.enrich()
                assert memory.health().pending == {}
                assert memory.check().problems == ()
    return stored


@pytest.mark.nightly
@pytest.mark.skipif(not STATM.exists(), reason="needs /proc")
def test_nothing_of_a_forgotten_turn_stays_in_the_memory_of_the_process(disk, seed, tell):
    journal = disk / "journal"

    def live() -> None:
        Life(disk / "users", journal, seed, 0, rate=float("inf"), steady=True).quietly(QUIET)

    with patch.object(sys.modules[__name__], "USERS", 4):  # fewer, so that their number of turns is soon a usual one
        in_child(live)
    lines = [line.split() for line in journal.read_text().splitlines()]
    scale = 3_600 / 2**20  # so that MB an hour are bytes a turn
    seen = [replace(size, age=scale * size.turns) for size in sizes_told(lines)]
    slope, spread = growth(seen)
    tell(f"{QUIET} turns: {slope:.0f} +- {spread:.0f} bytes more a turn, while as much is forgotten as is added")
    assert slope - spread < LEFT


@pytest.mark.skipif(not STATM.exists(), reason="needs /proc")
@pytest.mark.nightly
@pytest.mark.parametrize("seconds", [12, 7_200])
def test_long_use_loses_nothing_and_grows_in_nothing_but_turns(disk, seed, seconds, tell):
    root, journal = disk / "users", disk / "journal"
    journal.touch()
    short = min(LIFE, seconds / 6)
    lives = [short] * round(0.5 * seconds / short) + [seconds / 2]
    rate = A_SECOND if seconds >= LONG else float("inf")
    times: list[list[float]] = []
    failed: Counter[str] = Counter()
    added, forgotten = set[str](), set[str]()
    for number, life in enumerate(lives):
        before, steady = journal.stat().st_size, number == len(lives) - 1
        with served(seed + number) as model:
            one = Life(root, journal, seed + number, number * 10**7, rate=rate, steady=steady, model=model)
            killed_after(life, one)
        lines = [line.split() for line in journal.read_bytes()[before:].decode().splitlines() if line.endswith(" .")]
        seen = sizes_told(lines)
        check_growth(seen)
        times.append([float(line[2]) for line in lines if line[0] == "added"])
        failed.update(line[1] for line in lines if line[0] == "failed")
        added |= {line[1] for line in lines if line[0] == "added"}
        forgotten |= {name for line in lines if line[0] == "forgetting" for name in line[1:-1]}
    stored = check_the_end(root)
    assert added - forgotten <= stored, f"lost: {sorted(added - forgotten - stored)[:5]}"
    assert len(stored) >= 100, "too little was done to tell anything"
    assert failed.total() >= 5, "the disk hardly failed"
    half = len(times) // 2
    early, late = (float(np.percentile(np.concatenate(part), 99)) for part in (times[:half], times[half:]))
    tell(
        f"{seconds} s, {len(lives)} crashes, {failed.total()} calls failed by the disk ({dict(failed)}), {len(added)} "
        f"turns of {USERS} users, {len(stored)} held: 0 lost, {bound(len(lives))} of crashes; 99 of 100 adds within "
        f"{1e3 * early:.1f} ms of a processor in the first half, {1e3 * late:.1f} in the second"
    )
    if seconds >= LONG:
        slope, spread = growth(seen)
        tell(f"{slope:.1f} +- {spread:.1f} MB more an hour, while as much is forgotten as is added")
        assert late <= 2 * early
        assert slope - spread < 1.0
