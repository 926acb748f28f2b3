"""EviMem's ablations in one table: `python -m benchmarks.variants LOCOMO.json`; 10 runs over every question.

Without a model, so the judge and the reader are the offline ones and no row compares with the paper's; `--model NAME`
asks an endpoint (with `--base-url`, and the key in OPENAI_API_KEY). The last row is evimem's own default.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import evimem
from evimem.bench.answer_f1 import ADVERSARIAL
from evimem.bench.asking import Approach, Asker
from evimem.bench.estimates import estimate
from evimem.bench.locomo_tables import CATEGORIES, category_name
from evimem.bench.result_file import Cell, ResultTable
from evimem.bench.run_locomo import QuestionResult, run_locomo
from evimem.loaders.locomo_format import read_locomo
from evimem.loops import VARIANTS
from evimem.types.budget import Budget

from .recording import add_result, record

COLUMNS = (
    "variant", "F1", "1 to 4", *(category_name(one) for one in CATEGORIES if one != ADVERSARIAL), "caught",
    "false abstentions", "checks", "failed",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=Path)
    parser.add_argument("--limit", type=int, help="only the first questions of each conversation")
    parser.add_argument("--model", help="a chat model; without one no row compares with the paper's")
    parser.add_argument("--base-url", help="its endpoint")
    add_result(parser)
    options = parser.parse_args()
    llm = evimem.OpenAI(model=options.model, base_url=options.base_url) if options.model else None
    samples = list(read_locomo(options.locomo))
    rows = []
    for name, budget in {**VARIANTS, "evimem's default": Budget()}.items():
        how = Approach(llm, budget=replace(budget, reader="span"))
        ran = run_locomo(samples, how, limit=options.limit, asker=Asker(workers=8 if llm else 1))
        rows.append(row(name, ran.asked))
        print(f"{name}: done", flush=True)
    title = f"EviMem's ablations, with {options.model or 'the offline judge and reader: not those of the paper'}"
    record("variants", options, [ResultTable("variants", title, COLUMNS, tuple(rows))], [options.locomo])


def row(name: str, asked: Sequence[QuestionResult]) -> tuple[Cell, ...]:
    """Return the figures of a variant."""

    def mean(some: Sequence[QuestionResult], measure: Callable[[QuestionResult], float]) -> Cell:
        return estimate(some, measure, lambda one: one.sample)

    told = [one for one in asked if one.category != ADVERSARIAL]
    by_category = [[one for one in told if one.category == number] for number in CATEGORIES if number != ADVERSARIAL]
    return (
        name,
        *(mean(some, lambda one: one.f1) for some in (asked, told, *by_category)),
        mean([one for one in asked if one.category == ADVERSARIAL], lambda one: one.abstained),
        mean(told, lambda one: one.abstained),
        mean(asked, lambda one: one.checks),
        sum(bool(one.failed) for one in asked),
    )


if __name__ == "__main__":
    main()
