"""Random chats whose histories change, as clients of six styles hand them over, and a judge of what is stored.

Every message that is said has words of its own, so that what is lost, doubled or doubtful can be counted. Some are a
word long.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from evimem import Memory
from evimem.api.core import Core
from evimem.types.values import is_discarded
from tests.ingest.histories import Fast
from tests.reference.session_store import SessionStore

STYLES = ("whole", "last exchange", "only new", "window", "ids", "times")
CHANGES = ("none", "regenerate", "cut off", "save in part", "edit", "delete", "summarise", "mint ids")
BY_STYLE = {  # a client that gives an exchange at a time can change no more than that
    "last exchange": ("none", "regenerate", "cut off", "save in part"),
    "only new": ("none", "cut off", "save in part"),
    "window": ("none", "regenerate", "cut off", "save in part", "edit"),
    "times": ("none", "regenerate", "cut off", "save in part", "edit", "delete"),
}
WORDS = "roof barn slate gutter pump drain cellar lantern hedge anvil kiln loom ferry orchard quarry mill".split()
Message = dict[str, Any]


@dataclass
class Client:
    """A chat as a client of one style knows it, and what has been said in it."""

    style: str
    random: Random
    number: int = 0
    history: list[Message] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    parts: set[str] = field(default_factory=set)  # beginnings of replies, which need not stay

    def message(self, role: str) -> Message:
        """Return a message that nobody has said."""
        self.number += 1
        length = self.random.choice((0, 0, 4, 12))
        text = " ".join((f"m{self.number}", *(self.random.choice(WORDS) for _ in range(length))))
        self.said.append(text)
        own = {
            "ids": {"id": f"{self.number}"},
            "times": {"created_at": (datetime(2024, 3, 12) + timedelta(minutes=self.number)).isoformat()},
        }
        return {"role": role, "content": text, **own.get(self.style, {})}

    def calls(self) -> Iterator[list[Message]]:
        """Yield the lists that the client gives, one change at most between two of them."""
        for turn in range(self.random.randrange(2, 9)):
            exchange = [self.message("user"), self.message("assistant")]
            change = self.random.choice(BY_STYLE.get(self.style, CHANGES)) if turn else "none"
            if change == "save in part":
                yield from self._saved_in_part(exchange)
            self.history += exchange
            yield self._given(exchange)
            if change == "cut off":
                text = self.history[-1]["content"]
                self.history[-1] = {**self.history[-1], "content": text[: self.random.randrange(1, len(text))]}
                self.parts.add(self.history[-1]["content"])
                yield self._given(self.history[-2:])
            elif change not in ("none", "save in part"):
                self._change(change)
                yield self._given(self.history[-2:])

    def _saved_in_part(self, exchange: list[Message]) -> Iterator[list[Message]]:
        text = exchange[1]["content"]
        ends = sorted(self.random.sample(range(1, len(text) + 3), 2))
        for said in dict.fromkeys(text[:end].rstrip() for end in ends):
            if said != text:
                self.parts.add(said)
                part = [exchange[0], {**exchange[1], "content": said}]
                self.history += part
                yield self._given(part)
                del self.history[-2:]

    def _change(self, change: str) -> None:
        history, random = self.history, self.random
        if change == "regenerate":
            history[-1] = self.message("assistant")
        elif change == "edit":
            history[-2:] = [self.message("user"), self.message("assistant")]
        elif change == "delete":
            del history[random.randrange(len(history) - 1)]
        elif change == "summarise" and len(history) > 8:
            history[:-6] = [self.message("user")]
        elif change == "mint ids" and "id" in history[0]:
            history[:] = [{**one, "id": f"new{self.number}-{place}"} for place, one in enumerate(history)]

    def _given(self, exchange: list[Message]) -> list[Message]:
        if self.style in ("last exchange", "only new"):
            return exchange[:] if self.style == "last exchange" else exchange[-2:]
        return self.history[-6:] if self.style == "window" else self.history[:]


def run(numbers: Iterable[int], seed: int, memory: Memory) -> dict[str, Counter[str]]:
    """Return how many messages were said, lost, doubled, and stored twice with a report of doubt, by style."""
    table: dict[str, Counter[str]] = {style: Counter() for style in STYLES}
    for number in numbers:
        one = client(seed, number)
        table[one.style] += judge(one, *told(memory, one, f"s{seed} {number}"))
    return table


def client(seed: int, number: int) -> Client:
    """Return the client of a number, a style each in turn."""
    return Client(STYLES[number % len(STYLES)], Random(f"{seed} {number}"))


def in_memory() -> Memory:
    """Return a memory over the reference of sessions, which takes no time: `remember` itself is the same."""
    return Memory(Core(SessionStore(), Fast()))


def told(memory: Memory, client: Client, session: str) -> tuple[list[tuple[str, str]], list[tuple[str, bool]]]:
    """Hand a chat over; return each message with its outcome, and the texts stored, with those marked as discarded."""
    outcomes = []
    for number, given in enumerate(client.calls()):
        at = datetime(2024, 4, 1, 12) + timedelta(minutes=number)
        statuses = memory.remember(given, session=session, time=at).statuses
        outcomes += [(one["content"], status.outcome) for one, status in zip(given, statuses, strict=True)]
    return outcomes, [(turn.text, is_discarded(turn)) for turn in memory.turns(session=session)]


def judge(client: Client, outcomes: list[tuple[str, str]], kept: list[tuple[str, bool]]) -> Counter[str]:
    """Count the messages of a chat by what became of them."""
    doubtful = {text for text, outcome in outcomes if outcome == "uncertain"}
    stored = Counter(text for text, _ in kept)
    said = set(client.said)
    lost = [text for text in said if not stored[text]]
    doubled = [text for text, times in stored.items() if times > 1 and text not in doubtful]
    parts = [text for text in stored if text not in said and text not in doubtful]
    row = {"chats": 1, "said": len(said), "lost": len(lost), "doubled": len(doubled) + len(parts)}
    return Counter(row | {"doubtful": len(doubtful)})
