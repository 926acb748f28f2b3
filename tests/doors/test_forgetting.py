"""What forgetting leaves in the process and lets back in: nothing of the forgotten words."""

import gc
from dataclasses import replace

import pytest

import evimem
from evimem import InvalidQuery, Memory, Trace, UnknownTurn, replay
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
