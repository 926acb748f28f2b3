"""Fit which statements bear on a request, and say how well topics are told: `python -m benchmarks.bearing`.

`messages/requests.tsv` and `messages/details.tsv` hold a text a line with its topics before a tab. Statements that last
are told from requests, tasks and small talk, and requests (`messages/open_questions.txt`) from questions for one value
(`messages/value_questions.txt`) and those of labelled chats, in balanced sets. With `--write` the models fitted on all
lines go to `evimem/page/bearing.npy`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evimem.embedding import static_embedder
from evimem.page import bearing
from evimem.page.gate import is_read

from .logistic import newton
from .scoring.labelled_chats import read_chats

HERE = Path(__file__).parent / "messages"
FOLDS = 5
RIDGE = 0.1
KIND_RIDGES = {"lasting": 1.0, "requesting": 0.3}
QUESTION_COUNT = 3.0  # of a question as users ask their assistant, beside other texts of its kind
CHATS = ("chats", "strangers", "fresh")
Lines = list[tuple[frozenset[str], str]]


def read_lines(path: Path) -> Lines:
    """Return the lines of a file: the topics of each and its text."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return [(frozenset(topics.split()), text) for topics, text in rows]


def read_texts(name: str) -> list[str]:
    """Return the lines of a file of messages."""
    return (HERE / name).read_text(encoding="utf-8").splitlines()


def fit_topics(vectors: NDArray[Any], lines: Lines, topics: list[str]) -> NDArray[np.float64]:
    """Return the weights of each topic over vectors, the bias last."""
    weights = np.ones(len(lines))
    return np.stack(
        [newton(vectors, np.array([float(topic in named) for named, _ in lines]), weights, RIDGE) for topic in topics]
    )


def told_rightly(vectors: NDArray[Any], lines: Lines, topics: list[str]) -> float:
    """Return the share of lines whose likeliest topic is one of theirs, by models that did not see them."""
    fold, right = np.arange(len(lines)) % FOLDS, 0
    for number in range(FOLDS):
        seen = [line for line, one in zip(lines, fold, strict=True) if one != number]
        weights = fit_topics(vectors[fold != number], seen, topics)
        for at in np.flatnonzero(fold == number):
            best = int(np.argmax(weights[:, :-1] @ vectors[at] + weights[:, -1]))
            right += topics[best] in lines[at][0]
    return right / len(lines)


def fit_two(
    vectors: NDArray[Any], labels: NDArray[np.float64], counts: NDArray[np.float64], ridge: float
) -> NDArray[np.float64]:
    """Return the weights that tell two kinds of texts apart, the bias last, each kind counting as much.

    `counts` says how much each text counts among those of its kind.
    """
    share = float((counts * labels).sum() / counts.sum())
    return newton(vectors, labels, counts * np.where(labels > 0, 0.5 / share, 0.5 / (1 - share)), ridge)


def told_apart(vectors: NDArray[Any], labels: NDArray[np.float64], counts: NDArray[np.float64], ridge: float) -> float:
    """Return the mean share of both kinds that models tell which did not see them."""
    fold, right = np.random.default_rng(0).permutation(len(labels)) % FOLDS, np.zeros(len(labels))
    for number in range(FOLDS):
        seen, unseen = fold != number, fold == number
        weights = fit_two(vectors[seen], labels[seen], counts[seen], ridge)
        right[unseen] = (vectors[unseen] @ weights[:-1] + weights[-1] > 0) == (labels[unseen] > 0)
    return float((right[labels > 0].mean() + right[labels == 0].mean()) / 2)


def write_models(fitted: Mapping[str, NDArray[Any]]) -> None:
    """Write models into the file that ships, beside those that it has."""
    stored = np.load(bearing.BEARING_FILE, allow_pickle=False)
    models = {name: stored[name] for name in stored.dtype.names} | dict(fitted)
    record = np.zeros((), [(name, np.float16, array.shape) for name, array in models.items()])
    for name, array in models.items():
        record[name] = array
    np.save(bearing.BEARING_FILE, record)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the models that ship")
    options = parser.parse_args()
    embedder = static_embedder.StaticEmbedder()
    requests, details = read_lines(HERE / "requests.tsv"), read_lines(HERE / "details.tsv")
    topics = sorted({topic for named, _ in (*requests, *details) for topic in named})
    fitted = {}
    for name, lines in (("requests", requests), ("details", details)):
        vectors = np.asarray(embedder.embed([text for _, text in lines]), np.float64)
        print(f"{name}: {len(lines)} lines, topic told rightly {told_rightly(vectors, lines, topics):.3f}")
        fitted[name] = fit_topics(vectors, lines, topics)
    asked = [text for _, text in requests]
    others = [
        *asked,
        *read_texts("self_contained.txt"),
        *(json.loads(row)["text"] for row in read_texts("messages.jsonl")),
    ]
    questions = [one.text for name in CHATS for chat in read_chats(HERE.parent / name) for one in chat.questions]
    about_chats, written = [one for one in questions if is_read(one)], read_texts("value_questions.txt")
    open_questions = read_texts("open_questions.txt")
    two: dict[str, tuple[list[str], list[str], set[str]]] = {
        "lasting": ([text for _, text in details], others, set()),
        "requesting": ([*asked, *open_questions], [*about_chats, *written], {*open_questions, *written}),
    }
    for name, (these, those, questions_to_assistant) in two.items():
        texts = [*these, *those]
        if name == "lasting":
            marks = [bearing.sentence_marks(one) for one in texts]
            vectors = np.c_[np.asarray(embedder.embed(texts), np.float64), marks]
        else:
            own = np.asarray(embedder.embed(texts), np.float32)
            vectors = np.array(list(map(bearing.read_message, texts, own)), np.float64)
        labels = np.array([1.0] * len(these) + [0.0] * len(those))
        counts = np.array([QUESTION_COUNT if one in questions_to_assistant else 1.0 for one in texts])
        ridge = KIND_RIDGES[name]
        right = told_apart(vectors, labels, counts, ridge)
        print(f"{name}: {len(these)} texts and {len(those)}, told rightly {right:.3f}")
        fitted[name] = fit_two(vectors, labels, counts, ridge)
    if options.write:
        fitted["statements"] = fitted.pop("details")[:, :-1]
        write_models(fitted)


if __name__ == "__main__":
    main()
