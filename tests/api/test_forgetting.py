"""What forgetting and replacing leave, in the process and in the file: nothing of the old words."""

import gc
from dataclasses import replace

import pytest

import evimem
from evimem import InvalidQuery, InvalidTurn, Memory, Trace, TurnConflict, UnknownTurn, replay
from evimem.types.trace import Found

RARE = b"quimbyzz"  # bytes: the test itself must not hold the text that it looks for


def tell(memory: Memory, id: str = "a", speaker: str = "Mira") -> None:
    memory.add(speaker, f"My sister {RARE.decode().title()} bought a kite.", time="2024-03-12T18:20", id=id)
    memory.add("Tomas", "We had tea.", time="2024-03-12T18:21", id=f"{id}2")


def texts_held() -> list[str]:
    """Return the texts with the rare word that any object of this process refers to."""
    gc.collect()
    found = []
    for holder in gc.get_objects():
        for held in gc.get_referents(holder):
            if type(held) is str and RARE in held.lower().encode("utf-8", "replace"):
                found.append(type(holder).__name__)
    return found


def test_no_word_of_a_forgotten_turn_is_cached_in_the_process(memory):
    tell(memory)
    memory.search(f"Who is {RARE.decode()}?")
    memory.ask(f"What did {RARE.decode().title()} buy?")
    assert texts_held(), "nothing was cached, so that this says nothing"
    memory.forget(turns=["a"])
    assert texts_held() == []


def test_a_trace_that_cites_a_forgotten_turn_is_not_kept(memory):
    tell(memory)
    trace = memory.ask("What did Mira's sister buy?").trace
    assert memory.keep_trace(trace) == 1
    memory.forget(turns=["a"])
    with pytest.raises(UnknownTurn, match="'a'"):
        memory.keep_trace(trace)
    with pytest.raises(UnknownTurn, match="'a'"):
        memory.keep_trace(Trace.from_json(trace.to_json()))
    with pytest.raises(InvalidQuery, match="no trace"):
        memory.trace()


@pytest.mark.parametrize("how", ["update", "replace", "forgotten and told again"])
def test_a_trace_that_quotes_what_was_replaced_since_is_not_kept(memory, how):
    """Found by keeping a trace after an update: the id was there, and the old words came back with the trace."""
    tell(memory)
    trace = memory.ask("What did Mira's sister buy?").trace
    old = memory.turn("a")
    if how == "update":
        memory.update("a", "We talked about the weather.")
    elif how == "replace":
        memory.extend([replace(old, text="We talked about the weather.")], replace=True)
    else:
        memory.forget(turns=["a"])
        memory.extend([replace(old, text="We talked about the weather.")])
    for kept in (trace, Trace.from_json(trace.to_json())):
        with pytest.raises(evimem.TraceMismatch, match="replaced"):
            memory.keep_trace(kept)
    memory.keep_trace(memory.ask("What did Mira talk about?").trace)
    memory.update("a", old.text)
    assert memory.keep_trace(trace), "the words are those that it quotes"


def test_a_trace_goes_with_a_turn_that_stood_beside_its_evidence(memory):
    """A model's reply in a trace may quote what was said before and after the turns that were found."""
    for number in range(60):
        time = f"2024-01-01T00:{number:02d}"
        memory.add("Mira", f"Apples and pears, part {number}.", time=time, id=f"n{number}", session="s")
    memory.add("Mira", "The ferry was late.", time="2024-01-01T00:30:30", id="f", session="s")
    trace = memory.ask("Was the ferry late?", evimem.loops.Iris(iterations=1, k=1, hops=0)).trace
    found = {turn for event in trace if isinstance(event, Found) for turn in event.turns}
    beside = next(one for one in trace.read if one not in found)
    memory.keep_trace(trace)
    memory.forget(turns=[beside])
    with pytest.raises(InvalidQuery, match="no trace"):
        memory.trace()


def test_a_replay_of_a_forgotten_turn_writes_nothing(memory, tmp_path):
    tell(memory)
    trace = memory.ask("What did Mira's sister buy?").trace
    memory.forget(turns=["a"])
    with pytest.raises(evimem.TraceMismatch):
        replay(trace, memory)
    memory.close()
    assert not any(RARE in path.read_bytes().lower() for path in tmp_path.iterdir())


def test_a_speaker_is_forgotten_with_every_turn_and_their_name(memory):
    tell(memory)
    report = memory.forget(speaker="Mira")
    assert (report.status, report.turns, memory.stats().speakers) == ("erased", 1, ("Tomas",))
    assert memory.forget(speaker="Mira").turns == 0
    with pytest.raises(InvalidQuery, match="session, speaker"):
        memory.forget(speaker="Tomas", session="s")


MOVED = "I moved to Leeds in May 2023."


@pytest.fixture
def path(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        about = {"topic": "home"}
        memory.add("Mira", MOVED, time="2024-03-12T18:20", id="a", session="s", caption="a van", metadata=about)
        memory.add("Tomas", "Is it nice there?", time="2024-03-12T18:21", id="b", session="s")
    return tmp_path / "m.evimem"


def test_an_update_changes_the_text_alone_and_what_follows_from_it(path):
    with evimem.open(path, clock=lambda: 1_800_000_000.0, timezone="UTC") as memory:
        old = memory.turn("a")
        memory.keep_trace(Trace("where?", "iris", (Found(1, "anchor", ("a",)),)))
        assert "May 2023" in memory.ask("When did Mira move?").text
        report = memory.update("a", "I moved to Porto in June 2022.")
        assert [status.outcome for status in report.statuses] == ["replaced"]
        new = memory.turn("a")
        assert (new.id, new.session, new.speaker, new.time) == (old.id, old.session, old.speaker, old.time)
        assert (new.caption, new.role) == (old.caption, old.role)
        assert dict(new.metadata) == {**old.metadata, "corrected_at": "2027-01-15T08:00:00"}
        assert [turn.id for turn in memory.context("b")] == ["a", "b"]
        assert "June 2022" in memory.ask("When did Mira move?").text
        assert memory.search("Porto", 1)[0].turn == new
        assert all("Leeds" not in fact.text for fact in memory.facts(["a"]))
        with pytest.raises(evimem.InvalidQuery, match="no trace"):
            memory.trace()  # it cited a text that is gone
        assert memory.check().problems == ()
        assert memory.update("a", new.text).statuses[0].outcome == "exists"


def test_the_bytes_of_a_replaced_text_are_overwritten(path):
    with evimem.open(path) as memory:
        memory.update("a", "I stayed where I was.")
        memory.extend([evimem.Turn("b", "s", "Tomas", "Where?", memory.turn("b").time)], replace=True)
        files = [file.read_bytes() for file in path.parent.iterdir()]
    assert not any(word in content.lower() for content in files for word in (b"leeds", b"nice there"))


def test_the_message_that_a_remembered_turn_was_made_from_goes_with_its_text(memory):
    messages = [{"role": "user", "content": "My number is 1234."}]
    (status,) = memory.remember(messages, session="chat", time="2024-03-12T18:20").statuses
    memory.update(status.id, "My number is secret.")
    assert "message" not in memory.turn(status.id).metadata
    assert memory.remember(messages, session="chat", time="2024-03-12T18:20").existing == 1
    assert memory.turn(status.id).text == "My number is secret."


def test_what_cannot_be_stored_changes_nothing(path):
    with evimem.open(path) as memory:
        with pytest.raises(UnknownTurn):
            memory.update("none", "Hello.")
        with pytest.raises(InvalidTurn, match="bytes of UTF-8"):
            memory.update("a", "x" * (1 << 21))
        with pytest.raises(InvalidTurn, match="expected a string"):
            memory.update("a", 7)
        with pytest.raises(TurnConflict):
            memory.add("Mira", "Other.", time="2024-03-12T18:20", id="a", session="s")
        assert memory.turn("a").text == MOVED
