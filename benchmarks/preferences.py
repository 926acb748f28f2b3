"""Measure how many preferences a block holds that bear on a request: `python -m benchmarks.preferences`.

Thirteen users tell twenty preferences each (`messages/pairs.tsv`), every other one in passing behind a message about
something else, among a hundred other exchanges: questions of general knowledge (`messages/self_contained.txt`) and
exchanges of other chats with an assistant. Then the request is made that the preference bears on. A preference is in
view when a page shows 30 % of its three-word runs. Beside the block stand the hits of `search`, whole and best first,
and a plain list of the user's sentences in the first person, nearest first.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np

import evimem
from evimem.embedding.static_embedder import StaticEmbedder
from evimem.embedding.token_bound import token_bound
from evimem.text.sentences import sentences

from .requests import SHARE_IN_VIEW, Request, lay_out_hits, read_requests, word_runs, write_block

HERE = Path(__file__).parent
BUDGETS_TOKENS = (150, 250, 300, 350, 800)
PREFERENCES, EXCHANGES, OTHERS = 20, 100, 5  # of a user; exchanges out of other chats among these
START, SEED = datetime(2025, 3, 3, 9, 0), 7
REPLIES = (
    "Got it, thanks for telling me.",
    "Sure, here is a short answer. Let me know if you want more detail.",
    "Happy to help! Is there anything else that you would like to know?",
    "Done. Tell me if something should be different.",
    "Good question. In short, it depends, and I can explain why.",
)
NEED_BONUS = 0.05  # of a similarity, for a sentence with a word of needs
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|my|me|we|our)\b", re.IGNORECASE)
_NEED = re.compile(r"\b(?:allergic|never|only|avoid|prefer|can't|don't|hate|love|always)\b", re.IGNORECASE)
Exchange = tuple[str, str]


@dataclass(frozen=True, slots=True)
class User:
    """A user's turns, and by request the preference that bears on it."""

    turns: tuple[evimem.Turn, ...]
    pairs: tuple[tuple[str, str], ...]


def read_exchanges() -> list[Exchange]:
    """Return what other users asked and what an assistant replied."""
    found: list[Exchange] = []
    for folder in ("requests_chats", "requests_fresh"):
        for _, turns, _ in read_requests(HERE / folder):
            found += [
                (said.text, reply.text)
                for said, reply in pairwise(turns)
                if (said.role, reply.role) == ("user", "assistant")
            ]
    return found


def build_users() -> Iterator[User]:
    """Yield users, drawn with the seed."""
    draw = random.Random(SEED)
    rows = (HERE / "messages" / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [(request, preference) for preference, request in (row.split("\t") for row in rows)]
    draw.shuffle(pairs)
    asked = (HERE / "messages" / "self_contained.txt").read_text(encoding="utf-8").splitlines()
    exchanges = read_exchanges()
    for at in range(0, len(pairs) - PREFERENCES + 1, PREFERENCES):
        own = pairs[at : at + PREFERENCES]
        told: list[Exchange] = []
        for place, (_, preference) in enumerate(own):
            before = f"{draw.choice(asked)}\n" if place % 2 else ""
            told.append((f"{before}{preference}", draw.choice(REPLIES)))
        told += [(one, draw.choice(REPLIES)) for one in draw.sample(asked, EXCHANGES - OTHERS)]
        told += draw.sample(exchanges, OTHERS)
        draw.shuffle(told)
        turns: list[evimem.Turn] = []
        for number, said in enumerate(told):
            for role, text in zip(("user", "assistant"), said, strict=True):
                time = START + timedelta(days=2 * number, minutes=len(turns) % 2)
                turns.append(evimem.Turn(f"t{len(turns)}", f"s{number}", role, text, time, role=role))
        yield User(tuple(turns), tuple(own))


class PlainList:
    """Writes the user's sentences in the first person, the nearest to a request first, words of needs before others."""

    def __init__(self, turns: Sequence[evimem.Turn]) -> None:
        self._embedder = StaticEmbedder()
        said = [one.text[start:end] for one in turns if one.role == "user" for start, end in sentences(one.text)]
        self._said = [one for one in dict.fromkeys(said) if _FIRST_PERSON.search(one) and not one.endswith("?")]
        self._vectors = np.asarray(self._embedder.embed(self._said))
        self._bonus = np.array([NEED_BONUS * bool(_NEED.search(one)) for one in self._said])

    def write(self, memory: evimem.Memory, request: Request, tokens: int) -> str:
        near = self._vectors @ self._embedder.embed([request.message])[0] + self._bonus
        lines: list[str] = []
        for at in np.argsort(-near).tolist():
            if (cost := token_bound(f"{self._said[at]}\n")) <= tokens:
                tokens -= cost
                lines.append(self._said[at])
        return "\n".join(lines)


def measure(write: Callable[..., str], memory: evimem.Memory, user: User) -> Iterator[Mapping[int, bool]]:
    """Yield for each request of a user, by budget, whether its preference is in view."""
    asked_at = (user.turns[-1].time + timedelta(days=1)).isoformat()
    for message, preference in user.pairs:
        runs = word_runs(preference)
        request = Request("", message, asked_at, "applies", (), ())
        yield {
            tokens: len(runs & word_runs(write(memory, request, tokens))) >= SHARE_IN_VIEW * len(runs)
            for tokens in BUDGETS_TOKENS
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    seen: dict[str, list[Mapping[int, bool]]] = {"block": [], "hits of search": [], "plain list": []}
    for user in build_users():
        with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
            memory.extend(user.turns, strict=True)
            seen["block"] += measure(write_block, memory, user)
            seen["hits of search"] += measure(lay_out_hits, memory, user)
            seen["plain list"] += measure(PlainList(user.turns).write, memory, user)
    print(f"preferences in view at {', '.join(map(str, BUDGETS_TOKENS))} tokens, of {len(seen['block'])}")
    for name, rows in seen.items():
        shares = " ".join(f"{sum(row[n] for row in rows) / len(rows):.3f}" for n in BUDGETS_TOKENS)
        print(f"  {name:15} {shares}")


if __name__ == "__main__":
    main()
