"""Nothing that is derived from a turn refuses it, or touches another: it is stored, and read again later."""

import contextlib
import json
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evimem
from evimem import DimensionMismatch, EmbedderError, Fact, Memory, Turn
from evimem.__main__ import main
from evimem.edges.edge_table import EdgeGraph
from evimem.extract.rule_extractor import RuleExtractor
from tests.doubles import WordEmbedder

NOON = datetime(2024, 3, 12, 12)
ALL, BAD_AT = 12, 6
TURNS = [
    Turn(
        f"t{n}",
        "s",
        "Mira",
        "I bought poisoned rats yesterday." if n == BAD_AT else f"I visited town {n} last week.",
        NOON,
    )
    for n in range(ALL)
]
BAD = "poisoned"


class Spoilt(Exception):
    """What no code of ours expects."""


def spoiling(read: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reading that raises where anything that it is given speaks of poison."""

    def spoilt(*given: Any, **named: Any) -> Any:
        if BAD in repr((given, named)):
            raise Spoilt
        return read(*given, **named)

    return spoilt


class Picky:
    """An embedder that fails for one text: it raises, or returns a row that is no vector of the memory."""

    name, dimension = "picky/1", 16

    def __init__(self, fault: str) -> None:
        self.fault, self.inner, self.asked = fault, WordEmbedder(16), 0

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += 1
        rows = list(self.inner.embed(texts))
        if self.fault == "outage" or (self.fault == "raises" and any(BAD in text for text in texts)):
            raise Spoilt
        for at, text in enumerate(texts):
            if BAD in text or self.fault == "all wide":
                rows[at] = {"wide": np.ones(17), "all wide": np.ones(17), "nan": np.full(16, np.nan)}.get(
                    self.fault, rows[at]
                )
        return rows


READINGS = {
    "extractor": ("evimem.extract.rule_extractor.RuleExtractor.extract", "facts"),
    "dates": ("evimem.extract.turn_facts.locate_times", "facts"),
    "language": ("evimem.extract.turn_facts.is_english", "facts"),
    "terms": ("evimem.index.document.terms", "terms"),
    "mentioned times": ("evimem.index.document.mentions_time", "terms"),
    "embedded texts": ("evimem.ingest.add.embedding_texts", "vector"),
}
WAYS = ("extend", "add", "remember", "import", "ingest")


def stored(memory: Memory, way: str, folder: Path) -> None:
    if way == "extend":
        memory.extend(TURNS)
    for turn in TURNS if way == "add" else ():
        memory.add(turn.speaker, turn.text, time=turn.time, session="s", id=turn.id)
    if way == "remember":
        memory.remember(
            [{"role": "user", "name": "Mira", "content": one.text, "id": one.id} for one in TURNS], time=NOON
        )
    if way == "import":
        memory.import_(folder / "export.jsonl")
    if way == "ingest":
        lines = [{"speaker": "Mira", "text": one.text, "time": NOON.isoformat()} for one in TURNS]
        (folder / "turns.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        assert main(["ingest", str(folder / "m.evimem"), str(folder / "turns.jsonl")]) == 0


def derived(memory: Memory) -> dict[str, tuple[str, ...]]:
    """Return what facts say of each turn, by its text."""
    return {turn.text: tuple(fact.text for fact in memory.facts(turns=[turn.id])) for turn in memory.turns()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    with evimem.open(folder / "m.evimem") as memory:
        memory.extend(TURNS)
        memory.export(folder / "export.jsonl")
        return folder / "export.jsonl", derived(memory)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("reading", ["extractor", "dates", "terms"])
def test_a_turn_that_cannot_be_read_is_stored_with_all_others_whatever_way_it_comes(
    tmp_path, whole, monkeypatch, reading, way
):
    (tmp_path / "export.jsonl").write_bytes(whole[0].read_bytes())
    place, kind = READINGS[reading]
    with monkeypatch.context() as patch, evimem.open(tmp_path / "m.evimem") as memory:
        patch.setattr(place, spoiling(_at(place)))
        stored(memory, way, tmp_path)
        pending = {} if way == "import" and kind == "facts" else {kind: 1}  # its facts come with it
        assert (memory.stats().turns, memory.health().pending) == (ALL, pending)
        assert BAD in memory.search("who poisoned rats", k=1)[0].turn.text
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.enrich()
        assert (memory.health().pending, memory.check().problems, derived(memory)) == ({}, (), whole[1])


def _at(place: str) -> Any:
    module, _, name = place.rpartition(".")
    owner = RuleExtractor if module.endswith("RuleExtractor") else __import__(module, fromlist=[name])
    return getattr(owner, name)


@pytest.mark.parametrize("reading", READINGS)
def test_one_reading_that_raises_is_a_job_with_its_type_one_warning_and_read_later(
    tmp_path, whole, monkeypatch, caplog, reading
):
    place, kind = READINGS[reading]
    with evimem.open(tmp_path / "m.evimem") as memory, caplog.at_level(logging.WARNING, "evimem"):
        with monkeypatch.context() as patch:
            patch.setattr(place, spoiling(_at(place)))
            report = memory.extend(TURNS, strict=True)
            memory.enrich()
        assert (report.added, memory.health().pending, len(caplog.records)) == (ALL, {kind: 1}, 1)
        assert "Spoilt" in memory.health().problems[0]
        assert BAD not in caplog.text
        memory.enrich(retry_now=True)
        assert (memory.health().pending, memory.check().problems, derived(memory)) == ({}, (), whole[1])


@pytest.mark.parametrize("way", ["rebuild", "check"])
@pytest.mark.parametrize("reading", ["dates", "terms"])
def test_a_rebuild_keeps_what_was_read_before_and_reads_the_rest(tmp_path, whole, monkeypatch, reading, way):
    place, _ = READINGS[reading]
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.extend(TURNS)
        memory.enrich()
        with monkeypatch.context() as patch:
            patch.setattr(place, spoiling(_at(place)))
            memory.rebuild() if way == "rebuild" else memory.check(repair=True)
            assert all("after a failure (Spoilt)" in one for one in memory.check().problems)
            assert derived(memory) == whole[1]
        memory.rebuild()
        memory.enrich()
        assert (memory.health().pending, memory.check().problems, derived(memory)) == ({}, (), whole[1])


def test_what_was_indexed_by_its_plain_words_is_forgotten_whole(tmp_path, monkeypatch):
    with monkeypatch.context() as patch, evimem.open(tmp_path / "m.evimem") as memory:
        patch.setattr("evimem.index.document.terms", spoiling(_at("evimem.index.document.terms")))
        memory.extend(TURNS)
        memory.forget(turns=[f"t{BAD_AT}"])
        memory.enrich()
        assert (memory.check().problems, memory.health().pending) == ((), {})
    assert BAD.encode() not in (tmp_path / "m.evimem").read_bytes()


@pytest.mark.parametrize("fault", ["raises", "wide", "nan"])
def test_one_text_that_an_embedder_fails_for_keeps_no_other_waiting_and_is_given_up(tmp_path, fault):
    now = [1e9]
    with evimem.open(tmp_path / "m.evimem", embedder=Picky(fault), clock=lambda: now[0]) as memory:
        memory.extend(TURNS)
        assert memory.health().pending["vector"] == 1
        for _ in range(6):
            now[0] += timedelta(days=8).total_seconds()
            memory.enrich()
        assert (memory.health().pending, memory.health().failed["vector"]) == ({}, 1)
        memory.rebuild()
    with evimem.open(tmp_path / "m.evimem", embedder=Picky("none")) as memory:
        memory.enrich(retry_now=True)
        assert (memory.health().pending, memory.health().failed, memory.check().problems) == ({}, {}, ())


@pytest.mark.parametrize("fault", ["raises", "wide", "nan", "outage"])
@pytest.mark.parametrize("way", ["search", "ask", "block"])
def test_a_question_that_an_embedder_fails_for_is_asked_by_its_words_with_one_warning(tmp_path, caplog, way, fault):
    with evimem.open(tmp_path / "m.evimem", embedder=(embedder := Picky(fault))) as memory:
        memory.extend(TURNS)
        with contextlib.suppress(EmbedderError):
            memory.enrich()
        caplog.clear()
        asked = embedder.asked
        found = getattr(memory, way)("Who poisoned their rats?")
    assert embedder.asked - asked <= 2, "a service that is down is asked again and again"
    assert ["by its words alone" in one for one in caplog.messages] == [True]
    assert BAD not in caplog.text
    assert f"t{BAD_AT}" in repr([one.to_dict() for one in found.trace] if way == "ask" else found)
    assert way != "ask" or "by words" in [event.action for event in found.trace if event.kind == "action"]


def test_an_embedder_of_another_width_is_refused_as_a_whole(tmp_path):
    with evimem.open(tmp_path / "m.evimem", embedder=Picky("all wide")) as memory, pytest.raises(DimensionMismatch):
        memory.extend(TURNS)


def test_facts_that_cannot_be_linked_wait_and_those_of_other_turns_are_linked(tmp_path, monkeypatch):
    link = EdgeGraph.link_facts

    def spoilt(graph: Any, rows: Any, *given: Any) -> bool:
        poisoned = {
            row for (row,) in graph._db.rows(f"SELECT row FROM fact JOIN turn USING (seq) WHERE turn.id = 't{BAD_AT}'")
        }
        if poisoned & set(rows):
            raise Spoilt
        return bool(link(graph, rows, *given))

    with evimem.open(tmp_path / "m.evimem") as memory:
        with monkeypatch.context() as patch:
            patch.setattr(EdgeGraph, "link_facts", spoilt)
            memory.extend(TURNS)
            assert (memory.stats().turns, memory.health().pending) == (ALL, {"link": 1})
        memory.enrich()
        assert (memory.health().pending, memory.check().problems) == ({}, ())


class Broken(RuleExtractor):
    """Finds what is no fact."""

    name = "broken/1"

    def extract(self, turn: Turn) -> tuple[Fact, ...]:
        return None if BAD in turn.text else super().extract(turn)


def test_a_reading_that_never_works_is_given_up_and_tried_again_by_a_rebuild(tmp_path):
    now = [1e9]
    with evimem.open(tmp_path / "m.evimem", extractor=Broken(), clock=lambda: now[0]) as memory:
        memory.extend(TURNS)
        for _ in range(6):
            now[0] += timedelta(days=8).total_seconds()
            memory.enrich()
        assert (memory.health().pending, memory.health().failed) == ({}, {"facts": 1})
        memory.rebuild()
        assert memory.health().pending["facts"] == 1
