"""Any text, given as a turn, a query, an id or a filter, is kept verbatim, found, or refused with a typed error."""

import re
import sys
from collections.abc import Callable
from datetime import timedelta
from random import Random

import pytest

import evimem
from evimem import EvimemError, InvalidQuery, InvalidTurn, Memory, Turn, UnknownTurn
from evimem.api.pool import key_of
from evimem.raw.validate import MAX_NAME, MAX_TEXT
from tests.sizes import sizes

from .support.tables import differences, dump
from .support.world import EMBEDDER, NOON, open_memory, small_thresholds

PIECES = (
    "'", '"', "`", ";", "--", "/*", "*/", "%", "_", "\\", "\x00", "\n", "\r\n", "\t", "(", ")" * 9, "NEAR(a b)", "a*",
    "-a", "a:b", "^a", "AND", "OR NOT", "' OR '1'='1", "'; DROP TABLE turn; --", "${x}", "{0}", "%s", "?1", ":id", "@a",
    "$a", "\ud800", "\udfff", "\ud83d\ude00", "\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041", "e\u0301", "\u0130",
    "ß",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467", "🇵🇹", "العربية", "שלום", "日本語", "ไทย", "\u0000\u0001",
    "\x7f", "\x85",
    "\u2028", "A" * 300, "../..",
    "C:\\nul",
)  # fmt: skip


def odd(random: Random, most: int = 5) -> str:
    """Return a text of a kind that has broken software before."""
    parts = [
        random.choice(PIECES)
        if random.random() < 0.7
        else chr(random.randrange(sys.maxunicode + 1)) * random.randint(1, 3)
        for _ in range(random.randint(1, most))
    ]
    return random.choice(("", " ")).join(parts)


def fill(memory: Memory, count: int) -> None:
    times = [NOON + timedelta(minutes=number) for number in range(count)]
    memory.extend([Turn(f"t{number}", "s", "Mira", f"I like tea {number}.", time) for number, time in enumerate(times)])


def odd_turn(random: Random, number: int) -> Turn:
    speaker, caption = random.choice(("Mira", "Žofie", "美羅")), random.choice((None, odd(random)))
    note = odd(random).encode("utf-8", "replace").decode()
    time = NOON + timedelta(minutes=number)
    return Turn(f"{number}", "s", speaker, f"{odd(random)} zq{number}", time, caption, "user", {"note": note})


@pytest.mark.parametrize("count", sizes(500, nightly=50_000, reduced=100))
def test_an_odd_text_is_kept_verbatim_and_found(disk, seed, count, tell):
    random = Random(seed)
    with small_thresholds(), open_memory(disk / "m.evimem") as memory:
        for start in range(0, count, 100):
            turns = [odd_turn(random, number) for number in range(start, start + 100)]
            assert memory.extend(turns).added == len(turns)
            assert [memory.turn(turn.id) for turn in turns] == turns
            for sample in random.sample(turns, 5):
                found = [hit.turn for hit in memory.search(f"zq{sample.id}", k=1)]
                assert found == [sample], f"seed {seed}: {sample.text!r} was not found by its last word"
        assert memory.check().problems == ()
    tell(f"{count} odd texts kept verbatim and found")


def test_a_text_of_a_mebibyte_is_kept_verbatim_and_found(disk):
    for text in ("é\ud800\x00" * (MAX_TEXT // 6) + " zq", "zq " + "x" * (MAX_TEXT - 3)):
        with open_memory(disk / f"{len(text)}.evimem") as memory:
            fill(memory, 5)
            memory.add("Mira", text, time=NOON, id="long")
            assert memory.turn("long").text == text
            assert memory.search("zq", k=1)[0].turn.id == "long"


@pytest.mark.parametrize("count", sizes(300, nightly=100_000, reduced=50))
def test_queries_ids_and_filters_reach_sqlite_only_as_bound_values(disk, seed, count, tell):
    """The SQL statements of odd texts are, letter by letter, those of plain words."""
    random = Random(seed)
    with small_thresholds(), open_memory(disk / "m.evimem") as memory:
        fill(memory, 40)
        memory.enrich()
        before, there = dump(memory), list(memory.turns())
        statements: dict[str, None] = {}

        def note(_: object, sql: str, __: object) -> bool:
            statements.setdefault(re.sub(r"\?(, \?)+", "?", sql))  # how many values there are is left out
            return True

        memory._core.store.db._handle().exec_trace = note
        for word in ("kite", "tea", "Mira", "10 March 2024", "tea? kite", "What about tea yesterday?", "kittte"):
            everywhere(memory, word)
        plain = len(statements)
        for number in range(count):
            text = odd(random)
            everywhere(memory, text, thorough=number % 50 == 0)
            assert len(statements) == plain, (
                f"seed {seed}, text {number}: {text!r} led to {list(statements)[plain:]}, a statement of its own"
            )
        assert list(memory.turns()) == there
        assert differences(dump(memory), before) == []
    tell(f"{count} odd texts as query, user, session, speaker, id and exclusion: 0 errors, {plain} statements, 0 built")


def everywhere(memory: Memory, text: str, *, thorough: bool = True) -> None:
    """Pass a text as every argument that takes one."""
    query = text if text.strip() else "tea"
    hits = memory.search(query, k=5, exclude=[text])
    assert len(hits) == 5, f"{text!r} found {len(hits)} turns of 40"
    assert memory.search("tea", session=text) == [], f"{text!r} is not a session"
    if text != "Mira":
        assert memory.search("tea", speaker=text) == [], f"{text!r} is not a speaker"
    assert memory.forget(session=text).turns == 0
    assert re.fullmatch("[0-9a-f]{40}", key_of(text)), "a user id is a digest before it is anything else"
    for call in (memory.turn, memory.context, memory.neighbours):
        with pytest.raises(UnknownTurn):
            call(text)
    for call in (memory.facts, memory.forget):
        with pytest.raises(UnknownTurn):
            call([text])
    if thorough:
        memory.ask(query)
        memory._core.store.about(text, 3)


@pytest.mark.parametrize("what", ["id", "session", "speaker"])
def test_an_odd_name_is_kept_verbatim_or_refused(disk, seed, what):
    random = Random(f"{seed}/{what}")
    with open_memory(disk / "m.evimem") as memory:
        for number in range(300):
            name = f"{odd(random, most=2)}{number}"
            fields = {"id": f"t{number}", "session": "s", "speaker": "Mira"} | {what: name}
            turn = Turn(**fields, text="Hello there.", time=NOON + timedelta(minutes=number), role="user")
            (status,) = memory.extend([turn]).statuses
            if len(name) > MAX_NAME or any("\ud800" <= one <= "\udfff" for one in name):
                assert status.outcome == "refused"
                assert what in str(status.reason)
            else:
                assert memory.turn(turn.id) == turn


REFUSED: dict[str, Callable[[Memory], object]] = {
    "a text of more than a mebibyte": lambda m: m.add("Mira", "é" * (MAX_TEXT // 2 + 1), time=NOON),
    "no text": lambda m: m.add("Mira", "", time=NOON),
    "no speaker": lambda m: m.add("", "Hello.", time=NOON),
    "a speaker that is a number": lambda m: m.add(7, "Hello.", time=NOON),
    "a text that is bytes": lambda m: m.add("Mira", b"Hello.", time=NOON),
    "no time": lambda m: m.add("Mira", "Hello.", time=None),
    "a time that is none": lambda m: m.add("Mira", "Hello.", time="yesterday"),
    "an aware time among naive ones": lambda m: m.add("Mira", "Hello.", time="2024-03-12T12:00:00Z"),
    "an id of a thousand characters": lambda m: m.add("Mira", "Hello.", time=NOON, id="x" * 1000),
    "a role that is none": lambda m: m.add("Mira", "Hello.", time=NOON, role="admin"),
    "metadata that is not JSON": lambda m: m.add("Mira", "Hello.", time=NOON, metadata={"a": object()}),
    "metadata with a surrogate": lambda m: m.add("Mira", "Hello.", time=NOON, metadata={"a": "\ud800"}),
    "metadata with a huge number": lambda m: m.add("Mira", "Hello.", time=NOON, metadata={"a": 2**70}),
    "metadata with deep lists": lambda m: m.add("Mira", "Hello.", time=NOON, metadata={"a": deep(2_000)}),
    "an empty query": lambda m: m.search("  "),
    "a query that is a number": lambda m: m.search(7),
    "a query of a megabyte": lambda m: m.search("tea " * 250_000),
    "a question of a megabyte": lambda m: m.ask("tea " * 250_000),
    "k of zero": lambda m: m.search("tea", k=0),
    "k that is a text": lambda m: m.search("tea", k="5"),
    "an exclusion that is one text": lambda m: m.search("tea", exclude="t1"),
    "an aware bound among naive times": lambda m: m.search("tea", before="2024-01-01T00:00:00Z"),
    "a bound that is no time": lambda m: m.search("tea", after="soon"),
    "an empty question": lambda m: m.ask(""),
    "a loop that is none": lambda m: m.ask("What?", loop="circle"),
    "forgetting nothing": lambda m: m.forget(),
    "forgetting one text": lambda m: m.forget(turns="t1"),
    "forgetting by an aware time": lambda m: m.forget(before="2024-01-01T00:00:00Z"),
    "a trace that is not there": lambda m: m.trace(99),
    "an unknown turn": lambda m: m.turn("nobody"),
}


def deep(levels: int) -> list[object]:
    nested: list[object] = []
    for _ in range(levels):
        nested = [nested]
    return nested


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_input_is_refused_and_nothing_is_half_written(disk, case):
    with open_memory(disk / "m.evimem") as memory:
        fill(memory, 5)
        memory.enrich()
        before = dump(memory)
        with pytest.raises((InvalidTurn, InvalidQuery, UnknownTurn)) as caught:
            REFUSED[case](memory)
        assert isinstance(caught.value, EvimemError)
        assert differences(dump(memory), before) == []
        memory.add("Mira", "And on it goes.", time=NOON)


def test_a_bad_turn_among_good_ones_is_reported_and_the_others_are_kept(disk):
    with open_memory(disk / "m.evimem") as memory:
        speakers = {"a": "Mira", "b": "", "c": "Mira"}
        report = memory.extend([Turn(name, "s", speaker, "Hello.", NOON) for name, speaker in speakers.items()])
        assert [status.outcome for status in report.statuses] == ["added", "refused", "added"]
        assert memory.stats().turns == 2


@pytest.mark.parametrize("mark", ["\x00", "\u200b", "\u202e", "\ufeff", "\u2060", "\ud800", "\U000e0041", "\xad", "."])
def test_a_turn_of_marks_that_nobody_sees_breaks_no_question(disk, mark):
    """Found with 90,000 of them: a sentence without tokens, and no question about a person was answered any more."""
    with evimem.open(disk / "m.evimem", embedder=EMBEDDER) as memory:
        memory.add("Mira", "I live in Leeds. My cat is called Rex, and we had tea yesterday.", time=NOON)
        memory.add("Mira", mark, time=NOON + timedelta(minutes=1))
        memory.add("Tomas", f"Hello.\n{mark}", time=NOON + timedelta(minutes=2), caption=mark)
        assert "I live in Leeds." in (memory.ask("Where does Mira live?").text or "")
        for question in ("What is Mira's cat called?", "When did Mira have tea?", "How many cats does Mira have?"):
            memory.ask(question)
            memory.block(question)
