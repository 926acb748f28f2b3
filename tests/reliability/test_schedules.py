"""Every queued job ends, in whatever order workers fail, crash, overtake one another and come back.

A job is one row a turn, so that after every single step each is done, failed or pending.
"""

import contextlib
from collections import Counter
from functools import partial
from pathlib import Path
from random import Random
from threading import Lock
from unittest.mock import patch

import pytest

import evimem
import evimem.api.memory
from evimem import EmbedderError, EvimemError, Memory, ModelError, ModelTimeout, ModelUnavailable, UnknownTurn
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete
from tests.doubles import FakeClock
from tests.sizes import sizes

from .support.world import EMBEDDER, EXTRACTOR, Unreachable, damage, small_thresholds
from .test_queue import bought, read_well

STEPS = 25
ACTS = ("add", "add", "add", "enrich", "enrich", "batch", "wait", "forget", "reopen")
ROWS = """SELECT turn.id, job.state, EXISTS (SELECT 1 FROM fact WHERE fact.seq = turn.seq AND extractor = 'llm')
    FROM turn LEFT JOIN job ON job.seq = turn.seq AND job.kind = 'extract'"""


class Crash(BaseException):
    """The process ends here."""


class World:
    """One file that two workers hold open, with a scripted model and embedder.

    While a model answers one worker, the other may act, and so overtake it.
    """

    def __init__(self, path: Path, random: Random) -> None:
        self.path, self.random = path, random
        self.clock = FakeClock(1.7e9)
        self.well, self.overtaking = False, Lock()
        self.added = 0
        self.poisoned: set[str] = set()
        self.workers = [self.opened(0), self.opened(1)]
        self.seen: Counter[str] = Counter()

    def opened(self, which: int) -> Memory:
        model = ScriptedModel(then=partial(self.reply, which))
        return evimem.open(self.path, llm=model, embedder=EMBEDDER, extractor=EXTRACTOR, clock=self.clock)

    def reply(self, which: int, request: Complete) -> str:
        if not self.well and self.random.random() < 0.2 and self.overtaking.acquire(blocking=False):
            self.act(1 - which)
            self.overtaking.release()
        if self.well or self.random.random() < 0.5:
            return read_well(request)
        trouble = self.random.choice(
            (None, "{", ModelTimeout("late"), ModelUnavailable("down", retryable=True), Crash())
        )
        if isinstance(trouble, BaseException):
            self.seen["crashes"] += isinstance(trouble, Crash)
            raise trouble
        return trouble or ""

    def act(self, which: int) -> None:
        """Let a worker do one random operation."""
        memory, act = self.workers[which], self.random.choice(ACTS)
        memory._core.embedder = EMBEDDER if self.random.random() < 0.7 else Unreachable(EMBEDDER.dimension)
        self.seen[f"{act} meanwhile" if self.overtaking.locked() else act] += 1
        try:
            self.do(act, memory, which)
        except Crash:
            self.reopen(which, crash=True)
        except (ModelError, EmbedderError):
            pass

    def do(self, act: str, memory: Memory, which: int) -> None:
        if act == "add":
            turn = bought(self.added, poison=self.random.random() < 0.2)
            self.added += 1
            memory.extend([turn], strict=True)
            self.poisoned |= {turn.id} if "poison" in turn.text else set()
        elif act == "enrich":
            memory.enrich()
        elif act == "batch":
            memory.enrich_batch()
        elif act == "wait":
            self.clock.advance(self.random.choice((1.0, 60.0, 3_600.0)))
        elif act == "forget" and (stored := self.stored()) and self.random.random() < 0.3:
            with contextlib.suppress(UnknownTurn):  # the other one was first
                memory.forget(turns=[self.random.choice(stored)])
        elif act == "reopen":
            self.reopen(which, crash=False)

    def reopen(self, which: int, *, crash: bool) -> None:
        """Open the file again; after a crash, without having closed it."""
        memory = self.workers[which]
        (memory._core.store.db if crash else memory).close()
        self.workers[which] = self.opened(which)

    def stored(self) -> list[str]:
        return [turn.id for turn in self.workers[0].turns()]

    def complaint(self) -> str | None:
        """Return how the rows of jobs contradict the turns, health() or the facts of the model, or None."""
        rows = self.workers[0]._core.store.db.rows(ROWS)
        states = Counter(state for _, state, _ in rows)
        health = self.workers[0].health()
        if states["done"] + states["failed"] + states["pending"] != self.workers[0].stats().turns:
            return f"not every turn has one row of its own: {rows}"
        if (health.pending.get("extract", 0), health.failed.get("extract", 0)) != (states["pending"], states["failed"]):
            return f"health() says {health}, and the rows {dict(states)}"
        if skipped := [name for name, state, read in rows if state == "done" and not read]:
            return f"skipped: {skipped}"
        if early := [name for name, state, read in rows if state != "done" and read]:
            return f"read, and not completed: {early}"
        return None

    def finish(self) -> None:
        """Let everything succeed, and time pass, until no job is pending."""
        self.well = True
        for memory in self.workers:
            memory._core.embedder = EMBEDDER
        for number in range(12):
            self.clock.advance(86_400.0)
            with contextlib.suppress(EvimemError):
                self.workers[number % 2].enrich_batch() if number < 2 else self.workers[number % 2].enrich()
            if not self.workers[0].health().pending:
                return


@pytest.mark.parametrize("count", sizes(60, nightly=2_000, reduced=6))
def test_every_schedule_ends_with_each_job_done_or_failed(disk, seed, count, tell):
    turns = failed = 0
    seen: Counter[str] = Counter()
    with small_thresholds():
        for number in range(count):
            case = f"seed {seed}, schedule {number}"
            world = World(disk / "m.evimem", Random(f"{seed}/{number}"))
            with patch.object(
                evimem.api.core, "MAX_MODEL_REQUESTS", 4 if number % 4 == 0 else 1
            ):  # one: the seed tells all
                for step in range(STEPS):
                    world.act(world.random.randrange(2))
                    found = world.complaint()
                    assert found is None, f"{case}, step {step}: {found}"
                world.finish()
            memory = world.workers[0]
            health, stored = memory.health(), set(world.stored())
            assert world.complaint() is None, case
            assert health.pending == {}, f"{case}: still pending {health.pending}"
            dead = {name for name, state, _ in memory._core.store.db.rows(ROWS) if state == "failed"}
            assert world.poisoned & stored <= dead, f"{case}: poison that was not given up"
            assert damage(memory) == [], case
            turns, failed, seen = turns + len(stored), failed + len(dead), seen + world.seen
            for one in world.workers:
                one.close()
            for file in disk.iterdir():
                file.unlink()
    meanwhile = sum(times for what, times in seen.items() if what.endswith("meanwhile"))
    assert meanwhile > count / 10
    tell(
        f"{count} schedules of {STEPS} steps, {seen['crashes']} crashes, {meanwhile} overtakings, {turns} turns: "
        f"each done, or failed by name ({failed}), or still pending after every step; 0 skipped"
    )
