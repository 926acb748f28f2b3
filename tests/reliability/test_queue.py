"""The queue does not get stuck on one bad turn, on a provider that is down, or on a cache that repeats a bad reply."""

import contextlib
import json
import re
import signal
from collections.abc import Callable

import pytest

import evimem
from evimem import Memory, MemoryPool, ModelError, ModelTimeout, ModelUnavailable, Turn
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete
from tests.doubles import FakeClock
from tests.sizes import sizes

from .support.children import Send, killed_after
from .support.tables import differences, dump
from .support.world import EMBEDDER, EXTRACTOR, NOON


def bought(number: int, *, poison: bool = False) -> Turn:
    text = f"I bought {'poison' if poison else 'a kite'} number {number}."
    return Turn(f"t{number}", f"s{number // 4}", "Mira", text, NOON.replace(minute=number % 60), role="user")


def of_the_turn(request: Complete) -> str:
    return request.prompt.rpartition("<turn")[2]


def read_well(request: Complete) -> str:
    """Reply as a good model, with one fact of a kite; to poison, never with anything usable."""
    found = re.search(r"a kite number \d+", of_the_turn(request))
    if not found:
        return "I would rather not."
    fact = {
        "subject": "Mira", "predicate": "bought", "object": found[0], "quote": found[0], "kind": "event", "when": "",
    }  # fmt: skip
    return json.dumps({"facts": [fact]})


POISON = {  # what a model makes of a turn that it cannot take
    "an unusable reply": "I would rather not.",
    "a refusal": ModelUnavailable("too long", retryable=False, status=400),
    "no end": ModelTimeout("the reply did not end in time"),
}


@pytest.mark.parametrize("kind", POISON)
@pytest.mark.parametrize("count", sizes(80, nightly=200, reduced=5))
def test_one_poisoned_turn_of_each_user_holds_up_no_other_and_is_given_up(disk, kind, count):
    """The first turn of each of five users fails with every model."""
    clock = FakeClock(1.7e9)
    users = ("ana", "bo", "cy", "dee", "eve")

    def reply(request: Complete) -> str:
        poison = POISON[kind]
        if "poison" not in of_the_turn(request):
            return read_well(request)
        if isinstance(poison, Exception):
            raise poison
        return poison

    options = {"embedder": EMBEDDER, "extractor": EXTRACTOR, "clock": clock}
    with MemoryPool(disk, capacity=2, llm=ScriptedModel(then=reply), **options) as pool:
        for user in users:
            with pool.open(user) as memory:
                memory.extend([bought(number, poison=number == 0) for number in range(count)])
        left = []
        for _ in range(10):
            clock.advance(3_600.0)
            for user in users:
                with pool.open(user) as memory, contextlib.suppress(ModelError):
                    memory.enrich()
                with pool.open(user) as memory:
                    left.append(memory.health().pending.get("extract", 0))
        assert max(left[5:10]) <= 1, "one turn held up others for more than one round"
        for user in users:
            with pool.open(user) as memory:
                health = memory.health()
                assert (health.pending, health.failed, health.status) == ({}, {"extract": 1}, "degraded"), (
                    "not given up"
                )
                ids = [turn.id for turn in memory.turns()]
                assert sum(fact.extractor == "llm" for fact in memory.facts(ids)) == count - 1
                assert len(ids) == count


def test_a_process_that_dies_in_the_middle_of_a_question_leaves_all_as_it_was(disk):
    """Asking writes nothing and holds no lock while a model answers: the queue is the same afterwards."""

    def opened(clock: FakeClock, reply: Callable[[Complete], str]) -> Memory:
        options = {"embedder": EMBEDDER, "extractor": EXTRACTOR, "clock": clock}
        return evimem.open(disk / "m.evimem", llm=ScriptedModel(then=reply), **options)

    def work(send: Send) -> None:
        def think(request: Complete) -> str:
            send(request.role)
            signal.pause()
            return ""

        opened(FakeClock(1.7e9), think).ask("What did Mira buy?")

    with opened(FakeClock(1.7e9), read_well) as memory:
        memory.extend([bought(number) for number in range(30)])
        memory.stats()  # reads their facts, as the question else would
        before = dump(memory)
    assert killed_after(0.01, work) == ["judge"]
    with opened(FakeClock(1.7e9), read_well) as memory:
        assert differences(dump(memory), before) == []
        assert memory.health().pending == {"extract": 30}
        memory.enrich()
        assert memory.health().pending == {}


def test_a_provider_that_is_down_costs_no_turn_and_the_queue_drains_when_it_is_back(disk):
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


def test_jobs_are_not_delayed_by_a_clock_that_was_set_back(disk):
    clock = FakeClock(2.7e9)
    model = ScriptedModel([ModelUnavailable("down", retryable=True, retry_after=9e8)], then=read_well)
    with evimem.open(disk / "m.evimem", llm=model, embedder=EMBEDDER, extractor=EXTRACTOR, clock=clock) as memory:
        memory.extend([bought(0)])
        with pytest.raises(ModelUnavailable):
            memory.enrich()
        clock.now = 1.7e9
        memory.enrich()
        assert memory.health().pending == {}


@pytest.mark.parametrize("by_bytes", [True, False], ids=["of the same request", "of any request"])
def test_a_bad_reply_from_a_cache_is_requested_again_and_never_taken_for_done(disk, by_bytes):
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
        wanted = ({"llm"}, {}) if by_bytes else ({"says"}, {"extract": 1})
        assert (found, memory.health().failed) == wanted, "asked for again with the same bytes, or taken for done"
        assert memory.health().status == ("ok" if by_bytes else "degraded")
