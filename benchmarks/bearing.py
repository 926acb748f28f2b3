"""Fit which statements bear on a request, and say how well topics are told: `python -m benchmarks.bearing`.

`messages/requests.tsv` and `messages/details.tsv` hold a text a line with its topics before a tab. With `--write` the
models fitted on all lines go to `evimem/page/bearing.npy`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evimem.embedding import static_embedder
from evimem.page import bearing

from .logistic import newton

HERE = Path(__file__).parent / "messages"
FOLDS = 5
RIDGE = 0.1
Lines = list[tuple[frozenset[str], str]]


def read_lines(path: Path) -> Lines:
    """Return the lines of a file: the topics of each and its text."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return [(frozenset(topics.split()), text) for topics, text in rows]


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
    if options.write:
        joined = np.c_[fitted["requests"], fitted["details"][:, :-1]]
        np.save(bearing.FILE, joined.astype(np.float16))


if __name__ == "__main__":
    main()
