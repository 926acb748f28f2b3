"""Owed work comes to an end, turn by turn, whatever models, embedders and processes do meanwhile.

What is owed is a row a turn: a schedule that fails, crashes, forgets and reopens in any order ends with every turn
done or failed by name.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import evimem
from evimem import EmbedderError, EvimemError, Memory, ModelError, ModelTimeout, ModelUnavailable, Turn
from evimem.flow import Complete
from evimem.testing import FakeClock, ScriptedModel

from .support.scale import sizes
from .support.world import EMBEDDER, EXTRACTOR, NOON, Unreachable, small_thresholds


class Crash(BaseException):
    """The process ends here."""


def bought(number: int, *, poison: bool = False) -> Turn:
    text = f"I bought {'poison' if poison else 'a kite'} number {number}."
    return Turn(f"t{number}", f"s{number // 4}", "Mira", text, NOON.replace(minute=number % 60), role="user")


def of_the_turn(request: Complete) -> str:
    return request.prompt.rpartition("<turn")[2]


def read_well(request: Complete) -> str:
    """Reply as a good model does: one fact of a kite, and never anything usable about poison."""
    found = re.search(r"a kite number \d+", of_the_turn(request))
    if not found:
        return "I would rather not."
    fact = {
        "subject": "Mira",
        "predicate": "bought",
        "object": found[0],
        "quote": found[0],
        "kind": "event",
        "when": "",
    }
    return json.dumps({"facts": [fact]})


class World:
    """A memory, its clock, a model and an embedder that do as they are told."""

    def __init__(self, path: Path, random: Random) -> None:
        self.path, self.random = path, random
        self.clock = FakeClock(1.7e9)
        self.well = False
        self.ids: list[str] = []
        self.poisoned: set[str] = set()
        self.memory = self.opened()

    def opened(self) -> Memory:
        model = ScriptedModel(then=self.reply)
        return evimem.open(self.path, llm=model, embedder=EMBEDDER, extractor=EXTRACTOR, clock=self.clock)

    def reply(self, request: Complete) -> str:
        if self.well or self.random.random() < 0.5:
            return read_well(request)
        trouble = self.random.choice(
            (None, "{", ModelTimeout("late"), ModelUnavailable("down", retryable=True), Crash())
        )
        if isinstance(trouble, BaseException):
            raise trouble
        return trouble or ""

    def step(self) -> None:
        """Do one of the things that happen."""
        act = self.random.choice(("add", "add", "enrich", "enrich", "wait", "forget", "reopen"))
        self.memory._core.embedder = EMBEDDER if self.random.random() < 0.7 else Unreachable(EMBEDDER.dimension)
        if act == "add":
            poison = self.random.random() < 0.2
            turn = bought(len(self.ids), poison=poison)
            self.memory.extend([turn], strict=True)
            self.ids.append(turn.id)
            self.poisoned |= {turn.id} if poison else set()
        elif act == "enrich":
            self.enrich()
        elif act == "wait":
            self.clock.advance(self.random.choice((1.0, 60.0, 3_600.0)))
        elif act == "forget" and self.stored() and self.random.random() < 0.3:
            self.memory.forget(turns=[self.random.choice(self.stored())])
        elif act == "reopen":
            self.reopen()

    def enrich(self) -> None:
        try:
            self.memory.enrich()
        except Crash:
            self.reopen()
        except (ModelError, EmbedderError):
            pass

    def reopen(self) -> None:
        self.memory.close()
        self.memory = self.opened()

    def stored(self) -> list[str]:
        return [turn.id for turn in self.memory.turns()]

    def finish(self) -> None:
        """Let everything be well, and time pass, until nothing is owed."""
        self.well = True
        self.memory._core.embedder = EMBEDDER
        for _ in range(12):
            self.clock.advance(86_400.0)
            with contextlib.suppress(EvimemError):
                self.memory.enrich()
            if not self.memory.health().pending:
                return


@pytest.mark.parametrize("count", sizes(60, nightly=2_000, reduced=15))
def test_every_schedule_ends_with_each_turn_done_or_failed_by_name(
    disk: Path, seed: int, count: int, tell: Callable[[str], None]
) -> None:
    turns = failed = 0
    with small_thresholds():
        for number in range(count):
            world = World(disk / f"{number}.evimem", Random(f"{seed}/{number}"))
            for _ in range(25):
                world.step()
            world.finish()
            health, stored, case = world.memory.health(), world.stored(), f"seed {seed}, schedule {number}"
            assert health.pending == {}, f"{case}: still owed {health.pending}"
            rows = world.memory._core.store._db.rows("SELECT turn.id, state FROM job JOIN turn USING (seq)")
            states = dict(rows)
            assert set(states) == set(stored), f"{case}: turns without a row of their own"
            dead = {name for name, state in states.items() if state == "failed"}
            assert world.poisoned & set(stored) <= dead, f"{case}: poison that was not given up"
            assert health.failed == ({"extract": len(dead)} if dead else {}), case
            for name in set(stored) - dead:
                facts = world.memory.facts([name])
                assert {fact.extractor for fact in facts} == {"says", "llm"}, f"{case}: {name} was passed over"
            assert world.memory._core.store.check(EXTRACTOR) == (), case
            turns, failed = turns + len(stored), failed + len(dead)
            world.memory.close()
    tell(f"{count} schedules, {turns} turns: each done, or failed by name ({failed}); 0 passed over")


def test_one_poisoned_turn_among_many_holds_up_no_other_and_is_given_up(disk: Path) -> None:
    clock = FakeClock(1.7e9)
    model = ScriptedModel(then=read_well)
    with evimem.open(disk / "m.evimem", llm=model, embedder=EMBEDDER, extractor=EXTRACTOR, clock=clock) as memory:
        memory.extend([bought(number, poison=number == 7) for number in range(200)])
        for _ in range(4):
            memory.enrich()
            clock.advance(3_600.0)
        assert memory.health().pending == {}
        assert memory.health().failed == {"extract": 1}
        assert memory.health().status == "degraded"
        done = sum(fact.extractor == "llm" for turn in memory.turns() for fact in memory.facts([turn.id]))
        assert done == 199


def test_a_provider_that_is_down_costs_no_turn_and_the_queue_drains_when_it_is_back(disk: Path) -> None:
    clock, up = FakeClock(1.7e9), [False]

    def reply(request: Complete) -> str:
        if not up[0]:
            raise ModelUnavailable("down", retryable=True)
        return read_well(request)

    def opened() -> Memory:
        model = ScriptedModel(then=reply)
        return evimem.open(disk / "m.evimem", llm=model, embedder=EMBEDDER, extractor=EXTRACTOR, clock=clock)

    with opened() as memory:
        memory.extend([bought(number) for number in range(40)])
    for _ in range(20):
        clock.advance(30.0)
        with opened() as memory, contextlib.suppress(ModelError):
            memory.enrich()
    up[0] = True
    clock.advance(3_600.0)
    with opened() as memory:
        assert memory.health().pending == {"extract": 40}
        memory.enrich()
        assert (memory.health().pending, memory.health().failed) == ({}, {})


@pytest.mark.parametrize("by_bytes", [True, False], ids=["of the same request", "of any request"])
def test_a_bad_reply_from_a_cache_is_asked_for_anew_and_never_taken_for_done(disk: Path, by_bytes: bool) -> None:
    clock, cache = FakeClock(1.7e9), dict[object, str]()
    origin = iter(["{", "{"])

    def reply(request: Complete) -> str:
        key = (request.system, request.prompt) if by_bytes else None
        return cache.setdefault(key, next(origin, None) or read_well(request))

    with evimem.open(
        disk / "m.evimem", llm=ScriptedModel(then=reply), embedder=EMBEDDER, extractor=EXTRACTOR, clock=clock
    ) as memory:
        memory.extend([bought(0)])
        for _ in range(6):
            memory.enrich()
            clock.advance(86_400.0)
        found = {fact.extractor for fact in memory.facts(["t0"])}
        assert (found, memory.health().failed) == (({"says", "llm"}, {}) if by_bytes else ({"says"}, {"extract": 1}))
