"""Memories of users in two pools over one folder, which stand for two processes, and dicts of what they must hold."""

import os
import shutil
import tempfile
from collections import Counter
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from pathlib import Path
from random import Random

from evimem import Memory, MemoryPool, ModelError, Turn
from evimem.api.pool import key_of
from evimem.llm.extract_facts import may_state_facts
from evimem.testing import ScriptedModel
from evimem.text.terms import terms
from tests.doubles import FakeClock, WordEmbedder

from .sayings import EXTRACTOR, Mood, any_turn, predicted, reply, token_in
from .tables import indexed
from .world import EMBEDDER, NOON, damage, small_thresholds

REACHED: Counter[str] = Counter()  # what was really done: a test of empty memories would be no test

Model = dict[str, Turn]


class Pools:
    """The memories, the dicts that model them, and their comparison."""

    def __init__(self) -> None:
        self.stack = ExitStack()
        self.stack.enter_context(small_thresholds())
        shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.folder = Path(tempfile.mkdtemp(prefix="evimem-", dir=shared))
        self.stack.callback(shutil.rmtree, self.folder)
        self.clock, self.noon = FakeClock(1.7e9), NOON
        self.mood: Mood = "well"
        self.embedder: WordEmbedder = EMBEDDER
        self.models: dict[str, Model] = {}
        self.forgotten: dict[str, set[str]] = {}
        self.read: dict[str, set[str]] = {}  # what a model read, and well
        self.numbers: dict[str, dict[str, int]] = {}
        self.acting = ""
        self.steps = self.handles = 0

    def check(self, memory: Memory, user: str, *, thorough: bool) -> None:
        model = self.models[user]
        assert list(memory.turns()) == list(model.values()), "the turns are not those that were kept"
        assert memory.stats().turns == len(model)
        found = states(memory)
        assert found.keys() == model.keys(), "a turn without a state of its own, or a state without a turn"
        known, numbers = self.numbers[user], dict(memory._core.store.db.rows("SELECT id, seq FROM turn"))
        fresh = [seq for name, seq in numbers.items() if known.get(name) != seq]
        assert min(fresh, default=1) > max(known.values(), default=0) or not fresh, "a number was given twice"
        self.numbers[user] |= numbers
        if not thorough:
            return
        problems = damage(memory, EXTRACTOR)
        assert problems == [], f"something is wrong: {problems}"
        assert memory.health().failed.get("extract", 0) == len(having(found, "failed")), (
            "jobs failed, and health() does not report them"
        )
        assert indexed(memory) == set(model), "the index holds what is no turn, or lacks one"
        facts = memory.facts(list(model))
        stated = {fact for fact in facts if fact.extractor == EXTRACTOR.name}
        by_model = {fact.turn_id for fact in facts if fact.extractor == "llm"}
        by_rule = [turn for turn in model.values() if turn.id not in by_model]
        assert stated == predicted(by_rule), "facts, or what replaced them, are not those of the turns"
        REACHED["replaced"] += sum(fact.replaced_by is not None for fact in stated)
        said = [(fact.turn_id, _words(fact.predicate, fact.object)) for fact in facts if fact.extractor == "llm"]
        for name in self.read[user]:
            token = token_in(model[name].text) if may_state_facts(model[name]) else ""
            found = any(one == name and words >= _words("mentions", token) for one, words in said)
            assert found or not token, "a model read it, and what it found is not there"

    def pool(self) -> MemoryPool:
        model = ScriptedModel(then=lambda request: reply(request, self.mood))
        options = {"embedder": self.embedder, "extractor": EXTRACTOR, "clock": self.clock}
        return MemoryPool(self.folder / "pool", capacity=2, llm=model, **options)

    def path(self, user: str) -> Path:
        key = key_of(user)
        return self.folder / "pool" / key[:2] / f"{key}.evimem"

    def user(self, number: int, *, with_turns: bool = False) -> tuple[str, Random]:
        random = Random(number)
        self.acting = random.choice([user for user, model in self.models.items() if model or not with_turns])
        return self.acting, random

    def memory(self, user: str, random: Random) -> AbstractContextManager[Memory]:
        return random.choice(self.pools).open(user)

    def turns(self) -> int:
        return sum(map(len, self.models.values()))

    def extend(self, user: str, random: Random, count: int, lent: Memory | None = None) -> None:
        turns = [any_turn(random, self.noon) for _ in range(count)]
        model = self.models[user]
        expected = ["stored" if model.setdefault(turn.id, turn) == turn else "refused" for turn in turns]
        with nullcontext(lent) if lent else self.memory(user, random) as memory:
            outcomes = [status.outcome for status in memory.extend(turns).statuses]
        assert [outcome if outcome == "refused" else "stored" for outcome in outcomes] == expected, "taken otherwise"

    def enrich(self, memory: Memory, mood: Mood) -> tuple[set[str], list[str]]:
        """Run enrich(); return which turns are done now, and which are not."""
        self.mood, before = mood, states(memory)
        with suppress(ModelError):
            memory.enrich()
        after = states(memory)
        done = set(having(before, "done"))
        assert done <= set(having(after, "done")), "a job that was done is queued again"
        REACHED["read by a model"] += len(set(having(after, "done")) - done)
        REACHED["given up"] += len(having(after, "failed")) - len(having(before, "failed"))
        return set(having(after, "done")) - done, having(after, "pending")

    def forget(self, memory: Memory, user: str, random: Random) -> None:
        ids = sorted(self.models[user])
        ids = random.sample(ids, random.randint(1, min(3, len(ids))))
        assert memory.forget(turns=ids).turns == len(ids), "more or fewer were forgotten"
        self.drop(user, ids)

    def drop(self, user: str, ids: list[str]) -> None:
        for name in ids:
            del self.models[user][name]
        self.forgotten[user] |= set(ids)
        self.read[user] -= set(ids)
        REACHED["forgotten"] += len(ids)

    def close(self) -> None:
        for pool in self.pools:
            pool.close()

    def remove(self) -> None:
        self.stack.close()


def _words(predicate: str, thing: str) -> frozenset[str]:
    """Return the words of a fact by which another says the same: one found earlier may say ",zebra"."""
    return frozenset(terms(f"{predicate} {thing}"))


def states(memory: Memory) -> dict[str, str]:
    """Return the state of each turn's extraction job."""
    db = memory._core.store.db
    return dict(db.rows("SELECT turn.id, state FROM job JOIN turn USING (seq) WHERE kind = 'extract'"))


def having(found: dict[str, str], state: str) -> list[str]:
    return [name for name, one in found.items() if one == state]


def open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
