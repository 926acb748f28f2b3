"""Retrieval beside long replies: `python -m benchmarks.long_replies CHATS`, a folder of labelled chats.

Each reply of an assistant is lengthened to a seeded length by replies from other chats, in any order: the words of a
user drown in them where whole turns are compared. Prints R@10 as the chats are and with long replies: of a search, of
one that indexes each turn as one row, and of plain BM25.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from unittest.mock import patch

import evimem
from evimem.index import document
from evimem.types.values import Query

from .recording import data_set
from .scoring.labelled_chats import LabelledChat, read_chats
from .scoring.retrieval_metrics import recall

LENGTHS = (2_000, 9_000)  # characters of a long reply
LEAST = 200  # characters of a reply that lengthens others
SEED = 7
K = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chats", type=data_set("chats"))
    chats = [chat for chat in read_chats(parser.parse_args().chats) if replies(chat)]
    print(f"{len(chats)} chats with an assistant; R@{K}", "", "| replies | evimem | a turn is a row | BM25 |", sep="\n")
    print("|---|---|---|---|")
    for name, some in (("as they are", chats), (f"{LENGTHS[0]} to {LENGTHS[1]} characters", lengthened(chats))):
        passed, whole = list(recalls(some)), list(recalls(some, whole=True))
        mean = fmean(own for own, _ in passed), fmean(own for own, _ in whole), fmean(plain for _, plain in whole)
        print(f"| {name} | {' | '.join(f'{value:.3f}' for value in mean)} |")


def replies(chat: LabelledChat) -> list[str]:
    """Return the replies of the assistant that are long enough to lengthen others."""
    return [turn.text for turn in chat.turns if turn.role == "assistant" and len(turn.text) >= LEAST]


def lengthened(chats: Sequence[LabelledChat]) -> list[LabelledChat]:
    """Return the chats with every reply of an assistant as one part of a long one."""
    found = []
    for chat in chats:
        chance = random.Random(f"{SEED} {chat.name}")
        others = [text for other in chats if other.name != chat.name for text in replies(other)]
        turns = tuple(_long(turn, others, chance) if turn.role == "assistant" else turn for turn in chat.turns)
        found.append(replace(chat, turns=turns))
    return found


def _long(turn: evimem.Turn, others: Sequence[str], chance: random.Random) -> evimem.Turn:
    parts, wanted = [turn.text], chance.randrange(*LENGTHS)
    while sum(map(len, parts)) < wanted:
        parts.append(chance.choice(others))
    chance.shuffle(parts)
    return replace(turn, text="\n\n".join(parts))


def recalls(chats: Sequence[LabelledChat], *, whole: bool = False) -> Iterator[tuple[float, float]]:
    """Yield the recall of a search, and of plain BM25, for each question with evidence."""
    rows = patch.object(document, "MAX_WHOLE_CHARACTERS", 1 << 30) if whole else nullcontext()
    with rows, tempfile.TemporaryDirectory() as folder:
        for chat in chats:
            with evimem.open(Path(folder) / f"{chat.name}.evimem") as memory:
                memory.extend(chat.turns, strict=True)
                for question in chat.questions:
                    if question.gold and question.evidence:
                        hits = memory.search(question.text, K, asked_at=question.asked_at)
                        plain = memory._core.store.recall(Query(question.text, K, bare=True))
                        yield _recall(hits, question.evidence), _recall(plain, question.evidence)


def _recall(hits: Sequence[evimem.Hit], gold: Sequence[str]) -> float:
    return recall([hit.turn.id for hit in hits], gold, K)


if __name__ == "__main__":
    main()
