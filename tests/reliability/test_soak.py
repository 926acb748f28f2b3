"""Ordinary use by many users for long, with crashes in between: nothing is lost, nothing grows that should not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

import pytest

from evimem import MemoryPool, Turn

from .support.children import Send, killed_after
from .support.scale import bound, sizes
from .support.world import EMBEDDER, said

USERS, HANDLES = 5, 3
LIVES = 4  # of a short soak; a long one crashes every five minutes
LIFE = 300.0  # seconds
LOG = 16 << 20  # bytes of a write-ahead log: SQLite moves it into the file at four megabytes
SPARE = 60  # MB that a process may use beyond what it began with, and what its turns take
A_TURN = 0.004  # MB
STATM = Path("/proc/self/statm")


@dataclass(frozen=True, slots=True)
class Size:
    """What a process uses at some moment: MB, descriptors, bytes of its longest log, and the turns added so far."""

    memory: float
    descriptors: int
    log: int
    turns: int


def turn_of(user: int, number: int) -> Turn:
    """Return the turn of a number, as it is said by some user."""
    turn = said(number)
    return Turn(f"u{user}-{number}", turn.session, turn.speaker, f"{turn.text} u{user}", turn.time)


def size_of(root: Path, turns: int) -> Size:
    pages = int(STATM.read_text().split()[1])
    log = max((log.stat().st_size for log in root.glob("**/*-wal")), default=0)
    return Size(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, len(os.listdir("/proc/self/fd")), log, turns)


def one_life(root: Path, journal: Path, seed: int, first: int) -> Callable[[Send], None]:
    """Add, search, forget and enrich for users at random until killed; write down what was acknowledged."""

    def live(send: Send) -> None:
        random = Random(seed)
        with MemoryPool(root, capacity=HANDLES, embedder=EMBEDDER) as users, journal.open("ab", buffering=0) as out:
            send("begun")
            for number in count(first):
                user = random.randrange(USERS)
                with users.open(f"user-{user}") as memory:
                    turn = turn_of(user, number)
                    began = time.perf_counter()
                    memory.extend([turn], strict=True)
                    out.write(f"added {turn.id} {time.perf_counter() - began}\n".encode())
                    if number % 20 == 7:
                        assert memory.search(turn.text, k=1)[0].turn.id.startswith(f"u{user}-")
                    if number % 50 == 3:
                        out.write(f"forgetting {turn.id}\n".encode())
                        memory.forget(turns=[turn.id])
                    if number % 200 == 11:
                        memory.enrich()
                if number % 50 == 0:
                    size = size_of(root, number - first)
                    out.write(f"size {size.memory} {size.descriptors} {size.log} {size.turns}\n".encode())

    return live


def check_growth(sizes_seen: list[Size]) -> None:
    """Compare what a process uses late in its life with what it used early."""
    early, late = sizes_seen[: len(sizes_seen) // 3], sizes_seen[len(sizes_seen) // 3 :]
    assert max(size.log for size in sizes_seen) <= LOG, "a write-ahead log grows without an end"
    most = max(size.descriptors for size in early) + 2 * HANDLES
    assert max(size.descriptors for size in late) <= most, "descriptors are not given back"
    for size in late:
        grown = size.memory - early[0].memory
        assert grown <= SPARE + A_TURN * size.turns, f"{grown:.0f} MB more after {size.turns} turns"


@pytest.mark.skipif(not STATM.exists(), reason="needs /proc")
@pytest.mark.parametrize("seconds", sizes(12, nightly=7_200, reduced=12))
def test_long_use_loses_nothing_and_grows_in_nothing_but_turns(
    disk: Path, seed: int, seconds: int, tell: Callable[[str], None]
) -> None:
    root, journal = disk / "users", disk / "journal"
    life = min(LIFE, seconds / LIVES)
    lives = round(seconds / life)
    for number in range(lives):
        before = journal.stat().st_size if journal.exists() else 0
        killed_after(life, one_life(root, journal, seed + number, number * 10**7))
        lines = [line.split() for line in journal.read_bytes()[before:].decode().splitlines()]
        whole = [line for line in lines if line[0] == "size" and len(line) == len(("size", *Size.__match_args__))]
        check_growth([Size(float(line[1]), *map(int, line[2:])) for line in whole])
    lines = [line.split() for line in journal.read_text().splitlines()]
    added = {line[1] for line in lines if line[0] == "added"}
    forgotten = {line[1] for line in lines if line[0] == "forgetting"}
    stored: set[str] = set()
    with MemoryPool(root, capacity=HANDLES, embedder=EMBEDDER) as users:
        for user in range(USERS):
            with users.open(f"user-{user}") as memory:
                stored |= {turn.id for turn in memory.turns()}
                assert memory.check().problems == ()
    assert added - forgotten <= stored, f"lost: {sorted(added - forgotten - stored)[:5]}"
    assert len(stored) >= 100 * lives / LIVES, "too little was done to tell anything"
    tell(f"{seconds} s, {lives} crashes, {len(added)} turns of {USERS} users: 0 lost, {bound(lives)} of crashes")
