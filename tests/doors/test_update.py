"""`update` and `extend(replace=True)`: another text under the same id, and nothing left of the old one."""

import pytest

import evimem
from evimem import InvalidTurn, TurnConflict, UnknownTurn
from evimem.types.trace import Found, Trace

MOVED = "I moved to Leeds in May 2023."


@pytest.fixture
def path(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        about = {"topic": "home"}
        memory.add("Mira", MOVED, time="2024-03-12T18:20", id="a", session="s", caption="a van", metadata=about)
        memory.add("Tomas", "Is it nice there?", time="2024-03-12T18:21", id="b", session="s")
    return tmp_path / "m.evimem"


def test_an_update_changes_the_text_alone_and_what_follows_from_it(path):
    with evimem.open(path) as memory:
        old = memory.turn("a")
        memory.keep_trace(Trace("where?", "iris", (Found(1, "anchor", ("a",)),)))
        assert memory.ask("When did Mira move?").text == "May 2023"
        report = memory.update("a", "I moved to Porto in June 2022.")
        assert [status.outcome for status in report.statuses] == ["replaced"]
        new = memory.turn("a")
        assert (new.id, new.session, new.speaker, new.time) == (old.id, old.session, old.speaker, old.time)
        assert (new.caption, new.role, new.metadata) == (old.caption, old.role, old.metadata)
        assert [turn.id for turn in memory.context("b")] == ["a", "b"]
        assert memory.ask("When did Mira move?").text == "June 2022"
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
    assert memory.turn(status.id).metadata == {}
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
