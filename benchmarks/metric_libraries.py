"""Our metrics beside the usual libraries: `python -m benchmarks.metric_libraries LOCOMO.json CHATS`.

    pip install -e . -r benchmarks/metric_libraries.txt      # an environment of its own

Each gold answer beside other forms that are right, other answers of the conversation, and the beginning of the turn
that it stands in; rankings are drawn from a seed. METEOR of nltk is given no synonyms, as ours has none. The public
code of LoCoMo stems with nltk's variant of Porter's algorithm, ours with the original. ROUGE is over the pairs in
ASCII: rouge-score drops all other letters.
"""

from __future__ import annotations

import argparse
import random
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean
from typing import TypeAlias

import ir_measures
from ir_measures import R, nDCG
from nltk.stem import PorterStemmer
from nltk.translate.bleu_score import sentence_bleu
from nltk.translate.meteor_score import single_meteor_score
from rouge_score.rouge_scorer import RougeScorer

from benchmarks.data_sets import LocomoQuestion, read_locomo
from evimem import Turn

from .recording import add_result, data_set, record
from .scoring.answer_f1 import f1
from .scoring.answer_overlap import bleu_1, meteor, rouge_2, rouge_l, words
from .scoring.labelled_chats import ChatQuestion, read_chats
from .scoring.result_file import Cell, ResultTable
from .scoring.retrieval_metrics import ndcg, recall

DEPTH = 10
RANKINGS = 500
BEGINNING = 12  # words of a turn
COLUMNS = ("", "library", "pairs", "that differ", "largest difference", "mean, ours", "mean, theirs")
Pair: TypeAlias = tuple[str, str]


class NoSynonyms:
    """What nltk asks for the synonyms of a word: none."""

    def synsets(self, word: str) -> list[str]:
        return []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=data_set("locomo"))
    parser.add_argument("chats", type=data_set("chats"))
    add_result(parser)
    options = parser.parse_args()
    samples = [(sample.turns, sample.questions) for sample in read_locomo(options.locomo)]
    told = [*samples, *((chat.turns, chat.questions) for chat in read_chats(options.chats))]
    pairs = sorted({pair for turns, questions in told for pair in texts(turns, questions)})
    ascii_ = [pair for pair in pairs if "".join(pair).isascii()]  # rouge-score drops all other letters
    rouge, stemmer = RougeScorer(["rouge2", "rougeL"], use_stemmer=True), PorterStemmer()
    rows = [
        compared("official F1", "nltk 3.10.4, Porter", pairs, f1, lambda a, g: official(a, g, stemmer.stem)),
        compared("BLEU-1", "nltk 3.10.4", pairs, bleu_1, lambda a, g: sentence_bleu([words(g)], words(a), (1,))),
        compared("METEOR", "nltk 3.10.4", pairs, meteor, lambda a, g: nltk_meteor(words(a), words(g))),
        compared("ROUGE-2", "rouge-score 0.1.2", ascii_, rouge_2, lambda a, g: rouge.score(g, a)["rouge2"].fmeasure),
        compared("ROUGE-L", "rouge-score 0.1.2", ascii_, rouge_l, lambda a, g: rouge.score(g, a)["rougeL"].fmeasure),
        *(ranked(name, ours, theirs) for name, ours, theirs in (("R@10", recall, R), ("nDCG@10", ndcg, nDCG))),
    ]
    table = ResultTable("libraries", "Our metrics beside the usual libraries", COLUMNS, tuple(rows))
    record("metric_libraries", options, [table], [options.locomo, options.chats])


def texts(turns: Iterable[Turn], questions: Sequence[LocomoQuestion | ChatQuestion]) -> Iterator[Pair]:
    """Yield answers beside gold forms."""
    said = {turn.id: turn.text or "" for turn in turns}
    answers = [one.answer for one in questions if one.answer]
    for one in questions:
        if one.answer:
            yield from ((other, one.answer) for other in (*getattr(one, "accept", ()), *answers[:4]))
            yield from ((" ".join(said[turn].split()[:BEGINNING]), one.answer) for turn in one.evidence[:1])


def compared(
    name: str, library: str, pairs: Sequence[Pair], ours: Callable[[str, str], float], theirs: Callable[..., float]
) -> tuple[Cell, ...]:
    """Return how a metric of a pair of texts agrees with a library's."""
    return _row(name, library, [(ours(*pair), theirs(*pair)) for pair in pairs])


def ranked(name: str, ours: Callable[..., float], theirs: object) -> tuple[Cell, ...]:
    """Return how a metric of a ranking agrees with that of ir-measures."""
    draw = random.Random(f"evimem {name}")
    found = []
    for _ in range(RANKINGS):
        ids = [f"t{n}" for n in draw.sample(range(60), 30)]
        gold = [f"t{n}" for n in draw.sample(range(60), draw.randint(1, 14))]
        qrels = [ir_measures.Qrel("q", one, 1) for one in gold]
        run = [ir_measures.ScoredDoc("q", one, -place) for place, one in enumerate(ids)]
        measure = theirs @ DEPTH  # type: ignore[operator]
        found.append((ours(ids, gold, DEPTH), ir_measures.calc_aggregate([measure], qrels, run)[measure]))
    return _row(name, "ir-measures 0.4.3", found)


def official(answer: str, gold: str, stem: Callable[[str], str]) -> float:
    """Return the F1 of LoCoMo's public code, by its description."""
    guessed, wanted = (Counter(map(stem, _normalized(text))) for text in (answer, gold))
    shared = (guessed & wanted).total()
    return 2 * shared / (guessed.total() + wanted.total()) if shared else 0.0


def nltk_meteor(answer: list[str], gold: list[str]) -> float:
    """Return METEOR of nltk, which is 0 / 0 for nothing."""
    return float(single_meteor_score(gold, answer, wordnet=NoSynonyms())) if answer and gold else 0.0


def _normalized(text: str) -> list[str]:
    plain = text.replace(",", "").lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the|and)\b", " ", plain).split()


def _row(name: str, library: str, scores: Sequence[tuple[float, float]]) -> tuple[Cell, ...]:
    apart = [abs(ours - theirs) for ours, theirs in scores]
    differ = sum(one > 1e-6 for one in apart)
    return (name, library, len(scores), differ, max(apart), *(fmean(one[at] for one in scores) for at in (0, 1)))


if __name__ == "__main__":
    main()
