"""How much of the evidence fits into a prompt: `python -m benchmarks.block LOCOMO.json`.

For each budget of tokens, the share of the gold turns of a question that `Memory.block` quotes, beside that of search
hits packed in their order, each with its line of id, speaker and time, until the next one does not fit.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import evimem
from evimem.embedding.static_embedder import count_tokens
from evimem.loaders.locomo_format import LocomoSample, read_locomo

from .recording import add_result, data_set, record
from .scoring.estimates import rows_of
from .scoring.locomo_tables import category_name
from .scoring.result_file import ResultTable
from .scoring.retrieval_metrics import recall

BUDGETS = (500, 1000, 1500)
HITS = 100  # of a search: more than fit into the largest budget


@dataclass(frozen=True, slots=True)
class Packed:
    """The gold turns of a question that stood in a block, and in packed hits, by budget of tokens."""

    sample: str
    category: int
    block: dict[int, float]
    hits: dict[int, float]


def packed(sample: LocomoSample) -> Iterator[Packed]:
    """Yield what of the evidence is quoted for each question that has any."""
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
        memory.extend(sample.turns, strict=True)
        for question in (one for one in sample.questions if one.evidence):
            hits = [hit.turn for hit in memory.search(question.text, HITS)]
            block, plain = {}, {}
            for tokens in BUDGETS:
                quoted = memory.block(question.text, tokens=tokens).turns
                block[tokens] = recall([turn.id for turn in quoted], question.evidence, len(quoted))
                fitting = as_they_come(hits, tokens)
                plain[tokens] = recall(fitting, question.evidence, len(fitting))
            yield Packed(sample.id, question.category, block, plain)


def as_they_come(turns: list[evimem.Turn], tokens: int) -> list[str]:
    """Return the ids of the first turns that fit into a budget."""
    found: list[str] = []
    for turn in turns:
        said = " ".join(filter(None, (turn.text, turn.caption)))
        tokens -= count_tokens(f"[{turn.id}] {turn.speaker}, {turn.time:%Y-%m-%d %H:%M}\n{said}\n")
        if tokens < 0:
            break
        found.append(turn.id)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=data_set("locomo"))
    add_result(parser)
    options = parser.parse_args()
    asked = [one for sample in read_locomo(options.locomo) for one in packed(sample)]
    groups = {
        "all": asked,
        **{category_name(n): [one for one in asked if one.category == n] for n in range(1, 6)},
    }
    measures = {}
    for tokens in BUDGETS:
        measures[f"`block`, {tokens:,} tokens"] = lambda one, tokens=tokens: one.block[tokens]
        measures[f"hits as they come, {tokens:,} tokens"] = lambda one, tokens=tokens: one.hits[tokens]
    rows = rows_of(measures, groups, lambda one: one.sample)
    table = ResultTable("gold", "Gold turns within a budget of tokens", ("", *groups), rows, (), ("all",))
    record("block", options, [table], [options.locomo])


if __name__ == "__main__":
    main()
