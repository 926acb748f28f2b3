"""A small memory without a file, and a judge with scripted verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from evimem.embedding.static_embedder import StaticEmbedder
from evimem.extract.rule_extractor import RuleExtractor
from evimem.flow import Effect, Embed, Flow, run
from evimem.index.document import embedding_texts
from evimem.judging.evidence import Draft, Manner, Verdict, View
from evimem.loops import Task, chosen_loop
from evimem.types.results import Answer, Citation
from evimem.types.stored import Entry
from evimem.types.values import Query, Tier, Turn
from tests.reference.memory_store import MemoryStore
from tests.ways import way

EMBEDDER = StaticEmbedder()
JUNO = Draft("Juno", (Citation("s1:1", None, ""),))
START = datetime(2024, 3, 12, 18, 0)
SMALL = 600  # tokens of a page that has no room for all turns


@dataclass
class World:
    """A memory whose effects are counted as they are performed, and the calls of its store as they are made."""

    store: MemoryStore
    made: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)

    def perform(self, effect: Effect) -> Any:
        self.effects.append(effect)
        if isinstance(effect, Embed):
            return EMBEDDER.embed(effect.texts)
        raise AssertionError(f"no model is configured, and none was to be asked: {effect}")

    def __getattr__(self, method: str) -> Any:
        def called(*args: Any, **options: Any) -> Any:
            self.made.append((method, args))
            return getattr(self.store, method)(*args, **options)

        return called

    def of(self, kind: type[Any]) -> list[Any]:
        return [effect for effect in self.effects if isinstance(effect, kind)]

    def calls(self, method: str) -> list[tuple[Any, ...]]:
        """The arguments of each call of a method of the store, in order."""
        return [args for name, args in self.made if name == method]

    @property
    def searches(self) -> list[Query]:
        return [query for (query,) in self.calls("recall")]

    @property
    def queries(self) -> list[str]:
        return [query.text for query in self.searches]

    @property
    def hops(self) -> int:
        return len(self.calls("expand"))

    def ask(self, question: str, judge: Any, loop: str = "iris", **given: Any) -> Answer:
        room = {"tokens": SMALL} if loop == "iris" and judge.uses_model else {}
        how = way(loop, **{**room, **given})
        return run(chosen_loop(how["loop"])(Task(question, judge, self, budget=how["budget"])), self.perform)


def turn(place: int, speaker: str, text: str, day: int = 0) -> Turn:
    session = f"s{day + 1}"
    return Turn(f"{session}:{place}", session, speaker, text, START + timedelta(days=day, minutes=place))


def dialogue(lines: Iterable[tuple[str, str]], day: int = 0) -> list[Turn]:
    return [turn(place, speaker, text, day) for place, (speaker, text) in enumerate(lines, 1)]


@pytest.fixture
def world() -> Callable[[Sequence[Turn]], World]:
    def build(turns: Sequence[Turn]) -> World:
        store = MemoryStore(EMBEDDER.name, EMBEDDER.dimension)
        extractor = RuleExtractor()
        vectors = [EMBEDDER.embed(embedding_texts(t)) for t in turns]
        facts = [extractor.extract(t) for t in turns]
        of_facts = [EMBEDDER.embed([fact.text for fact in some]) for some in facts]
        store.write([Entry(*parts) for parts in zip(turns, facts, vectors, of_facts, strict=True)])
        return World(store)

    return build


@dataclass
class ScriptedJudge:
    """Gives its verdicts in order, the last one for ever; keeps every view it was shown.

    An exact verdict that supports nothing supports each requirement but that of an unknown name with the first turn.
    """

    verdicts: list[Verdict | Exception]
    draft: Draft | Exception = JUNO
    name: str = "scripted"
    abstain_below: float = 0.5
    uses_model: bool = True
    views: list[View] = field(default_factory=list)
    manners: list[Manner] = field(default_factory=list)

    def fit_page(self, view: View) -> View:
        return view

    def judge(self, view: View) -> Flow[Verdict]:
        yield from ()
        self.views.append(view)
        verdict = self.verdicts[min(len(self.views), len(self.verdicts)) - 1]
        if isinstance(verdict, Exception):
            raise verdict
        return _mapped(verdict, view) if verdict.tier is Tier.EXACT and not verdict.supported else verdict

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        yield from ()
        self.manners.append(manner)
        if isinstance(self.draft, Exception):
            raise self.draft
        return self.draft


def _mapped(verdict: Verdict, view: View) -> Verdict:
    witness = tuple(item.turn.id for item in view.shown[:1])
    unknown = {f"entity:{name}" for name, count in view.entities.items() if not count.total}
    return replace(verdict, supported={n.id: witness for n in view.tracker.requirements if n.id not in unknown})


def says(tier: Tier, confidence: float, **more: Any) -> Verdict:
    return Verdict(tier, confidence, probability=more.pop("probability", 0.9), **more)


@pytest.fixture
def script() -> type[ScriptedJudge]:
    return ScriptedJudge


@pytest.fixture
def verdict() -> Callable[..., Verdict]:
    return says


@pytest.fixture
def puppy(world: Callable[[Sequence[Turn]], World]) -> World:
    """Two people, forty turns over four days: enough that three iterations see new turns each."""
    days = [
        ("Mira", "We adopted a puppy last Friday, she is called Juno."),
        ("Tomas", "A puppy! I wish I had a dog, my landlord says no."),
        ("Mira", "Juno ate my running shoe this morning."),
        ("Tomas", "I booked the trip to Norway with Katrin."),
        ("Mira", "My cello teacher moved the lesson to Tuesday."),
        ("Tomas", "The workshop flooded again, all the oak is wet."),
        ("Mira", "My sister Nadia is expecting twins."),
        ("Tomas", "I run along the canal every morning now."),
        ("Mira", "The children's hospital called me about the interview."),
        ("Tomas", "My father walks without his stick."),
    ]
    turns = [t for day in range(4) for t in dialogue([(who, f"{text} Day {day}.") for who, text in days], day)]
    return world(turns)
