"""Views over small conversations, and the two conversations that ship, ready to be asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import pytest

from evimem.extract.rule_extractor import RuleExtractor
from evimem.judging.evidence import Evidence, View
from evimem.judging.tracker import Show, apply, start
from evimem.query.analysis import analyse
from evimem.types.values import Turn
from tests.reference.memory_store import MemoryStore

START = datetime(2024, 3, 12, 18, 0)
Lines = Sequence[tuple[str, str]]


def turns(lines: Lines) -> list[Turn]:
    return [
        Turn(f"s1:{place}", "s1", speaker, text, START + timedelta(minutes=place))
        for place, (speaker, text) in enumerate(lines, 1)
    ]


@pytest.fixture
def see() -> Callable[..., View]:
    """Return a view in which every line of a dialogue was found, the first one best."""

    def view(question: str, lines: Lines, found: Sequence[int] = (), asked_at: datetime = START) -> View:
        said = turns(lines)
        speakers = tuple(dict.fromkeys(turn.speaker for turn in said))
        analysis = analyse(question, speakers, asked_at)
        kept = [said[place - 1] for place in found] or said
        extractor = RuleExtractor()
        evidence = tuple(
            Evidence(turn, extractor.extract(turn), 2.0 - 0.1 * rank, "anchor", 1) for rank, turn in enumerate(kept)
        )
        context = {turn.id: tuple(said[max(0, said.index(turn) - 2) : said.index(turn) + 3]) for turn in kept}
        tracker = apply(start(analysis.requirements), Show(tuple(turn.id for turn in kept)))
        store, asked = MemoryStore("none", 1), (question,)
        return View(analysis, asked_at, speakers, 1, 3, "", asked, {}, evidence, evidence, context, tracker, store)

    return view
