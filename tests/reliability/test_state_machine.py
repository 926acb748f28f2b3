"""Any sequence of operations on a pool of users' memories leaves in each exactly what a dict would hold.

Two pools over one folder stand for two processes. Texts are of any Unicode, ids are hostile, thresholds are small.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from evimem import Memory, MemoryPool, Turn, TurnConflict
from evimem.index.document import document
from evimem.pool import key_of
from evimem.terms import terms
from evimem.testing import FakeClock
from evimem.trace import Found, Trace

from .support.children import in_child
from .support.scale import SEED, sizes
from .support.world import EMBEDDER, EXTRACTOR, NOON, Unreachable, small_thresholds

USERS = ("ana", "Ana", "\u00e1na", "a\u0301na", "../ana", "ana%", "ana' OR 1=1 --")
IDS = (*"123456789abcde", "é", "e\u0301", "../1", "1' --", "%", "\u202e7", "0x")
TOKENS = ("zebra", "zebra", "zebra", "Kettle", "straße", "ピアノ")  # alike often enough to be linked
SESSIONS = ("s1", "s2", "S1", "s%")
NUMBERS = st.integers(0, 2**32 - 1)
REACHED: Counter[str] = Counter()  # what the machines really did: a test of empty memories would be no test
MOST = 40  # turns that a search asks for: more than a memory here ever holds

Model = dict[str, Turn]


class Pools(RuleBasedStateMachine):
    """Users' memories beside dicts of what they must hold. Hypothesis picks the rules; a number stands for the rest."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.stack.enter_context(small_thresholds())
        shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.folder = Path(tempfile.mkdtemp(prefix="evimem-", dir=shared))
        self.stack.callback(shutil.rmtree, self.folder)
        self.clock = FakeClock(1.7e9)
        self.users: tuple[str, ...] = ()
        self.models: dict[str, Model] = {}
        self.forgotten: dict[str, set[str]] = {}
        self.steps = 0
        self.handles = 0

    @initialize(number=NUMBERS)
    def start(self, number: int) -> None:
        random = Random(number)
        self.models = {user: {} for user in self.users or random.sample(USERS, random.randint(2, 3))}
        self.forgotten = {user: set() for user in self.models}
        self.pools = [self.pool(), self.pool()]
        for user in self.models:
            self.extend(user, random, 8)
            for pool in self.pools:
                with pool.open(user) as memory:
                    memory.search(TOKENS[0])
        self.handles = open_files()

    @rule(number=NUMBERS)
    def add(self, number: int) -> None:
        user, random = self.user(number)
        turn = any_turn(random)
        kept = self.models[user].get(turn.id)
        with self.memory(user, random) as memory:
            if kept is not None and kept != turn:
                with pytest.raises(TurnConflict):
                    memory.extend([turn], strict=True)
                return
            (status,) = memory.extend([turn], strict=True).statuses
        back = turn.id in self.forgotten[user]
        assert status.outcome == ("exists" if kept else "readded" if back else "added")
        self.models[user][turn.id] = turn

    @rule(number=NUMBERS, count=st.integers(1, 9))
    def add_many(self, number: int, count: int) -> None:
        user, random = self.user(number)
        self.extend(user, random, count)

    @rule(number=NUMBERS)
    def add_while_the_embedder_is_down(self, number: int) -> None:
        user, random = self.user(number)
        with self.memory(user, random) as memory:
            memory._core.embedder = Unreachable(EMBEDDER.dimension)
            try:
                self.extend(user, random, 2, memory)
            finally:
                memory._core.embedder = EMBEDDER

    @precondition(lambda self: self.turns() > 3)
    @rule(number=NUMBERS)
    def forget_some(self, number: int) -> None:
        user, random = self.user(number, with_turns=True)
        ids = sorted(self.models[user])
        ids = random.sample(ids, random.randint(1, min(3, len(ids))))
        with self.memory(user, random) as memory:
            assert memory.forget(turns=ids).turns == len(ids)
        self.drop(user, ids)

    @precondition(lambda self: self.turns() > 6)
    @rule(number=NUMBERS)
    def forget_a_session(self, number: int) -> None:
        user, random = self.user(number, with_turns=True)
        session = random.choice(SESSIONS)
        ids = [turn.id for turn in self.models[user].values() if turn.session == session]
        with self.memory(user, random) as memory:
            assert memory.forget(session=session).turns == len(ids)
        self.drop(user, ids)

    @precondition(lambda self: self.turns() > 15)
    @rule(number=NUMBERS)
    def forget_everything(self, number: int) -> None:
        user, random = self.user(number, with_turns=True)
        with self.memory(user, random) as memory:
            assert memory.forget(everything=True).turns == len(self.models[user])
        self.drop(user, list(self.models[user]))

    @precondition(lambda self: self.turns() > 15)
    @rule(number=NUMBERS)
    def erase_a_user(self, number: int) -> None:
        user, random = self.user(number, with_turns=True)
        ids = set(self.models[user])
        report = random.choice(self.pools).erase(user)
        assert report.turns == len(ids)
        self.models[user] = {}
        key = key_of(user)
        if (self.folder / "pool" / key[:2] / f"{key}.evimem").exists():
            assert "has the memory open" in str(report.reason)
            self.forgotten[user] |= ids
        else:
            self.forgotten[user] = set()  # with the file went what it knew of forgotten ids

    @rule(number=NUMBERS)
    def search_a_word(self, number: int) -> None:
        user, random = self.user(number)
        model, token = self.models[user], random.choice(TOKENS)
        having = {name for name, turn in model.items() if set(terms(token)) & document(turn).terms.keys()}
        for pool in self.pools:
            with pool.open(user) as memory:
                hits = memory.search(token, k=MOST)
                store = memory._core.store
                with store._db.reading():
                    named = set(store._layers.raw.ids(store._naming(token)).values())
            assert {hit.turn.id for hit in hits} == set(model), "a search returns every eligible turn, and no other"
            assert named == having, "the postings in memory are not those of the turns"
            assert having <= {hit.turn.id for hit in hits if hit.parts.get("words")}
            assert {name for hit in hits for name in hit.neighbours} <= set(model)
            assert all(model[hit.turn.id] == hit.turn for hit in hits)
            assert all(fact.turn_id == hit.turn.id for hit in hits for fact in hit.facts)

    @rule(number=NUMBERS, k=st.integers(1, 4))
    def search_within(self, number: int, k: int) -> None:
        user, random = self.user(number)
        session = random.choice(SESSIONS)
        inside = {turn.id for turn in self.models[user].values() if turn.session == session and turn.speaker == "Mira"}
        with self.memory(user, random) as memory:
            hits = memory.search(random.choice(TOKENS), k=k, session=session, speaker="Mira")
        assert len(hits) == min(k, len(inside)), "a filtered search returns as many turns as there are, up to k"
        assert {hit.turn.id for hit in hits} <= inside

    @rule(number=NUMBERS, seconds=st.sampled_from((0.0, 60.0, 86_400.0, -3_600.0)))
    def enrich(self, number: int, seconds: float) -> None:
        self.clock.advance(seconds)
        with self.memory(*self.user(number)) as memory:
            memory.enrich()

    @rule(number=NUMBERS)
    def rebuild(self, number: int) -> None:
        with self.memory(*self.user(number)) as memory:
            memory.rebuild()

    @rule(number=NUMBERS)
    def keep_a_trace(self, number: int) -> None:
        user, random = self.user(number)
        with self.memory(user, random) as memory:
            memory.keep_trace(Trace("what?", "iris", (Found(1, "anchor", tuple(self.models[user])[:3]),)))

    @rule(which=st.integers(0, 1))
    def open_again(self, which: int) -> None:
        self.pools[which].close()
        self.pools[which] = self.pool()

    @rule(number=NUMBERS)
    def open_in_a_new_process(self, number: int) -> None:
        user, _ = self.user(number)
        model = self.models[user]
        self.close()

        def look() -> None:
            with self.pool() as pool, pool.open(user) as memory:
                check(memory, model, thorough=True)

        in_child(look)
        self.pools = [self.pool(), self.pool()]

    @rule(number=NUMBERS)
    def back_up_and_restore(self, number: int) -> None:
        user, random = self.user(number)
        copy = self.folder / "copy.evimem"
        with self.memory(user, random) as memory:
            memory.backup(copy)
            path = memory._core.store.path
        self.close()
        shutil.copyfile(copy, path)
        copy.unlink()
        self.pools = [self.pool(), self.pool()]

    @precondition(lambda self: self.models)
    @invariant()
    def every_memory_holds_its_model(self, *, thorough: bool = False) -> None:
        self.steps += 1
        for user, model in self.models.items():
            with self.pools[self.steps % 2].open(user) as memory:
                check(memory, model, thorough=thorough or self.steps % 5 == 0)
        REACHED["turns at a check"] += self.turns()
        REACHED["checks"] += 1
        # SQLite keeps one descriptor a file that it may not close yet, as closing drops the locks of the process.
        assert open_files() <= self.handles + 4 + len(self.models), "files stay open"

    def pool(self) -> MemoryPool:
        return MemoryPool(self.folder / "pool", capacity=2, embedder=EMBEDDER, extractor=EXTRACTOR, clock=self.clock)

    def user(self, number: int, *, with_turns: bool = False) -> tuple[str, Random]:
        random = Random(number)
        return random.choice([user for user, model in self.models.items() if model or not with_turns]), random

    def memory(self, user: str, random: Random) -> AbstractContextManager[Memory]:
        return random.choice(self.pools).open(user)

    def turns(self) -> int:
        return sum(map(len, self.models.values()))

    def extend(self, user: str, random: Random, count: int, lent: Memory | None = None) -> None:
        turns = [any_turn(random) for _ in range(count)]
        model = self.models[user]
        expected = ["stored" if model.setdefault(turn.id, turn) == turn else "refused" for turn in turns]
        with nullcontext(lent) if lent else self.memory(user, random) as memory:
            outcomes = [status.outcome for status in memory.extend(turns).statuses]
        assert [outcome if outcome == "refused" else "stored" for outcome in outcomes] == expected

    def drop(self, user: str, ids: list[str]) -> None:
        for name in ids:
            del self.models[user][name]
        self.forgotten[user] |= set(ids)
        REACHED["turns forgotten"] += len(ids)

    def close(self) -> None:
        for pool in self.pools:
            pool.close()

    def teardown(self) -> None:
        if self.models:
            self.close()
        self.stack.close()


def any_turn(random: Random) -> Turn:
    words = [any_text(random), random.choice(TOKENS), any_text(random)]
    text = " ".join(words[random.randint(0, 1) :])
    time = NOON + timedelta(minutes=random.randint(-50, 50))
    return Turn(random.choice(IDS), random.choice(SESSIONS), random.choice(("Mira", "Tomas")), text, time, role="user")


def any_text(random: Random) -> str:
    """Return a few characters from anywhere in Unicode, control characters and lone surrogates included."""
    ranges = (
        (0x20, 0x7F),
        (0, 0x20),
        (0xA0, 0x250),
        (0x300, 0x370),
        (0x2000, 0x2070),
        (0xD800, 0xE000),
        (0x1F300, 0x1F700),
    )
    return "".join(chr(random.randrange(*random.choice(ranges))) for _ in range(random.randint(0, 8)))


def check(memory: Memory, model: Model, *, thorough: bool) -> None:
    assert list(memory.turns()) == list(model.values())
    assert memory.stats().turns == len(model)
    if thorough:
        assert memory.check().problems == ()


def open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


DAY = (  # what every known-bad behaviour shows under, in an order that leaves each something to spoil
    "add", "add_many", "search_a_word", "enrich", "search_within", "add", "add_many", "add_while_the_embedder_is_down",
    "search_a_word", "enrich", "forget_some", "search_a_word", "open_again", "add_many", "forget_a_session", "add",
    "search_within", "keep_a_trace", "enrich", "forget_some", "open_again", "search_a_word", "add_many", "open_again",
    "back_up_and_restore", "enrich", "erase_a_user", "add_many", "open_in_a_new_process", "rebuild", "search_a_word",
)  # fmt: skip
OPTIONS = {"add_many": {"count": 9}, "search_within": {"k": 2}, "enrich": {"seconds": 86_400.0}}


@pytest.mark.parametrize("number", range(4))
def test_a_day_with_a_bit_of_everything_leaves_what_dicts_would(number: int) -> None:
    machine, random = Pools(), Random(number)
    machine.users = ("\u00e1na", "a\u0301na", "ana%")
    machine.start(number=number)
    try:
        for name in DAY:
            given = {"which": random.randint(0, 1)} if name == "open_again" else {"number": random.getrandbits(32)}
            getattr(machine, name)(**given, **OPTIONS.get(name, {}))
            machine.every_memory_holds_its_model(thorough=True)
    finally:
        machine.teardown()


@pytest.mark.parametrize("count", sizes(80, nightly=10_000, reduced=40))
def test_memories_of_a_pool_hold_what_dicts_would(count: int, tell: Callable[[str], None]) -> None:
    profile = settings(
        max_examples=count,
        stateful_step_count=30,
        deadline=None,
        database=None,
        derandomize=False,
        phases=[Phase.generate, Phase.shrink] if count > 1_000 else [Phase.generate],
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    REACHED.clear()
    run_state_machine_as_test(seed(SEED)(Pools), settings=profile)
    turns = REACHED["turns at a check"] / REACHED["checks"]
    assert turns > 10, f"the memories held {turns:.1f} turns on average: too few to say anything"
    assert REACHED["turns forgotten"] > REACHED["checks"] / 10
    gone = REACHED["turns forgotten"]
    tell(f"{count} machines, {REACHED['checks']} steps, {turns:.0f} turns held, {gone} forgotten: 0 differences")
