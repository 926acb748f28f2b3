"""Fit the gate of `Memory.block` and say how well it tells what needs a memory: `python -m benchmarks.gate`.

Messages that need no memory (`messages/`) are put to five memories each, drawn with a seed; messages and questions that
need one (`messages/`, `chats/`, `strangers/`, `fresh/`) to their own. Shares come from five folds over messages and
chats; with `--write` the constants fitted on all of them go to `evimem/block/gate.toml`.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import evimem
from evimem.block import gate
from evimem.block.question import Asked, find_for, read_messages
from evimem.flow import recall
from evimem.types.stored import EVERYTHING

from .logistic import newton
from .scoring.labelled_chats import LabelledChat, read_chats

HERE = Path(__file__).parent
FILE = Path(gate.__file__).with_name("gate.toml")
FOLDS, SEED, MEMORIES = 5, 1, 5
QUESTIONS = {"chats": 14, "strangers": 8, "fresh": 8}  # of a chat, drawn with the seed
LOST = 0.01  # of what needs a memory, in the folds: a reply without what was told is worse than a block too many
NEEDS = ("question", "needs_memory")
TOKENS = 800


@dataclass(frozen=True, slots=True)
class Measured:
    """A message with its signals in a memory, the kind and language of it, and what its fold is drawn by."""

    kind: str
    language: str
    source: str
    signals: Mapping[str, float]


def measured() -> list[Measured]:
    """Return all messages, measured."""
    draw = random.Random(SEED)
    lines = (HERE / "messages" / "messages.jsonl").read_text(encoding="utf-8").splitlines()
    messages = [json.loads(line) for line in lines]
    chats = [(folder, chat) for folder in QUESTIONS for chat in read_chats(HERE / folder)]
    beside: dict[str, list[dict[str, str]]] = {chat.name: [] for _, chat in chats}
    for message in (one for one in messages if one["kind"] not in NEEDS):
        for _, chat in draw.sample(chats, MEMORIES):
            beside[chat.name].append(message)
    own = [one for one in messages if one["kind"] in NEEDS]
    return [
        found
        for folder, chat in chats
        for found in _of_chat(chat, QUESTIONS[folder], [*beside[chat.name], *_of(own, chat)], draw)
    ]


def _of(messages: list[dict[str, str]], chat: LabelledChat) -> list[dict[str, str]]:
    return [one for one in messages if one["chat"] == chat.name]


def _of_chat(chat: LabelledChat, most: int, messages: list[dict[str, str]], draw: random.Random) -> Iterator[Measured]:
    answerable = [one for one in chat.questions if one.answer is not None and one.evidence]
    asked = [
        ("question", "", chat.name, Asked(one.text)) for one in draw.sample(answerable, min(most, len(answerable)))
    ]
    for one in messages:
        said = [*one.get("history", ()), {"role": "user", "content": one["text"]}]
        asked.append((one["kind"], one["language"], one["text"], read_messages(said, one["text"])))
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
        memory.extend(chat.turns, strict=True)
        store = memory._core.store
        for kind, language, source, message in asked:
            found = memory._run(find_for(store, partial(recall, store), message, TOKENS, None, frozenset(), EVERYTHING))
            yield Measured(kind, language, source, gate.signals(message, found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the constants that ship")
    options = parser.parse_args()
    rows = measured()
    names = list(rows[0].signals)
    columns = np.array([[row.signals[name] for name in names] for row in rows])
    kinds = np.array([row.kind for row in rows])
    needs = np.isin(kinds, NEEDS)
    weights = np.array([len(rows) / (len(set(kinds)) * (kinds == row.kind).sum()) for row in rows])
    fold = np.array([zlib.crc32(row.source.encode()) % FOLDS for row in rows])
    mean, scale = columns.mean(axis=0), columns.std(axis=0)
    scaled = np.c_[(columns - mean) / scale, np.ones(len(rows))]
    logits = np.zeros(len(rows))
    for number in range(FOLDS):
        others = fold != number
        beta = newton(scaled[others, :-1], needs[others].astype(float), weights[others], 2.0)
        logits[~others] = scaled[~others] @ beta
    least = float(np.quantile(logits[needs], LOST))
    for kind in sorted(set(kinds)):
        print(f"{kind}: {np.mean(logits[kinds == kind] < least):.3f} empty of {np.sum(kinds == kind)}")
    for language in sorted({row.language for row in rows if row.language and row.kind not in NEEDS}):
        of = np.array([row.language == language and row.kind not in NEEDS for row in rows])
        print(f"  {language}: {np.mean(logits[of] < least):.3f} empty of {np.sum(of)} that need none")
    beta = newton(scaled[:, :-1], needs.astype(float), weights, 2.0)
    slopes = beta[:-1] / scale
    bias = beta[-1] - float((slopes * mean).sum())
    text = "\n".join((
        "# Fitted by `python -m benchmarks.gate --write`: block/gate.py says what the signals are.",
        f"bias = {bias:.3f}",
        f"least = {1 / (1 + np.exp(-least)):.3f}  # below it nothing is recalled",
        "",
        "[weights]",
        *(f"{name} = {slope:.3f}" for name, slope in zip(names, slopes, strict=True)),
        "",
    ))  # fmt: skip
    print(text)
    if options.write:
        FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
