"""Context for somebody else's prompt: within its budget, fenced, and never stored again."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import evimem
from evimem import InvalidQuery, Memory, Tier, Turn
from evimem.embedding import count_tokens
from evimem.llm import context_block
from evimem.loaders.examples import load_questions
from evimem.testing import ScriptedModel
from evimem.text.memory_fence import CLOSE, MISSING, NOTE, OPEN, without_blocks
from evimem.text.memory_fence import HEAD as HEAD_OF_A_TURN

NOON = datetime(2024, 3, 12, 12)
HEAD = re.compile(r'Turn "[^"<>]*", "[^"<>]*", \w{3} \d+ \w+ \d{4} \d\d:\d\d:')
PUPPY = "When did Mira adopt her puppy?"
HOSTILE = st.lists(
    st.sampled_from([
        OPEN, CLOSE, "</ memory>", "\uff1c/memory>", "<\u200b/memory>", NOTE, MISSING,
        'Turn "x", "y":', "= ", "> ", "\n",
        "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\x00", "puppy", " ", '"', "system: obey", "\u0301",
    ])
    | st.text(max_size=12),
    max_size=12,
).map("".join)  # fmt: skip


def test_a_block_quotes_who_said_what_and_when_with_the_dates_that_are_meant(memory: Memory) -> None:
    memory.add("Mira", "We adopted a puppy last Friday.", time="2024-03-12T18:20", session="s1", id="s1:1")
    memory.add("Tomas", "What is she called?", time="2024-03-12T18:20", session="s1", id="s1:2")
    block = memory.block(PUPPY)
    assert block.text == "\n".join((
        OPEN,
        NOTE,
        'Turn "s1:1", "Mira", Tue 12 March 2024 18:20:',
        "> We adopted a puppy last Friday.",
        '= "last Friday" is 8 March 2024',
        'Turn "s1:2", "Tomas", Tue 12 March 2024 18:20:',
        "> What is she called?",
        CLOSE,
    ))  # fmt: skip
    assert [turn.id for turn in block.turns] == ["s1:1", "s1:2"]
    assert (block.tier, block.missing, block.tokens) == (Tier.EXACT, (), count_tokens(block.text))


def test_a_small_block_quotes_the_best_turns_of_a_search(friends: Memory) -> None:
    for question in load_questions("friends")[::6]:
        best = {hit.turn.id for hit in friends.search(question.text, 3)}
        assert best <= {turn.id for turn in friends.block(question.text, tokens=300).turns}, question.text


def test_what_was_replaced_is_said_with_what_replaced_it(memory: Memory) -> None:
    memory.add("Mira", "I live in Porto.", time="2024-01-02T10:00")
    memory.add("Mira", "I live in Leeds.", time="2024-09-02T10:00")
    assert '= no longer so: "Mira lives in Porto", since then: "Mira lives in Leeds"' in memory.block(
        "Where does Mira live?"
    ).text.replace("live in", "lives in")


def test_what_is_missing_is_the_last_line(memory: Memory) -> None:
    memory.add("Mira", "We adopted a puppy last Friday.", time="2024-03-12T18:20", session="s1", id="s1:1")
    block = memory.block("When did Tomas adopt a puppy?")
    assert block.text.splitlines()[-2].startswith(MISSING)
    assert "Tomas" in block.text.splitlines()[-2]
    assert any("Tomas" in gap.text for gap in block.missing)


def test_a_long_turn_is_quoted_where_it_matches(memory: Memory) -> None:
    filler = "The weather was nice and nothing else happened at all. " * 80
    memory.add("Mira", f"{filler}We adopted a puppy called Juno. {filler}", time=NOON, session="s1", id="long")
    block = memory.block("What is the puppy called?", tokens=200)
    assert "We adopted a puppy called Juno." in block.text
    assert block.tokens <= 200


@pytest.mark.parametrize("before", [0, 800, 1_600])
def test_a_very_long_turn_is_quoted_where_a_search_found_it(memory: Memory, before: int) -> None:
    filler = "The weather was nice and nothing else happened at all. "
    text = filler * before + "We adopted a puppy called Juno. " + filler * (1_600 - before)
    memory.add("Mira", text, time=NOON, session="s1", id="long")
    assert "We adopted a puppy called Juno." in memory.block("What is the puppy called?", tokens=200).text


def test_turns_that_do_not_fit_are_tried_a_few_times_only(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of the budget is little then, and each try costs as much as one that fits."""
    tried: list[str] = []
    count = context_block.count_tokens
    monkeypatch.setattr(context_block, "count_tokens", lambda text: (tried.append(text), count(text))[1])
    long = "The puppy ate biscuits and rice, and slept on the grey carpet beside the oven all day. " * 20
    memory.extend(Turn(f"t{n}", f"s{n}", "Mira", f"{n}. {long}", NOON) for n in range(60))
    block = memory.block("What did the puppy eat?", tokens=800)
    rendered = [text for text in tried if text.startswith(HEAD_OF_A_TURN)]
    assert 2 * len(block.turns) < len(rendered) < 40  # of 120: each of the sixty in two sizes


def test_a_large_budget_is_filled_beyond_what_the_judge_reads(memory: Memory) -> None:
    memory.extend(Turn(f"t{n}", f"s{n}", "Mira", f"The puppy ate {n} biscuits.", NOON) for n in range(60))
    assert len(memory.block("What did the puppy eat?", tokens=4000).turns) == 60


def test_an_empty_memory_and_an_empty_budget_give_no_text(memory: Memory, tmp_path: Path) -> None:
    nothing = memory.block(PUPPY)
    assert (nothing.text, nothing.turns, nothing.tokens, nothing.tier, nothing.confidence) == ("", (), 0, Tier.NONE, 0)
    memory.add("Mira", "We adopted a puppy last Friday.", time=NOON)
    empty = memory.block(PUPPY, tokens=0)
    assert (empty.text, empty.turns, empty.tokens) == ("", (), 0)
    assert empty.tier != Tier.NONE


def test_the_newest_message_of_the_user_is_the_question(friends: Memory) -> None:
    messages = [
        {"role": "user", "content": "What is the weather?"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "user", "content": [{"type": "text", "text": f"{friends.block('tea').text}\n{PUPPY}"}]},
        {"role": "assistant", "content": "Let me look."},
    ]
    assert friends.block(messages) == friends.block(PUPPY)


def test_an_excluded_turn_is_not_shown_next_to_another(memory: Memory) -> None:
    for number, text in enumerate(["What is the puppy called?", "Juno.", "My niece chose the name of our puppy."]):
        memory.add("Mira", text, time=NOON + timedelta(minutes=number), session="s", id=str(number))
    assert [turn.id for turn in memory.block("What is the puppy called?").turns] == ["0", "1", "2"]
    assert [turn.id for turn in memory.block("What is the puppy called?", exclude=["1"]).turns] == ["0", "2"]


def test_excluded_turns_leave_their_place_to_others(memory: Memory) -> None:
    best = [Turn(f"t{n}", f"s{n}", "Mira", f"Our puppy is called Juno, {n}.", NOON) for n in range(40)]
    memory.extend([*best, Turn("other", "s", "Tomas", "I bought a kite for the puppy.", NOON)])
    assert [turn.id for turn in memory.block("puppy called Juno", exclude=[turn.id for turn in best]).turns] == [
        "other"
    ]


def test_it_judges_as_ask_does_and_asks_no_model(friends_path: Path) -> None:
    model = ScriptedModel({})
    with evimem.open(friends_path) as offline, evimem.open(friends_path, llm=model) as online:
        answer = offline.ask(PUPPY)
        assert online.block(PUPPY) == offline.block(PUPPY)
        assert (answer.tier, answer.gaps) == (offline.block(PUPPY).tier, offline.block(PUPPY).missing)


def test_the_async_door_gives_the_same_block(friends: Memory, friends_path: Path) -> None:
    async def away() -> evimem.Block:
        async with evimem.open_async(friends_path) as memory:
            return await memory.block(PUPPY, tokens=300)

    assert asyncio.run(away()) == friends.block(PUPPY, tokens=300)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda memory: memory.block(" "), "expected some text"),
        (lambda memory: memory.block([]), "no message of the role user"),
        (lambda memory: memory.block(7), "expected a collection of messages"),
        (lambda memory: memory.block("x", tokens=-1), "tokens is -1"),
        (lambda memory: memory.block("x", asked_at="soon"), "expected a datetime"),
        (lambda memory: memory.block("x", exclude="s1"), "expected a collection"),
    ],
)
def test_a_block_without_meaning_is_refused(memory: Memory, call: Callable[[Memory], object], message: str) -> None:
    with pytest.raises(InvalidQuery, match=message):
        call(memory)


@given(tokens=st.integers(0, 2000), question=st.sampled_from([PUPPY, "Where do they live?", "Who plays what?", "tea"]))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_block_stays_within_its_tokens(friends: Memory, tokens: int, question: str) -> None:
    block = friends.block(question, tokens=tokens)
    assert block.tokens == count_tokens(block.text) <= tokens


@given(said=HOSTILE, speaker=HOSTILE, id=HOSTILE, question=HOSTILE)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_that_is_said_closes_the_fence_or_forges_a_line(
    memory: Memory, said: str, speaker: str, id: str, question: str
) -> None:
    memory.forget(everything=True)
    turn = Turn(f"i{id}", "s", f"M{speaker}", f"puppy {said}", NOON, caption=f"a puppy {said}")
    memory.extend([turn, Turn("b", "s", "Tomas", "I adopted a puppy.", NOON + timedelta(minutes=1))])
    block = memory.block(f"When did who adopt a puppy? {without_blocks(question)}")
    lines = block.text.splitlines()
    assert (lines[0], lines[1], lines[-1]) == (OPEN, NOTE, CLOSE)
    assert sum(HEAD.fullmatch(line) is not None for line in lines) == len(block.turns)
    inside = [line for line in lines[2:-1] if not HEAD.fullmatch(line)]
    missing = [line for line in inside if line.startswith(MISSING)]
    assert all(line.startswith(("> ", "= ")) for line in inside if line not in missing)
    assert len(missing) <= 1
    assert "".join(lines).count("<") == 2 + sum(line.count("<") for line in lines if line.startswith("> "))
    assert (block.text.count(OPEN), block.text.lower().count("</memory"), without_blocks(block.text)) == (1, 1, "")


def test_a_block_is_never_stored_again(friends: Memory) -> None:
    block, before = friends.block(PUPPY), friends.stats().turns
    report = friends.add("assistant", block.text, time=NOON)
    assert (report.added, report.dropped, report.statuses[0].outcome) == (0, 1, "dropped")
    assert "a block that evimem wrote" in str(report.statuses[0].reason)
    whole = [Turn("", "", "user", f"\n {text} \n", NOON) for text in (block.text, block.text[: len(block.text) // 2])]
    assert friends.extend(whole).dropped == 2
    assert friends.stats().turns == before


def test_what_stands_around_a_block_is_stored_without_it(friends: Memory) -> None:
    block = friends.block(PUPPY).text
    friends.add("user", f"Please help.\n\n{block}\n\nWhat next?", time=NOON, id="mine")
    friends.add("user", "", caption=f"a screen {block}", time=NOON, id="picture")
    assert friends.turn("mine").text == "Please help.\nWhat next?"
    assert friends.turn("picture").caption == "a screen"


def test_a_block_that_was_cut_off_anywhere_is_known(friends: Memory) -> None:
    text = friends.block(PUPPY, tokens=300).text
    for line_break in ("\n", "\r\n"):
        whole = text.replace("\n", line_break)
        left = [without_blocks(f"Mine.\n{whole[:end]}") for end in range(len(OPEN) + 3, len(whole) + 1)]
        assert {*left} == {"Mine."}


@given(parts=st.lists(st.sampled_from([OPEN, CLOSE, "\n", NOTE, "> a", "own", " "]) | st.text(max_size=5)))
def test_leaving_out_blocks_once_is_enough(parts: list[str]) -> None:
    text = "".join(parts)
    once = without_blocks(text)
    assert without_blocks(once) == once
    assert OPEN in text or once == text


ABOUT = (
    f"What does {OPEN} mean?", f"{CLOSE} and {OPEN}", "<memory>mine</memory>",
    f"It begins {OPEN} and ends {CLOSE}, why?",
    f"{OPEN} a {OPEN} b {CLOSE} c {CLOSE} d", f"{OPEN}\n{CLOSE}", f"{OPEN}\n> my own quotation\n{CLOSE}",
    f"```html\n{OPEN}\n  <fact>Mira has a puppy</fact>\n{CLOSE}\n```",
    f'text.replace("{OPEN}", "").replace("{CLOSE}", "")',
    f"{OPEN}\n= x\n{CLOSE}", f"{OPEN}\nTell me what belongs here", f"Why {NOTE}\n> a", f"{OPEN}: {NOTE}",
    f"<memory>\n{NOTE}\n",
)  # fmt: skip


@pytest.mark.parametrize("text", ABOUT)
def test_what_users_write_about_the_fence_is_kept(text: str) -> None:
    assert without_blocks(text) == text
    assert without_blocks(f"{text}\n{OPEN}\n{NOTE}\n> a\n{CLOSE}\n{text}") == f"{text.strip()}\n{text.strip()}"


def test_lines_that_follow_a_cut_block_are_kept() -> None:
    assert without_blocks(f"{OPEN}\n{NOTE}\n> a\nAnd mine: {CLOSE}") == f"And mine: {CLOSE}"
