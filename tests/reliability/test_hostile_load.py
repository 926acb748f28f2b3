"""Hostile inputs take bounded work: each call in pieces of fixed work, all of them within a child's processor time."""

import re
import resource
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import count as count_from
from random import Random
from time import process_time

import pytest

import evimem
from evimem import EvimemError, Turn, find_times
from evimem.index.document import passages
from evimem.query.analysis import analyse, find_hints
from evimem.text.names import contains_name
from evimem.text.sentences import sentences
from evimem.text.terms import terms, words
from tests.lateness import piece_seconds
from tests.sizes import share, sizes

from .support.children import in_child
from .support.world import EMBEDDER, NOON

EACH = 200  # pieces of fixed work that one call may take, the quickest of four: 0.2 s on a machine of 2024
PIECES = (  # repeated up to a length
    "1 ", "?", " ", "a", "(", "((a", "in 99999999999 years, ", "two days ago, ", "ago ", "the day before ", "Monday ",
    "1/", "12:", "2024-02-30T", "I like ", "I said that she said that ", "My brother's ", "and ", ",", ".", "\n", '"',
    "I don't ", "é", "e\u0301", "👩\u200d", "אב ", "日本", "a-b-", "a.b.", "http://a/", "Very ", "[", "]", "'s",
    "the week of ", "between 1 and ", "\x00", "I love tea. ", "from 9 to 5 ", "½ ", "²",
)  # fmt: skip
LENGTHS = (8_000, 65_536, 1_000, 16_000, 100)
WHOLE = (
    " " * 1_000_000 + "x", "?" * 100_000 + "x", "a" * 65_536, "(" * 3_000 + "a" + ")" * 3_000,
    "in 99999999999 years", "1 " * 4_000, "a" * 30_000 + "!", "x@" * 30_000, "\n" * 1_000_000 + "x", "/" * 50_000,
)  # fmt: skip


def hostile(count: int, random: Random) -> list[str]:
    """Return texts made of each piece, in lengths that differ from round to round."""
    pieces = [
        (piece, LENGTHS[(place + number // len(PIECES)) % 5])
        for number, (place, piece) in enumerate([*enumerate(PIECES)] * (count // len(PIECES) + 1))
    ]
    return [f"{random.choice(('', 'I moved to '))}{piece * (most // len(piece))}x" for piece, most in pieces[:count]]


@pytest.mark.parametrize("count", sizes(len(PIECES), nightly=5_000, reduced=8))
def test_no_turn_or_question_exceeds_its_time(disk, seed, count, tell):
    texts = [*WHOLE, *hostile(count, Random(seed))]

    def work() -> tuple[list[float], list[str]]:
        slow: list[str] = []
        numbers = count_from(0)
        taken: list[float] = []
        piece = piece_seconds()

        def timed(what: str, call: Callable[[], object]) -> None:
            allowed, least = EACH * piece, float("inf")
            for _ in range(4):
                began = process_time()
                with suppress(EvimemError):
                    call()
                least = min(least, process_time() - began)
                if least < allowed:
                    break
                allowed = EACH * max(piece, piece_seconds())  # the processor may have slowed down since
            taken.append(least)
            if least >= allowed:
                slow.append(f"{what} took {least:.2f} s, {allowed:.2f} s allowed")

        with evimem.open(disk / "m.evimem", embedder=EMBEDDER) as memory:
            for number, text in enumerate(texts):
                place = f"{text[:20]!r} of {len(text)} characters"
                time = NOON + timedelta(minutes=number)

                def keep(text: str = text, session: str = f"s{number // 50}", time: datetime = time) -> None:
                    memory.extend([Turn(f"t{next(numbers)}", session, "Mira", text, time)])  # each time a new one

                timed(f"to keep {place}", keep)
                timed(f"the dates of {place}", partial(find_times, text, said_at=NOON))
                timed(f"to search {place}", partial(memory.search, text, k=3))
                timed(f"to ask {place}", partial(memory.ask, text))
        return taken, slow

    taken, slow = in_child(work, {resource.RLIMIT_CPU: int(10 + 2 * EACH * piece_seconds() * count)})
    assert slow == []
    taken.sort()
    tell(
        f"{len(texts)} hostile texts as turn, dates, query and question: {sum(taken):.0f} CPU s, 99 of 100 within "
        f"{1e3 * taken[int(0.99 * len(taken))]:.0f} ms, all within {1e3 * taken[-1]:.0f}"
    )


RANGES = {  # of code points
    "any": (0x20, 0x10FFFF), "of the first plane": (0x20, 0xFFFF), "ideographs": (0x4E00, 0x9FFF),
    "ASCII": (0x20, 0x7E), "Latin": (0x20, 0x24F), "Hangul": (0xAC00, 0xD7A3), "Arabic": (0x620, 0x64A),
    "Devanagari": (0x900, 0x97F),
}  # fmt: skip
RANGES_TOO = {"one that stands for eighteen": (0xFDFA, 0xFDFA)}  # takes most of its time: some noise would fail it
OF_TEXT: dict[str, Callable[[str], object]] = {
    "find_times": lambda text: find_times(text, NOON), "hints": lambda text: find_hints(text, ["Mira", "user"], NOON),
    "analyse": lambda text: analyse(text, ["Mira", "user"], NOON), "terms": terms, "words": words,
    "sentences": sentences, "passages": passages, "names": lambda text: contains_name(text, "Mira"),
}  # fmt: skip


def of_range(kind: str, random: Random) -> str:
    first, last = (RANGES | RANGES_TOO)[kind]
    drawn = "".join(chr(random.randint(first, last)) for _ in range(90_000))
    return re.sub("[\ud800-\udfff]", "a", drawn)


@pytest.mark.parametrize("kind", [*RANGES, *(pytest.param(kind, marks=pytest.mark.nightly) for kind in RANGES_TOO)])
def test_no_reading_of_90_000_random_characters_exceeds_its_time(seed, kind):
    """Characters of one piece repeated are few terms; these are as many as there can be."""
    text = of_range(kind, Random(seed))
    for name, call in share(list(OF_TEXT.items()), 4, kind):
        taken, allowed = [], 0.0
        while len(taken) < 4 and (not taken or min(taken) >= allowed):
            began = process_time()
            call(text)
            taken.append(process_time() - began)
            allowed = EACH * piece_seconds()
        assert min(taken) < allowed, f"{name} took {min(taken):.2f} s, {allowed:.2f} s allowed"


def test_a_turn_that_begins_with_whitespace_breaks_no_question(disk):
    """Found with a million spaces: no sentence of such a turn is read, although its neighbour is cited."""
    with evimem.open(disk / "m.evimem", embedder=EMBEDDER) as memory:
        memory.add("Mira", " " * 30_000 + "x", time=NOON, session="s")
        memory.add("Noah", "I like green tea.", time=NOON + timedelta(minutes=1), session="s")
        assert memory.ask("What does Noah like?").citations[0].quote
