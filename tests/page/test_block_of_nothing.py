"""A block for a message that means nothing: no turn of the memory is shown for it, whoever asks."""

import pytest

import evimem


@pytest.fixture
def memory(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as opened:
        opened.add("user", "We adopted a puppy last Friday.", time="2024-03-12T18:20", role="user")
        opened.add("user", "Ask Vlorp about the printer.", time="2024-03-12T18:21", role="user")
        yield opened


@pytest.mark.parametrize("message", ["zzzqqq", "zzzqqq xyzzy?"])
def test_no_turn_is_shown_for_words_that_nobody_knows(memory, message):
    asked = [{"role": "user", "content": message}]
    for block in (memory.block(asked, gate=False), memory.block(asked)):
        assert (block.text, block.turns) == ("", ())
    assert len(memory.search(message, k=2)) == 2, "a search returns k turns whatever they are worth"


@pytest.mark.parametrize("message", ["vlorp", "dog", "pupy", "\u5bb6"])
def test_turns_are_shown_for_a_word_that_was_said_or_is_known(memory, message):
    assert memory.block([{"role": "user", "content": message}], gate=False).turns
