"""Both doors, end to end, on real files and without any network."""

from datetime import datetime

import numpy as np
import pytest

import evimem
from evimem import CallableEmbedder, InvalidQuery, InvalidTurn, TurnConflict, UnknownTurn
from evimem.loaders.examples import load_example

PUPPY = {"time": "2024-03-12T18:20", "session": "s1", "id": "s1:4"}


def test_add_is_durable_when_it_returns(tmp_path):
    memory = evimem.open(tmp_path / "m.evimem")
    memory.add("Mira", "We adopted a puppy.", **PUPPY)
    with evimem.open(tmp_path / "m.evimem") as other:  # the first handle is still open, nothing was flushed by closing
        assert other.turn("s1:4").text == "We adopted a puppy."
    memory.close()


def test_extend_reports_what_became_of_each_turn_in_order(memory):
    good = evimem.Turn("a", "s", "Mira", "Hello there.", datetime(2024, 1, 1))
    empty = evimem.Turn("b", "s", "Mira", "  ", datetime(2024, 1, 1))
    report = memory.extend([good, empty, good])
    assert [status.outcome for status in report.statuses] == ["added", "refused", "exists"]
    assert "neither text nor caption" in str(report.statuses[1].reason)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": ""}, "neither text nor caption"),
        ({"text": "x" * (1 << 20) + "y"}, "at most 1048576 are kept"),
        ({"time": "last tuesday"}, "expected a datetime or an ISO 8601 string"),
        ({"time": None}, "expected a datetime or an ISO 8601 string"),
        ({"speaker": " "}, "expected a non-empty string"),
        ({"role": "robot"}, "expected one of user, assistant, system, tool"),
        ({"metadata": {"a": object()}}, "expected a mapping of strings to JSON values"),
        ({"text": 7}, "expected a string"),
    ],
)
def test_a_turn_that_cannot_be_kept_is_refused_with_the_reason(memory, fields, message):
    turn = {"speaker": "Mira", "text": "Hello.", "time": "2024-03-12T18:20"} | fields
    with pytest.raises(InvalidTurn, match=message):
        memory.add(turn.pop("speaker"), turn.pop("text"), **turn)
    assert memory.stats().turns == 0


def test_an_id_is_never_rewritten(memory):
    memory.add("Mira", "We adopted a puppy.", **PUPPY)
    with pytest.raises(TurnConflict, match="'s1:4' is already stored"):
        memory.add("Mira", "We adopted a cat.", **PUPPY)
    assert memory.turn("s1:4").text == "We adopted a puppy."


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda memory: memory.search(" "), "expected some text"),
        (lambda memory: memory.search("x", k=0), "k is 0"),
        (lambda memory: memory.search("x", before="soon"), "expected a datetime"),
        (lambda memory: memory.search("x", exclude="s1:4"), "expected a collection"),
        (lambda memory: memory.ask(""), "expected some text"),
        (lambda memory: memory.ask("Who?", loop="spiral"), "no loop 'spiral'"),
        (lambda memory: memory.turns(role="robot"), "expected one of 'user', 'assistant', 'system', 'tool'"),
        (lambda memory: memory.turns(limit=-1), "limit is -1"),
        (lambda memory: memory.turns(session=7), "expected a string"),
        (lambda memory: memory.turns(after="soon"), "expected a datetime"),
        (lambda memory: memory.forget(), "expected one of"),
        (lambda memory: memory.forget(session="a", everything=True), "expected one of"),
        (lambda memory: memory.trace(), "no trace is kept"),
        (lambda memory: memory.trace(0), "no trace has the number 0 in this memory: none is kept"),
        (lambda memory: memory.facts(), "turns"),
        (lambda memory: memory.facts(["a"], about="Mira"), "turns"),
        (lambda memory: memory.search("x", over="words"), "over is 'words'"),
        (lambda memory: memory.search_facts("x", during="soon"), "expected one time"),
        (lambda memory: memory.ask("Who?", on_event=7), "on_event is"),
        (lambda memory: memory.search("x", on_event="print"), "on_event is"),
    ],
)
def test_a_call_without_meaning_says_what_was_expected(memory, call, message):
    with pytest.raises(InvalidQuery, match=message):
        call(memory)


def test_forget_takes_ids_a_session_a_time_or_everything(memory):
    turns = load_example("friends")
    memory.extend(turns)
    sessions = list(dict.fromkeys(turn.session for turn in turns))
    assert memory.forget(turns=[turns[0].id]).turns == 1
    in_session = sum(turn.session == sessions[1] for turn in turns)
    assert memory.forget(session=sessions[1]).turns == in_session
    earlier = {turn.id for turn in memory.turns() if turn.time < turns[-1].time}
    assert memory.forget(before=turns[-1].time).turns == len(earlier)
    assert memory.forget(everything=True).turns == len(turns) - 1 - in_session - len(earlier)
    stats = memory.stats()
    assert (stats.turns, stats.facts, stats.speakers, stats.sessions) == (0, 0, (), 0)
    assert memory.extend(turns[:3]).statuses[0].outcome == "readded"


def test_an_unknown_id_forgets_nothing(memory):
    memory.add("Mira", "We adopted a puppy.", **PUPPY)
    with pytest.raises(UnknownTurn):
        memory.forget(turns=["s1:4", "nope"])
    assert memory.stats().turns == 1


def test_a_memory_is_opened_with_the_embedder_it_was_built_with(tmp_path):
    evimem.open(tmp_path / "m.evimem").close()
    other = CallableEmbedder(lambda texts: np.eye(3)[: len(texts)], "other", 3)
    with pytest.raises(evimem.EmbedderMismatch, match=r"'static-minilm-256' but opened with 'other'"):
        evimem.open(tmp_path / "m.evimem", embedder=other)
    wide = CallableEmbedder(lambda texts: np.eye(3)[: len(texts)], "static-minilm-256", 3)
    with pytest.raises(evimem.DimensionMismatch, match="3 dimensions but the memory was built with 256"):
        evimem.open(tmp_path / "m.evimem", embedder=wide)


def test_reembedding_switches_and_the_file_remembers(tmp_path):
    words = CallableEmbedder(lambda texts: [[len(text), text.count("p") + 1.0, 1.0] for text in texts], "counts", 3)
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.extend(load_example("friends")[:40])
        memory.reembed(words)
        assert memory.stats().embedder == "counts"
        assert memory.health().pending == {}
        assert len(memory.search("puppy", k=5)) == 5
    with evimem.open(tmp_path / "m.evimem", embedder=words) as memory:
        assert memory.check().problems == ()


class Moody:
    """An embedder that fails on request."""

    name, dimension, remote = "moody", 3, False

    def __init__(self) -> None:
        self.failing = False

    def embed(self, texts):
        if self.failing:
            raise ConnectionError("no route")
        return np.ones((len(texts), 3), dtype=np.float32)


def test_an_embedder_that_fails_loses_no_turn(tmp_path):
    embedder = Moody()
    with evimem.open(tmp_path / "m.evimem", embedder=embedder) as memory:
        embedder.failing = True
        report = memory.add("Mira", "We adopted a puppy.", **PUPPY)
        assert report.statuses[0].pending == ("facts", "vector")
        assert memory.stats().facts
        assert memory.health().pending == {"link": 1, "vector": 1}
        assert [hit.turn.id for hit in memory.search("puppy")] == ["s1:4"]
        embedder.failing = False
        memory.enrich()
        assert memory.health().pending == {}
        assert [hit.turn.id for hit in memory.search("puppy")] == ["s1:4"]


def test_backup_is_a_whole_memory_and_never_overwrites(friends, tmp_path):
    friends.backup(tmp_path / "copy.evimem")
    with pytest.raises(evimem.StoreError, match="exists already"):
        friends.backup(tmp_path / "copy.evimem")
    with evimem.open(tmp_path / "copy.evimem") as copy:
        assert list(copy.turns()) == list(friends.turns())
        assert copy.check().problems == ()


def test_a_closed_memory_says_so(tmp_path):
    memory = evimem.open(tmp_path / "m.evimem")
    memory.close()
    memory.close()
    with pytest.raises(evimem.StoreClosed, match="is closed"):
        memory.search("puppy")


def test_export_and_import_lose_nothing(friends, tmp_path):
    friends.add("Mira", "odd \ud83d \x00 text", time="2025-01-01T00:00", id="odd", metadata={"k": [1, None]})
    friends.add("Mira", "two halves \ud83d\ude00 of 😀 \u2028", time="2025-01-01T00:00", id="halves")
    friends.export(tmp_path / "m.jsonl")
    with evimem.open(tmp_path / "other.evimem") as other:
        assert other.import_(tmp_path / "m.jsonl").added == friends.stats().turns
        assert other.import_(tmp_path / "m.jsonl").added == 0
        assert list(other.turns()) == list(friends.turns())
        ids = [turn.id for turn in friends.turns()]
        assert other.facts(ids) == friends.facts(ids)
        assert other.search("Who plays an instrument?") == friends.search("Who plays an instrument?")


def test_without_arguments_turns_come_in_order_of_arrival(memory):
    for id, minute in (("later", 5), ("earlier", 1)):
        memory.add("Mira", "Hello.", time=f"2024-03-12T18:0{minute}", session="s", id=id)
    assert [turn.id for turn in memory.turns()] == ["later", "earlier"]
    assert [turn.id for turn in memory.turns(session="s")] == ["earlier", "later"]


def test_defaults_are_filled_in_once(memory):
    memory.add("assistant", "Hello.", time="2024-03-12T18:20Z")
    (turn,) = memory.turns()
    assert (turn.session, turn.role, turn.time.utcoffset()) == (
        "2024-03-12",
        "assistant",
        datetime.now().astimezone().utcoffset() * 0,
    )


def test_the_last_turns_of_a_session_come_in_the_order_of_the_dialogue(friends):
    whole = list(friends.turns())
    session = whole[-1].session
    of_session = [turn for turn in whole if turn.session == session]
    assert list(friends.turns(session=session, limit=3, newest=True)) == of_session[-3:]
    assert list(friends.turns(session=session, limit=3)) == of_session[:3]
    assert list(friends.turns(session="nowhere")) == []


def test_a_bound_of_another_kind_than_the_times_of_the_turns_is_refused(memory):
    memory.add("Mira", "We adopted a puppy.", **PUPPY)
    with pytest.raises(InvalidQuery, match="holds naive times"):
        memory.turns(before="2024-03-12T18:20Z")
