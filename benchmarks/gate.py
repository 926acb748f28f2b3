"""Fit the gate of `Memory.block` and say how well it tells what needs a memory: `python -m benchmarks.gate`.

Messages that need no memory (`messages/`) are put to three memories each, drawn with a seed, and so are requests for
advice, plans and texts; messages, questions and requests that belong to a chat to their own (`messages/`, `chats/`,
`strangers/`, `fresh/`, `requests_*/`). Shares come from five folds over messages and chats; with `--write` the
constants fitted on all of them go to `evimem/page/gate.json`.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

import evimem
from evimem.embedding.static_embedder import StaticEmbedder
from evimem.flow import Flow, run
from evimem.lang.guess import guess_language
from evimem.loaders.examples import load_example, load_questions
from evimem.page import gate
from evimem.page.bearing import load_bearing as bearing
from evimem.page.question import Asked, read_messages, search_for_reply
from evimem.query.find_turns import QuestionVectors
from evimem.text.terms import words
from evimem.types.stored import EVERYTHING
from evimem.types.values import Hit, Query

from .bearing import read_lines
from .logistic import newton
from .requests import read_requests
from .scoring.labelled_chats import read_chats

HERE = Path(__file__).parent
MESSAGES = HERE / "messages"
REQUESTS = ("requests_chats", "requests_fresh", "requests_later", "requests_marked", "requests_languages")
REQUEST_WEIGHT = 3.0  # of the next message of a chat, which is what the gate sees, beside a message out of any
FOLDS, SEED, MEMORIES = 5, 1, 3
QUESTIONS = {"chats": 8, "strangers": 5, "fresh": 5}  # of a chat, drawn with the seed
LOST = {True: 0.015, False: 0.01}  # of what needs a memory, in the folds: in English, in other languages
NEXT = frozenset(("applies", "update", "state", "meta", "lookup", "wish", "none"))  # kinds of a chat's next messages
NEEDS = NEXT - {"none"} | {"question", "needs_memory", "request"}
TOKENS = 800
MIN_TEXTS = 2  # that a word is listed for
RIDGE = 5.0
VECTOR_SCALE = 3.0  # of a vector beside the standardized signals: smaller ones are held back more


@dataclass(frozen=True, slots=True)
class Measured:
    """A message with its signals in a memory, the kind and language of it, and what its fold is drawn by."""

    kind: str
    language: str
    source: str
    text: str
    signals: Mapping[str, float]
    vector: NDArray[Any]


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a kind and language, with what its fold is drawn by."""

    kind: str
    language: str
    source: str
    asked: Asked
    asked_at: datetime | None = None


def loose_messages() -> Iterator[tuple[str | None, Message]]:
    """Yield the messages of `messages/` with the chat that they belong to."""
    for row in map(json.loads, (MESSAGES / "messages.jsonl").read_text(encoding="utf-8").splitlines()):
        said = [*row.get("history", ()), {"role": "user", "content": row["text"]}]
        yield row.get("chat"), Message(row["kind"], row["language"], row["text"], read_messages(said, row["text"]))
    files = {
        "self_contained": "self_contained",
        "general_questions": "self_contained",
        "requests_other_languages": "request",
    }
    for name, kind in files.items():
        for text in (MESSAGES / f"{name}.txt").read_text(encoding="utf-8").splitlines():
            yield None, Message(kind, guess_language(text) or "", text, Asked(text))
    for topics, text in read_lines(MESSAGES / "requests.tsv"):
        if "answer" in topics:  # only the manner of the reply depends on the user: general knowledge is asked like that
            continue
        yield None, Message("request", "en", text, Asked(text))


def measured() -> list[Measured]:
    """Return all messages, measured."""
    draw = random.Random(SEED)
    chats: dict[str, tuple[Sequence[evimem.Turn], list[Message]]] = {}
    for folder, most in QUESTIONS.items():
        for chat in read_chats(HERE / folder):
            told = [one for one in chat.questions if one.answer is not None and one.evidence]
            asked = [
                Message("question", "", chat.name, Asked(one.text)) for one in draw.sample(told, min(most, len(told)))
            ]
            chats[chat.name] = (chat.turns, asked)
    for name, turns, requests in (chat for folder in REQUESTS for chat in read_requests(HERE / folder)):
        own = [
            Message(one.kind, "", name, Asked(one.message), datetime.fromisoformat(one.asked_at)) for one in requests
        ]
        chats[name] = (turns, own)
    for own_chat, message in loose_messages():
        for name in [own_chat] if own_chat else draw.sample(sorted(chats), MEMORIES):
            chats[name][1].append(message)
    return [row for turns, messages in chats.values() for row in _in_memory(turns, messages)]


def _in_memory(turns: Sequence[evimem.Turn], messages: Sequence[Message]) -> Iterator[Measured]:
    embedder = StaticEmbedder()
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
        memory.extend(turns, strict=True)
        store = memory._core.store

        def recalled(query: Query) -> Flow[tuple[Hit, ...]]:
            yield from ()
            return store.recall(query, facts=False)

        for one in messages:
            vectors, move = QuestionVectors(), bearing().move
            searching = search_for_reply(
                store, recalled, one.asked, TOKENS, one.asked_at, frozenset(), EVERYTHING, vectors, move
            )
            found = run(searching, memory._perform)
            vector = np.asarray(embedder.embed([one.asked.text])[0], np.float64)
            vector = vector if gate.is_read(one.asked.text) else np.zeros_like(vector)
            yield Measured(
                one.kind, one.language, one.source, one.asked.text, gate.gate_signals(one.asked, found, {}), vector
            )


def example_means() -> dict[str, float]:
    """Return the mean of each signal for questions about a shipped example: a change of the signals moves it."""
    asked = [Asked(one.text) for one in load_questions("friends")[::9]]
    rows = list(_in_memory(load_example("friends"), [Message("question", "en", "friends", one) for one in asked]))
    return {name: round(fmean(row.signals[name] for row in rows), 3) for name in rows[0].signals}


def word_odds(rows: Sequence[Measured]) -> dict[str, float]:
    """Return by word the logarithm of how much likelier it is in messages that need a memory than in others."""
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    texts = {row.text: row.kind in NEEDS for row in rows}
    for text, need in texts.items():
        counts[need].update(set(words(text)))
    sizes = {need: list(texts.values()).count(need) + 2.0 for need in counts}
    listed = {word for word in counts[True] | counts[False] if counts[True][word] + counts[False][word] >= MIN_TEXTS}
    share = {need: {word: (counts[need][word] + 1) / sizes[need] for word in listed} for need in counts}
    return {word: math.log(share[True][word] / share[False][word]) for word in listed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the constants that ship")
    options = parser.parse_args()
    rows = measured()
    names = list(rows[0].signals)
    columns = np.array([[row.signals[name] for name in names] for row in rows])
    at = names.index("odds")
    kinds = np.array([row.kind for row in rows])
    needs = np.isin(kinds, list(NEEDS))
    fold = np.array([zlib.crc32(row.source.encode()) % FOLDS for row in rows])
    for number in range(FOLDS):  # of words that the fold did not list
        odds = word_odds([row for row, one in zip(rows, fold, strict=True) if one != number])
        for place in np.flatnonzero(fold == number):
            columns[place, at] = gate.mean_odds(rows[place].text, odds)
    english = np.array([gate.is_read(row.text) for row in rows])
    mean, scale = columns.mean(axis=0), columns.std(axis=0) + 1e-9
    scaled = np.c_[(columns - mean) / scale, VECTOR_SCALE * np.array([row.vector for row in rows])]
    logits, fitted, dimensions = np.zeros(len(rows)), [], np.zeros(0)
    for group in (True, False):
        of = english == group
        weights = np.array([of.sum() / (2 * (needs[of] == need).sum()) for need in needs])
        weights[np.isin(kinds, list(NEXT))] *= REQUEST_WEIGHT
        for number in range(FOLDS):
            seen, unseen = of & (fold != number), of & (fold == number)
            beta = newton(scaled[seen], needs[seen].astype(float), weights[seen], RIDGE)
            logits[unseen] = scaled[unseen] @ beta[:-1] + beta[-1]
        least = float(np.quantile(logits[of & needs], LOST[group]))
        logits[of] -= least
        beta = newton(scaled[of], needs[of].astype(float), weights[of], RIDGE)
        slopes = beta[: len(names)] / scale
        fitted.append([*slopes, beta[-1] - float((slopes * mean).sum()) - least])
        dimensions = VECTOR_SCALE * beta[len(names) : -1] if group else dimensions
        print("English" if group else "others", {name: round(one, 2) for name, one in zip(names, slopes, strict=True)})
    for kind in sorted(set(kinds)):
        print(f"{kind}: {np.mean(logits[kinds == kind] < 0):.3f} empty of {np.sum(kinds == kind)}")
    for language in sorted({row.language for row in rows if row.language and row.kind not in NEEDS}):
        of = np.array([row.language == language and row.kind not in NEEDS for row in rows])
        print(f"  {language}: {np.mean(logits[of] < 0):.3f} empty of {np.sum(of)} that need none")
    listed = word_odds(rows)
    if options.write:
        rounded = {"names": names, "weights": np.round(fitted, 4).tolist(), "words": np.round(dimensions, 4).tolist()}
        rounded["fitted_on"] = example_means()
        rounded["odds"] = {word: round(listed[word], 2) for word in sorted(listed)}
        gate.GATE_FILE.write_text(json.dumps(rounded, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
