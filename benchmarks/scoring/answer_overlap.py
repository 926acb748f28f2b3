"""Overlap of a short answer with its gold form: BLEU-1, ROUGE-2, ROUGE-L and METEOR, over words in lower case.

Checked against nltk 3.10.4 and rouge-score 0.1.2 on golden vectors (tests/bench/test_overlap.py). An
abstention scores 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from math import exp
from pathlib import Path

from evimem.text.terms import porter

_WORD = re.compile(r"\w+")
_RECALL_WEIGHT, _CHUNK_POWER, _CHUNK_WEIGHT = 0.9, 3.0, 0.5  # METEOR's, as in nltk
_STEMMED_FROM = 4  # characters of a word that ROUGE stems


def bleu_1(answer: str, gold: str) -> float:
    """Return BLEU with single words: clipped precision times exp(1 - |gold| / |answer|) where the answer is shorter.

    Unsmoothed (Papineni et al. 2002): 0 where no word agrees.
    """
    guessed, wanted = words(answer), words(gold)
    if not guessed:
        return 0.0
    precision = (Counter(guessed) & Counter(wanted)).total() / len(guessed)
    return precision * min(1.0, exp(1 - len(wanted) / len(guessed)))


def rouge_2(answer: str, gold: str) -> float:
    """Return the F1 of pairs of neighbouring stems (Lin 2004); 0 where either text is a single word."""
    guessed, wanted = (Counter(pairwise(_stems(text))) for text in (answer, gold))
    return _f1((guessed & wanted).total(), guessed.total(), wanted.total())


def rouge_l(answer: str, gold: str) -> float:
    """Return the F1 of the longest common subsequence of stems (Lin 2004)."""
    guessed, wanted = _stems(answer), _stems(gold)
    return _f1(_longest_common(guessed, wanted), len(guessed), len(wanted))


def meteor(answer: str, gold: str) -> float:
    """Return METEOR (Banerjee and Lavie 2005) of equal words and equal stems, without synonyms.

    Mean of precision and recall with weight .9 on recall, times 1 - .5 (chunks / matches)^3.
    """
    guessed, wanted = words(answer), words(gold)
    pairs = _aligned(guessed, wanted)
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(guessed), len(pairs) / len(wanted)
    mean = precision * recall / (_RECALL_WEIGHT * precision + (1 - _RECALL_WEIGHT) * recall)
    chunks = 1 + sum(later != (one[0] + 1, one[1] + 1) for one, later in pairwise(pairs))
    penalty: float = _CHUNK_WEIGHT * (chunks / len(pairs)) ** _CHUNK_POWER
    return mean * (1 - penalty)


def word_set_f1(answer: str, gold: str) -> float:
    """Return the F1 of the sets of words, neither stemmed nor left out: that of A-Mem's code and its heirs."""
    guessed, wanted = set(words(answer)), set(words(gold))
    return _f1(len(guessed & wanted), len(guessed), len(wanted))


def bert_score_by(folder: Path) -> Callable[[str, str], float]:
    """Return BERTScore by the model in a folder, each pair of texts scored once.

    Raise MissingExtra without the extra, InvalidQuery where the folder lacks a file.
    """
    from .token_vectors import TokenVectors  # noqa: PLC0415 - needs an extra

    return cache(TokenVectors(folder).score)


def words(text: str) -> list[str]:
    """Return the words and numbers of a text in lower case, without punctuation."""
    return _WORD.findall(text.lower())


def _stems(text: str) -> list[str]:
    return [porter(word) if len(word) >= _STEMMED_FROM else word for word in words(text)]


def _f1(shared: int, guessed: int, wanted: int) -> float:
    return 2 * shared / (guessed + wanted) if shared else 0.0


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    lengths = [0] * (len(second) + 1)
    for one in first:
        before = 0
        for place, other in enumerate(second, start=1):
            here = lengths[place]
            lengths[place] = before + 1 if one == other else max(here, lengths[place - 1])
            before = here
    return lengths[-1]


def _aligned(guessed: Sequence[str], wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of matching words in both texts: equal words first, then equal stems, each from the end."""
    pairs: list[tuple[int, int]] = []
    for left, right in ((guessed, wanted), ([porter(w) for w in guessed], [porter(w) for w in wanted])):
        free_left = [place for place in range(len(left)) if place not in {one for one, _ in pairs}]
        free_right = [place for place in range(len(right)) if place not in {one for _, one in pairs}]
        for place in reversed(free_left):
            found = next((other for other in reversed(free_right) if right[other] == left[place]), None)
            if found is not None:
                free_right.remove(found)
                pairs.append((place, found))
    return sorted(pairs)
