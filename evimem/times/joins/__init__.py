"""How expressions combine with each other and with the words around them: tables of joins, applied in a fixed order."""

from __future__ import annotations

from ..context import Context
from ..rule_types import possible
from .counted_joins import counted_from
from .expression import Expression
from .pair_joins import CLOSE, RANGES, SAME_DAY, SAME_YEAR, Pair, moved_from
from .side_joins import PREFIXES, SINCE, SUFFIXES, Prefix

__all__ = ["Expression", "joined"]

WINDOW = 96  # characters on each side of an expression that are read for a join: bounds the work
SHORT = 24  # characters before an expression that contain its last two words


def joined(expressions: list[Expression], ctx: Context) -> list[Expression]:
    """Return the expressions joined with the adjacent expressions and words that belong to them, not overlapping."""
    for pair in CLOSE:
        expressions = _paired(expressions, ctx, pair)
    expressions = [_with_count(_with_prefix(_with_suffix(each, ctx), ctx, *PREFIXES), ctx) for each in expressions]
    for pair in (*SAME_DAY, SAME_YEAR, *RANGES):  # "Friday evening at 7", "early June last year", "from May to July"
        expressions = _paired(expressions, ctx, pair)
    return _disjoint([_with_prefix(each, ctx, SINCE) for each in expressions])


def _paired(expressions: list[Expression], ctx: Context, pair: Pair) -> list[Expression]:
    kept: list[Expression] = []
    for right in expressions:
        whole = _pair(kept[-1], right, ctx, pair) if kept else None
        if whole is None:
            kept.append(right)
        else:
            kept[-1] = whole
    return kept


def _pair(left: Expression, right: Expression, ctx: Context, pair: Pair) -> Expression | None:
    if pair in RANGES and moved_from(left.start, ctx):
        return None
    if right.start - left.end > WINDOW or not pair.between.regex.fullmatch(ctx.folded, left.end, right.start):
        return None
    lead = pair.lead.regex.search(ctx.folded, max(0, left.start - WINDOW), left.start)
    meaning = possible(pair.join, left, right) if lead else None
    return None if lead is None or meaning is None else Expression(lead.start(), right.end, meaning)


def _with_suffix(expression: Expression, ctx: Context) -> Expression:
    for suffix in SUFFIXES:
        match = suffix.pattern.regex.match(ctx.folded, expression.end, expression.end + WINDOW)
        meaning = possible(suffix.extend, expression, match, ctx) if match else None
        if match is not None and meaning is not None:
            expression = Expression(expression.start, match.end(), meaning)
    return expression


def _with_prefix(expression: Expression, ctx: Context, *prefixes: Prefix) -> Expression:
    for prefix in prefixes:
        if _word_before(expression, ctx) not in prefix.last:
            continue
        match = prefix.pattern.regex.search(ctx.folded, max(0, expression.start - WINDOW), expression.start)
        meaning = possible(prefix.extend, expression, match, ctx) if match else None
        if match is not None and meaning is not None:
            expression = Expression(match.start(), expression.end, meaning)
    return expression


def _with_count(expression: Expression, ctx: Context) -> Expression:
    if not ctx.counts:
        return expression
    whole = possible(counted_from, expression, ctx)
    return whole or expression


def _word_before(expression: Expression, ctx: Context) -> str:
    """Return the word before an expression, apart from "the": a cheap check that avoids most searches."""
    words = ctx.folded[max(0, expression.start - SHORT) : expression.start].replace("-", " ").split()[-2:]
    if words and words[-1] == "the":
        words.pop()
    return words[-1] if words else ""


def _disjoint(expressions: list[Expression]) -> list[Expression]:
    """Drop what is part of a later expression: "Friday" in "the Friday before 9 June"."""
    kept: list[Expression] = []
    for each in expressions:
        while kept and kept[-1].start >= each.start:
            kept.pop()
        if not kept or kept[-1].end <= each.start:
            kept.append(each)
    return kept
