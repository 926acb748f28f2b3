"""Views to judge, made by hand."""

from collections.abc import Sequence
from datetime import datetime

from evimem.judging.evidence import Analysis, EntityCount, Evidence, View
from evimem.judging.tracker import Requirement, Show, apply, start
from evimem.llm.evidence_prompt import ShownEvidence
from evimem.types.values import Fact, Turn
from tests.reference.memory_store import MemoryStore

ASKED_AT = datetime(2024, 3, 20, 9, 0)


def turn(number: int, text: str, speaker: str = "Mira", *, caption: str | None = None) -> Turn:
    """Return a turn said on a day of March."""
    return Turn(f"t{number}", "s1", speaker, text, datetime(2024, 3, number % 28 + 1, 18, 20), caption)


def page(*turns: Turn) -> ShownEvidence:
    """Return turns as they are shown, with the labels e1, e2, ..."""
    return ShownEvidence("", {f"e{number}": turn for number, turn in enumerate(turns, 1)})


def evidence(said: Turn, *, iteration: int = 1, path: str = "anchor", facts: tuple[Fact, ...] = ()) -> Evidence:
    """Return a turn as evidence."""
    return Evidence(said, facts, 1.0, path, iteration)


class Dialogue(MemoryStore):
    """A store that knows nothing but the order of turns."""

    def __init__(self, turn_ids: Sequence[str]) -> None:
        super().__init__("none", 1)
        self._order = tuple(turn_ids)

    def order(self, turn_ids: Sequence[str]) -> tuple[str, ...]:
        known = {one: place for place, one in enumerate(self._order)}
        return tuple(sorted(turn_ids, key=lambda one: known.get(one, -1)))


def view_of(  # noqa: PLR0913 - what a view is made of
    shown: Sequence[Turn | Evidence],
    *,
    question: str = "When did Mira adopt her puppy?",
    requirements: Sequence[str] = (),
    entities: Sequence[str] = ("Mira",),
    iteration: int = 1,
    iterations: int = 3,
    queries: Sequence[str] = (),
    context: dict[str, tuple[Turn, ...]] | None = None,
    order: Sequence[str] = (),
) -> View:
    """Return a view of these turns, all of them shown."""
    needs = tuple(Requirement(name, "attribute", name, f"the {name} of it") for name in requirements)
    items = tuple(item if isinstance(item, Evidence) else evidence(item) for item in shown)
    tracker = apply(start(needs), Show(tuple(item.turn.id for item in items)))
    analysis = Analysis(question, tuple(entities), tuple(entities), "time", (), (), (), True, needs)
    counts = {name: EntityCount(1, 2, 5) for name in entities}
    return View(
        analysis=analysis,
        asked_at=ASKED_AT,
        speakers=("Mira", "Noah"),
        iteration=iteration,
        iterations=iterations,
        strategy="dates and words of time",
        queries=(question, *queries),
        entities=counts,
        evidence=items,
        shown=items,
        context=context or {},
        tracker=tracker,
        store=Dialogue(order or [item.turn.id for item in items]),
    )
