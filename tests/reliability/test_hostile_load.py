"""Inputs made to take for ever are bounded by work: a child with a budget of processor time gets through them all."""

from __future__ import annotations

import resource
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

import evimem
from evimem import EvimemError, Turn, find_times

from .support.children import in_child
from .support.scale import sizes
from .support.world import EMBEDDER, NOON

EACH = 0.5  # seconds of processor time for a turn, a search and a question: many times what they take
PIECES = (  # repeated up to a length
    "1 ", "?", " ", "a", "(", "((a", "in 99999999999 years, ", "two days ago, ", "ago ", "the day before ", "Monday ",
    "1/", "12:", "2024-02-30T", "I like ", "I said that she said that ", "My brother's ", "and ", ",", ".", "\n", '"',
    "I don't ", "é", "e\u0301", "👩\u200d", "אב ", "日本", "a-b-", "a.b.", "http://a/", "Very ", "[", "]", "'s",
    "the week of ", "between 1 and ", "\x00", "I love tea. ", "from 9 to 5 ", "½ ", "²",
)  # fmt: skip
LENGTHS = (8_000, 65_536, 1_000, 16_000, 100)


def hostile(count: int, random: Random) -> list[str]:
    """Return texts of every piece, in lengths that differ from round to round."""
    pieces = [
        (piece, LENGTHS[(place + number // len(PIECES)) % 5])
        for number, (place, piece) in enumerate([*enumerate(PIECES)] * (count // len(PIECES) + 1))
    ]
    return [f"{random.choice(('', 'I moved to '))}{piece * (most // len(piece))}x" for piece, most in pieces[:count]]


@pytest.mark.parametrize("count", sizes(84, nightly=500, reduced=20))
def test_no_turn_or_question_takes_for_ever(disk: Path, seed: int, count: int, tell: Callable[[str], None]) -> None:
    texts = hostile(count, Random(seed))

    def work() -> tuple[int, float]:
        refused = 0
        with evimem.open(disk / "m.evimem", embedder=EMBEDDER) as memory:
            for number, text in enumerate(texts):
                memory.extend([Turn(f"t{number}", f"s{number // 50}", "Mira", text, NOON + timedelta(minutes=number))])
                find_times(text, said_at=NOON)
                try:
                    memory.search(text, k=3)
                    memory.ask(text)
                except EvimemError:
                    refused += 1
        used = resource.getrusage(resource.RUSAGE_SELF)
        return refused, used.ru_utime + used.ru_stime

    limit = int(5 + EACH * count)
    refused, seconds = in_child(work, {resource.RLIMIT_CPU: limit})
    tell(
        f"{count} hostile texts as turn, dates, query and question ({refused} refused): {seconds:.0f} of {limit} CPU s"
    )
