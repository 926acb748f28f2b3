"""A state machine over the memories of users. Hypothesis picks the rules; a number determines everything else.

Texts hold any Unicode, ids are hostile, thresholds are small.
"""

import shutil
from contextlib import suppress
from datetime import datetime, timedelta
from random import Random

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from evimem import ModelError, TurnConflict
from evimem.index.document import documents
from evimem.llm.extract_facts import may_state_facts
from evimem.store.reads import seqs_naming
from evimem.text.terms import terms
from evimem.types.trace import Found, Trace
from tests.doubles import WordEmbedder

from .children import in_child
from .pools import REACHED, Pools, open_files
from .sayings import SESSIONS, TOKENS, Mood, any_turn
from .world import EMBEDDER, Unreachable

USERS = ("ana", "Ana", "\u00e1na", "a\u0301na", "../ana", "ana%", "ana' OR 1=1 --")
NUMBERS = st.integers(0, 2**32 - 1)
OTHER = WordEmbedder(24)
MOST = 40  # turns that a search asks for: more than a memory here ever holds
LONG = 3_650 * 86_400.0


class Machine(Pools, RuleBasedStateMachine):
    """The operations on the memories, and what must hold after each."""

    users: tuple[str, ...] = ()

    def __init__(self) -> None:
        RuleBasedStateMachine.__init__(self)
        Pools.__init__(self)

    @initialize(number=NUMBERS)
    def start(self, number: int) -> None:
        random = Random(number)
        self.models = {user: {} for user in self.users or random.sample(USERS, random.randint(2, 3))}
        self.forgotten, self.read = ({user: set() for user in self.models} for _ in range(2))
        self.numbers = {user: {} for user in self.models}
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
        turn = any_turn(random, self.noon)
        kept = self.models[user].get(turn.id)
        with self.memory(user, random) as memory:
            if kept is not None and kept != turn:
                with pytest.raises(TurnConflict):
                    memory.extend([turn], strict=True)
                return
            (status,) = memory.extend([turn], strict=True).statuses
        back = turn.id in self.forgotten[user]
        assert status.outcome == ("exists" if kept else "readded" if back else "added"), "taken otherwise"
        self.models[user][turn.id] = turn

    @rule(number=NUMBERS, count=st.integers(1, 9))
    def add_many(self, number: int, count: int) -> None:
        user, random = self.user(number)
        self.extend(user, random, count)

    @rule(number=NUMBERS)
    def add_while_the_embedder_is_down(self, number: int) -> None:
        user, random = self.user(number)
        with self.memory(user, random) as memory:
            memory._core.embedder = Unreachable(self.embedder.dimension)
            try:
                self.extend(user, random, 2, memory)
            finally:
                memory._core.embedder = self.embedder

    @precondition(lambda self: self.turns() > 3)
    @rule(number=NUMBERS)
    def forget_some(self, number: int) -> None:
        user, random = self.user(number, with_turns=True)
        with self.memory(user, random) as memory:
            self.forget(memory, user, random)

    @precondition(lambda self: self.turns() > 6)
    @rule(number=NUMBERS)
    def forget_a_session(self, number: int) -> None:
        user, random = self.user(number, with_turns=True)
        session = random.choice(SESSIONS)
        ids = [turn.id for turn in self.models[user].values() if turn.session == session]
        with self.memory(user, random) as memory:
            assert memory.forget(session=session).turns == len(ids), "more or fewer were forgotten"
        self.drop(user, ids)

    @precondition(lambda self: self.turns() > 15)
    @rule(number=NUMBERS)
    def forget_everything(self, number: int) -> None:
        user, random = self.user(number, with_turns=True)
        with self.memory(user, random) as memory:
            assert memory.forget(everything=True).turns == len(self.models[user]), "more or fewer were forgotten"
        self.drop(user, list(self.models[user]))

    @precondition(lambda self: self.turns() > 15)
    @rule(number=NUMBERS)
    def erase_a_user(self, number: int) -> None:
        user, random = self.user(number, with_turns=True)
        ids = list(self.models[user])
        assert random.choice(self.pools).erase(user).turns == len(ids), "more or fewer were forgotten"
        self.drop(user, ids)
        if not self.path(user).exists():  # with the file went what it knew of ids and numbers
            self.forgotten[user], self.numbers[user] = set(), {}

    @rule(number=NUMBERS)
    def search_a_word(self, number: int) -> None:
        user, random = self.user(number)
        model, token = self.models[user], random.choice(TOKENS)
        wanted = set(terms(token))
        having = {name for name, turn in model.items() if any(wanted & row.terms.keys() for row in documents(turn))}
        for pool in self.pools:
            with pool.open(user) as memory:
                hits = memory.search(token, k=MOST)
                store = memory._core.store
                with store.db.reading():
                    named = set(store.raw.ids_of_seqs(seqs_naming(store, token)).values())
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

    @rule(number=NUMBERS)
    def a_model_reads(self, number: int) -> None:
        """Run enrich() with a model that answers well, later than any job waits."""
        user, random = self.user(number)
        self.clock.advance(30 * 86_400.0)
        with self.memory(user, random) as memory:
            new, left = self.enrich(memory, "well")
        assert left == [], "what a model could read was left"
        self.read[user] |= new

    @rule(number=NUMBERS, mood=st.sampled_from(("malformed", "down")), hours=st.sampled_from((0, 1, 24)))
    def a_model_fails(self, number: int, mood: Mood, hours: int) -> None:
        """Run enrich() with a model that gives malformed replies, or none, often enough for turns to be given up."""
        user, random = self.user(number)
        with self.memory(user, random) as memory:
            for _ in range(6):
                new, _ = self.enrich(memory, mood)
                asked = [name for name in new if may_state_facts(self.models[user][name])]
                assert not asked or mood == "malformed", "done, and nobody has read it"
                self.clock.advance(hours * 3_600.0)

    @rule(seconds=st.sampled_from((-LONG, -3_600.0, 60.0, LONG)))
    def clock_jumps(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.noon = min(max(self.noon + timedelta(seconds=seconds), datetime(1980, 1, 1)), datetime(2090, 1, 1))

    @rule(number=NUMBERS)
    def rebuild(self, number: int) -> None:
        self.mood = "down"
        with self.memory(*self.user(number)) as memory, suppress(ModelError):  # it goes on to what is owed
            memory.rebuild()

    @rule(number=NUMBERS)
    def keep_a_trace(self, number: int) -> None:
        user, random = self.user(number)
        with self.memory(user, random) as memory:
            memory.keep_trace(Trace("what?", "iris", (Found(1, "anchor", tuple(self.models[user])[:3]),)))

    @rule(number=NUMBERS)
    def export_forget_and_import(self, number: int) -> None:
        user, random = self.user(number)
        path = self.folder / "export.jsonl"
        with self.memory(user, random) as memory:
            memory.export(path)
            before = dict(self.models[user])
            if before:
                self.forget(memory, user, random)
            memory.import_(path)
        REACHED["imported"] += len(before) - len(self.models[user])
        self.models[user] |= before

    @rule(number=NUMBERS)
    def change_the_embedder(self, number: int) -> None:
        if number % 4:
            return  # it costs much: every turn of every user is embedded again
        self.close()
        new = OTHER if self.embedder is EMBEDDER else EMBEDDER
        with self.pool() as pool:
            self.mood = "down"
            for user in self.models:
                with pool.open(user) as memory, suppress(ModelError):
                    memory.reembed(new)
        self.embedder = new
        REACHED["embedded anew"] += 1
        self.pools = [self.pool(), self.pool()]

    @rule(which=st.integers(0, 1))
    def open_again(self, which: int) -> None:
        self.pools[which].close()
        self.pools[which] = self.pool()

    @rule(number=NUMBERS)
    def open_in_a_new_process(self, number: int) -> None:
        user, _ = self.user(number)
        self.close()

        def look() -> None:
            with self.pool() as pool, pool.open(user) as memory:
                self.check(memory, user, thorough=True)

        if number % 4 == 0:  # a fork takes as long as thirty other steps
            in_child(look)
            REACHED["processes"] += 1
        self.pools = [self.pool(), self.pool()]

    @rule(number=NUMBERS)
    def back_up_and_restore(self, number: int) -> None:
        user, random = self.user(number)
        copy = self.folder / "copy.evimem"
        with self.memory(user, random) as memory:
            memory.backup(copy)
        self.close()
        shutil.move(copy, self.path(user))
        self.pools = [self.pool(), self.pool()]

    @precondition(lambda self: self.models)
    @invariant()
    def every_memory_holds_its_model(self, *, thorough: bool = False) -> None:
        """Compare the user of the step; every tenth time all users, and one of them in every detail."""
        self.steps += 1
        turn, rest = divmod(self.steps, 10)
        for number, user in enumerate(self.models):
            if thorough or not rest or user == self.acting:
                closely = thorough or (not rest and turn % len(self.models) == number)
                with self.pools[self.steps % 2].open(user) as memory:
                    self.check(memory, user, thorough=closely)
        REACHED["turns at a check"] += self.turns()
        REACHED["checks"] += 1
        # SQLite keeps one descriptor a file that it may not close yet, as closing drops the locks of the process.
        assert open_files() <= self.handles + 4 + len(self.models), "files stay open"

    def teardown(self) -> None:
        if self.models:
            self.close()
        self.remove()
