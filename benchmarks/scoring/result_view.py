"""The tables of a benchmark as a page, and a sample of its answers."""

from __future__ import annotations

import random
from collections.abc import Sequence

from evimem.cli.page import BLANK, Block, Heading, Piece, make_field, make_line, make_table
from evimem.cli.views import count_noun

from .locomo_tables import category_name
from .readme_report import shown_rows
from .result_file import ResultTable
from .run_locomo import QuestionResult

_SEED = 20  # fixed, so that every run shows the same sample


def result_page(tables: Sequence[ResultTable]) -> list[Block]:
    """Return the tables of a result."""
    page: list[Block] = []
    for one in tables:
        rows = shown_rows(one)
        page += [BLANK] if page else []
        page += [make_table(one.columns, rows, right=one.columns[1:], title=one.title), *map(make_line, one.notes)]
    return page


def answers_page(asked: Sequence[QuestionResult], many: int) -> list[Block]:
    """Return a fixed random sample of `many` answers, unedited, right and wrong ones."""
    drawn = random.Random(_SEED).sample(list(asked), min(many, len(asked)))
    page: list[Block] = [Heading(f"{count_noun(len(drawn), 'answer')}, unedited")]
    for one in drawn:
        page += [
            BLANK,
            make_line(
                Piece("? ", "dim"), Piece(one.question, "strong"), Piece(f"  {category_name(one.category)}", "dim")
            ),
            make_field("wanted", one.wanted or "(no answer)"),
            make_field("answer", one.text or "(abstains)", style="answer" if one.text else "warn"),
            make_field("from", one.quote or "-"),
            make_field("tier", f"{one.tier}, {one.confidence:.2f}; F1 {one.f1:.2f}"),
        ]
    return page
