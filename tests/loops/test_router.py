"""The router of MemR3 against its truth table, written out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from evimem.judging.judge import Action
from evimem.loops.memr3 import Route, Situation, route

MOST = 5
ACTIONS: tuple[Action, ...] = ("retrieve", "reflect", "answer")

# Exactly one row holds of each situation. `turns`: whether some were not returned yet. `empty`: searches in a row that
# brought nothing. `last`: the step before the decision. `thought`: reflections in a row. "any" leaves it open.
TABLE = """
decisions  turns  empty  last     thought  gaps  wanted            action    rule
5          any    any    any      any      any   any               answer    budget
1-4        none   any    any      any      any   any               answer    nothing-left
1-4        more   2-3    any      any      any   any               answer    nothing-left
1-4        more   1      search   any      any   any               reflect   nothing-found
1-4        more   0      any      1-3      yes   any               retrieve  enough-thought
1-4        more   1      thought  1-3      yes   any               retrieve  enough-thought
1-4        more   0      any      0        yes   answer            retrieve  gaps-are-open
1-4        more   1      thought  0        yes   answer            retrieve  gaps-are-open
1-4        more   0      any      0        yes   retrieve/reflect  wanted    as-decided
1-4        more   1      thought  0        yes   retrieve/reflect  wanted    as-decided
1-4        more   0      any      any      no    any               wanted    as-decided
1-4        more   1      thought  any      no    any               wanted    as-decided
"""
ROWS = [line.split() for line in TABLE.strip().splitlines()[1:]]


def situations() -> Iterator[Situation]:
    """Every situation, with one decision too many, three empty searches and three reflections as the largest."""
    sides = (ACTIONS, range(1, MOST + 1), (False, True), range(4), (False, True), range(4), (False, True))
    for wanted, decisions, exhausted, misses, searched, reflections, gaps in product(*sides):
        yield Situation(wanted, decisions, MOST, 1, exhausted, misses, searched, reflections, gaps)  # type: ignore[arg-type]


def holds(cell: str, value: str) -> bool:
    if "-" in cell and cell[0].isdigit():
        least, most = cell.split("-")
        return int(least) <= int(value) <= int(most)
    return cell == "any" or value in cell.split("/")


def rows_of(now: Situation) -> list[list[str]]:
    values = (
        str(now.decisions),
        "none" if now.exhausted else "more",
        str(now.misses),
        "search" if now.searched else "thought",
        str(now.reflections),
        "yes" if now.gaps else "no",
        now.wanted,
    )
    return [row for row in ROWS if all(map(holds, row, values))]


def test_one_row_of_the_table_holds_of_each_situation_and_the_router_does_as_it_says() -> None:
    for now in situations():
        rows = rows_of(now)
        assert len(rows) == 1, now
        *_, action, rule = rows[0]
        expected = now.wanted if action == "wanted" else action
        assert route(now) == Route(expected, rule.replace("-", " ")), now  # type: ignore[arg-type]


def test_every_row_of_the_table_holds_of_some_situation() -> None:
    used = {tuple(row) for now in situations() for row in rows_of(now)}
    assert used == {tuple(row) for row in ROWS}
