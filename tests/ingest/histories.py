"""Random chats as callers hand them over, and what was said in them.

The judge knows what was said and what is stored, and nothing of how that was decided.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import evimem
from evimem import Memory

NOON = datetime(2024, 3, 12, 12)
ASKED = ("ok", "Great!", "thanks", "Took my pills.", "Went running today, 5k", "And what did I say about the garden?")
REPLIED = ("Noted.", "You're welcome!", "Well done!", "ok")
PATTERNS = (
    "whole", "window", "new", "message by message", "whole, then window", "window, then whole", "new, then whole",
)  # fmt: skip
SELDOM = ("whole, seldom", "window, seldom", "new, seldom")  # after one to three exchanges
OWN = ("nothing", "times", "ids")
CHATS_A_FILE = 300
Message = dict[str, Any]


@dataclass(frozen=True)
class Chat:
    """A chat: its messages, each with the minute at which it was handed over first, and how its caller calls."""

    pattern: str
    own: str
    exchanges: tuple[tuple[Message, ...], ...]
    window: int
    retried: float  # how often a reply is lost
    forms: bool  # whether a message comes in several

    def calls(self, random: Random) -> Iterator[tuple[list[Message], datetime]]:
        """Yield each list of messages and its time; one whose reply was lost comes again at the same time."""
        restart = random.randrange(1, len(self.exchanges) + 1)
        said: list[Message] = []
        new: list[Message] = []
        before, _, after = self.pattern.partition(", ")
        for number, exchange in enumerate(self.exchanges):
            said += exchange
            new += exchange
            if after == "seldom" and len(new) < 6 and number + 1 < len(self.exchanges) and random.random() < 0.5:
                continue
            pattern = after.removeprefix("then ") if after.startswith("then ") and number >= restart else before
            lists, new = self._lists(pattern, said, new), []
            for given in lists:
                at = NOON + timedelta(minutes=len(said), seconds=given[0]["role"] == "assistant")
                for _ in range(1 + (random.random() < self.retried)):
                    yield [self._formed(one, random) for one in given], at

    def _lists(self, pattern: str, said: list[Message], new: list[Message]) -> list[list[Message]]:
        if pattern == "message by message":
            return [[one] for one in new]
        return [{"whole": said[:], "window": said[-max(self.window, len(new)) :], "new": new}[pattern]]

    def _formed(self, message: Message, random: Random) -> Message:
        form = random.randrange(3) if self.forms else 0
        if form == 1:
            return {**message, "content": [{"type": "text", "text": message["content"]}]}
        return {"refusal": None, "tool_calls": None, **message} if form else dict(message)


def chat(random: Random, pattern: str, own: str) -> Chat:
    """Return a random chat of up to twelve exchanges, few of whose messages are said once."""
    few = random.randrange(1, len(ASKED) + 1)
    number = 0
    exchanges = []
    for _ in range(random.randrange(1, 13)):
        exchange = []
        for role, texts in (("user", ASKED[:few]), ("assistant", REPLIED[: 1 + few // 2])):
            number += 1
            message: Message = {"role": role, "content": random.choice(texts)}
            at = {"ids": {"id": f"m{number}"}, "times": {"created_at": f"2024-03-12T10:{number:02}"}}
            exchange.append(message | at.get(own, {}))
        exchanges.append(tuple(exchange))
    window, retried = random.randrange(2, 12), random.choice((0.0, 0.0, 0.3))
    return Chat(pattern, own, tuple(exchanges), window, retried, random.random() < 0.5)


class Fast:
    """An embedder that takes no time."""

    name, dimension = "fast", 2

    def embed(self, texts: Sequence[str]) -> Any:
        return np.zeros((len(texts), 2), np.float32)


class Silent:
    """An extractor that finds nothing."""

    name = "silent"

    def extract(self, turn: evimem.Turn) -> tuple[evimem.Fact, ...]:
        return ()


def told(memory: Memory, chats: Sequence[tuple[str, Chat]], random: Random) -> list[Counter[tuple[str, str]]]:
    """Hand over some chats, interleaved; return by how much of each message more, or less, is stored than was said."""
    left = [(session, one.calls(random)) for session, one in chats]
    while left:
        session, calls = random.choice(left)
        call = next(calls, None)
        if call is None:
            left.remove((session, calls))
        else:
            memory.remember(call[0], session=session, time=call[1])
    off = []
    for session, one in chats:
        stored = Counter((str(turn.role), turn.text) for turn in memory.turns(session=session))
        stored.subtract((message["role"], message["content"]) for exchange in one.exchanges for message in exchange)
        off.append(stored)
    return off


def run(count: int, seed: int, folder: Path, patterns: Sequence[str] = PATTERNS) -> dict[tuple[str, str], Counter[str]]:
    """Return how many messages of chats were said, lost and doubled, by pattern and what they have of their own."""
    random, table = Random(seed), dict[tuple[str, str], Counter[str]]()
    for start in range(0, count, CHATS_A_FILE):
        path = folder / f"{start}.evimem"
        with evimem.open(path, embedder=Fast(), extractor=Silent()) as memory:
            for number in range(start, min(start + CHATS_A_FILE, count), 2):
                pair = [
                    (f"s{one}", chat(random, patterns[one % len(patterns)], OWN[one // len(patterns) % len(OWN)]))
                    for one in (number, number + 1)
                ]
                for (_, one), off in zip(pair, told(memory, pair, random), strict=True):
                    row = table.setdefault((one.pattern, one.own), Counter())
                    row["chats"] += 1
                    row["said"] += sum(map(len, one.exchanges))
                    row["lost"] += sum(-count for count in off.values() if count < 0)
                    row["doubled"] += sum(count for count in off.values() if count > 0)
        for file in folder.iterdir():
            file.unlink()
    return table
