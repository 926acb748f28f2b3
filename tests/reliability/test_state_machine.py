"""Any sequence of operations on a pool of users' memories leaves in each exactly what a dict would hold.

Two pools over one folder stand for two processes. Texts are of any Unicode, ids are hostile, thresholds are small.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

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
from evimem.terms import terms
from evimem.testing import FakeClock
from evimem.trace import Found, Trace

from .support.children import in_child
from .support.scale import SEED, sizes
from .support.world import EMBEDDER, EXTRACTOR, NOON, Unreachable, small_thresholds

USERS = ("ana", "Ana", "\u00e1na", "a\u0301na", "../ana", "ana%", "ana' OR 1=1 --")
IDS = (*"123456789abcde", "é", "e\u0301", "../1", "1' --", "%", "\u202e7", "0x")
TOKENS = ("zebra", "zebra", "zebra", "Kettle", "straße", "ピアノ")  # alike enough to be linked beyond what a fact takes
SESSIONS = ("s1", "s2", "S1", "s%")
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
MOST = 40  # turns that a search asks for: more than a memory here ever holds

Model = dict[str, Turn]


class Pools(RuleBasedStateMachine):
    """Users' memories beside dicts of what they must hold."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.stack.enter_context(small_thresholds())
        shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.folder = Path(tempfile.mkdtemp(prefix="evimem-", dir=shared))
        self.stack.callback(shutil.rmtree, self.folder)
        self.clock = FakeClock(1.7e9)
        self.models: dict[str, Model] = {}
        self.forgotten: dict[str, set[str]] = {}
        self.step = 0
        self.handles = 0

    @initialize(users=st.lists(st.sampled_from(USERS), min_size=2, max_size=3, unique=True))
    def start(self, users: list[str]) -> None:
        self.models = {user: {} for user in users}
        self.forgotten = {user: set() for user in users}
        self.pools = [self.pool(), self.pool()]
        self.touch_all()
        self.handles = open_files()

    def pool(self) -> MemoryPool:
        return MemoryPool(self.folder / "pool", capacity=2, embedder=EMBEDDER, extractor=EXTRACTOR, clock=self.clock)

    def touch_all(self) -> None:
        for user in self.models:
            for pool in self.pools:
                with pool.open(user):
                    pass

    def turn(self, data: st.DataObject, user: str) -> Turn:
        draw = data.draw
        words = [draw(ANY_TEXT), draw(st.sampled_from(TOKENS)), draw(ANY_TEXT)]
        text = " ".join(words[draw(st.integers(0, 1)) :])
        return Turn(
            draw(st.sampled_from(IDS)), draw(st.sampled_from(SESSIONS)), draw(st.sampled_from(("Mira", "Tomas"))), text,
            NOON + timedelta(minutes=draw(st.integers(-50, 50))), role="user",
        )  # fmt: skip

    def user(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.models)), label="user")

    def memory(self, data: st.DataObject, user: str) -> Any:
        return data.draw(st.sampled_from(self.pools), label="pool").open(user)

    @rule(data=st.data(), reachable=st.booleans())
    def add(self, data: st.DataObject, reachable: bool) -> None:
        user = self.user(data)
        turn = self.turn(data, user)
        kept = self.models[user].get(turn.id)
        with self.memory(data, user) as memory:
            self.reach(memory, reachable)
            if kept is not None and kept != turn:
                with pytest.raises(TurnConflict):
                    memory.extend([turn], strict=True)
            else:
                (status,) = memory.extend([turn], strict=True).statuses
                back = turn.id in self.forgotten[user]
                assert status.outcome == ("exists" if kept else "readded" if back else "added")
                self.models[user][turn.id] = turn
            self.reach(memory, True)

    @rule(data=st.data(), count=st.integers(2, 9))
    def add_many(self, data: st.DataObject, count: int) -> None:
        user = self.user(data)
        turns = [self.turn(data, user) for _ in range(count)]
        model = self.models[user]
        expected = []
        for turn in turns:
            kept = model.setdefault(turn.id, turn)
            expected.append("refused" if kept != turn else "stored")
        with self.memory(data, user) as memory:
            outcomes = [status.outcome for status in memory.extend(turns).statuses]
        assert [outcome if outcome == "refused" else "stored" for outcome in outcomes] == expected

    @rule(data=st.data())
    def forget_some(self, data: st.DataObject) -> None:
        user = self.user(data)
        ids = data.draw(st.lists(st.sampled_from(sorted(self.models[user]) or ["1"]), unique=True, max_size=3))
        ids = [turn_id for turn_id in ids if turn_id in self.models[user]]
        with self.memory(data, user) as memory:
            assert memory.forget(turns=ids).turns == len(ids)
        self.drop(user, ids)

    @rule(data=st.data(), session=st.sampled_from(SESSIONS))
    def forget_session(self, data: st.DataObject, session: str) -> None:
        user = self.user(data)
        ids = [turn.id for turn in self.models[user].values() if turn.session == session]
        with self.memory(data, user) as memory:
            assert memory.forget(session=session).turns == len(ids)
        self.drop(user, ids)

    @rule(data=st.data())
    def forget_everything(self, data: st.DataObject) -> None:
        user = self.user(data)
        with self.memory(data, user) as memory:
            assert memory.forget(everything=True).turns == len(self.models[user])
        self.drop(user, list(self.models[user]))

    @rule(data=st.data())
    def erase_a_user(self, data: st.DataObject) -> None:
        user = self.user(data)
        data.draw(st.sampled_from(self.pools), label="pool").erase(user)
        self.models[user] = {}
        with self.pools[0].open(user) as memory:
            gone = {
                status.id
                for status in memory.extend([probe(name) for name in IDS]).statuses
                if status.outcome == "readded"
            }
            memory.forget(everything=True)
        assert gone in (set(), self.forgotten[user] | gone)
        self.forgotten[user] = set(IDS)

    @rule(data=st.data(), token=st.sampled_from(TOKENS))
    def search_a_word(self, data: st.DataObject, token: str) -> None:
        user = self.user(data)
        model = self.models[user]
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

    @rule(data=st.data(), token=st.sampled_from(TOKENS), session=st.sampled_from(SESSIONS), k=st.integers(1, 4))
    def search_within(self, data: st.DataObject, token: str, session: str, k: int) -> None:
        user = self.user(data)
        inside = {turn.id for turn in self.models[user].values() if turn.session == session and turn.speaker == "Mira"}
        with self.memory(data, user) as memory:
            hits = memory.search(token, k=k, session=session, speaker="Mira")
        assert len(hits) == min(k, len(inside))
        assert {hit.turn.id for hit in hits} <= inside

    @rule(data=st.data())
    def enrich(self, data: st.DataObject) -> None:
        self.clock.advance(data.draw(st.sampled_from((0.0, 60.0, 86_400.0, -3_600.0)), label="clock"))
        with self.memory(data, self.user(data)) as memory:
            memory.enrich()

    @rule(data=st.data())
    def rebuild(self, data: st.DataObject) -> None:
        with self.memory(data, self.user(data)) as memory:
            memory.rebuild()

    @rule(data=st.data())
    def keep_a_trace(self, data: st.DataObject) -> None:
        user = self.user(data)
        with self.memory(data, user) as memory:
            memory.keep_trace(Trace("what?", "iris", (Found(1, "anchor", tuple(self.models[user])[:3]),)))

    @rule(data=st.data())
    def open_again(self, data: st.DataObject) -> None:
        which = data.draw(st.integers(0, 1), label="pool")
        self.pools[which].close()
        self.pools[which] = self.pool()

    @rule(data=st.data())
    def open_in_a_new_process(self, data: st.DataObject) -> None:
        user = self.user(data)
        model = self.models[user]
        self.close()

        def look() -> None:
            with self.pool() as pool, pool.open(user) as memory:
                check(memory, model, thorough=True)

        in_child(look)
        self.pools = [self.pool(), self.pool()]

    @rule(data=st.data())
    def back_up_and_look(self, data: st.DataObject) -> None:
        user = self.user(data)
        copy = self.folder / "copy.evimem"
        with self.memory(data, user) as memory:
            memory.backup(copy)
            path = memory._core.store.path
        self.close()
        shutil.copyfile(copy, path)  # restoring is putting the file in its place
        copy.unlink()
        self.pools = [self.pool(), self.pool()]

    @precondition(lambda self: self.models)
    @invariant()
    def every_memory_holds_its_model(self) -> None:
        self.step += 1
        for user, model in self.models.items():
            with self.pools[self.step % 2].open(user) as memory:
                check(memory, model, thorough=self.step % 5 == 0)
        assert open_files() <= self.handles + 4, "files stay open"

    def reach(self, memory: Memory, reachable: bool) -> None:
        memory._core.embedder = EMBEDDER if reachable else Unreachable(EMBEDDER.dimension)

    def drop(self, user: str, ids: list[str]) -> None:
        for name in ids:
            del self.models[user][name]
        self.forgotten[user] |= set(ids)

    def close(self) -> None:
        for pool in self.pools:
            pool.close()

    def teardown(self) -> None:
        if self.models:
            self.close()
        self.stack.close()


def check(memory: Memory, model: Model, *, thorough: bool) -> None:
    assert list(memory.turns()) == list(model.values())
    assert memory.stats().turns == len(model)
    if thorough:
        assert memory.check().problems == ()


def probe(name: str) -> Turn:
    return Turn(name, "s1", "Mira", "probe", NOON)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


@pytest.mark.parametrize("count", sizes(60, nightly=10_000, reduced=100))
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
    run_state_machine_as_test(seed(SEED)(Pools), settings=profile)
    tell(f"{count} machines of up to 30 steps: 0 differences")
