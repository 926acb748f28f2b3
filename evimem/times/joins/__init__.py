"""How expressions combine with what stands beside them: tables of pairs and of sides, applied in a fixed order."""

from __future__ import annotations

from ..context import Context
from ..rule_types import possible
from .found import Found
from .pair_joins import CLOSE, RANGES, SAME_DAY, SAME_YEAR, Pair
from .side_joins import PREFIXES, SINCE, SUFFIXES, Prefix

__all__ = ["Found", "joined"]

WINDOW = 48  # characters beside an expression that are read for a join
SHORT = 24  # characters that hold the last two words before it


def joined(found: list[Found], ctx: Context) -> list[Found]:
    """Return the expressions with every neighbour that belongs to them taken in."""
    for pair in CLOSE:
        found = _paired(found, ctx, pair)
    found = [_led(_extended(each, ctx), ctx, *PREFIXES) for each in found]
    for pair in (SAME_DAY, SAME_YEAR, *RANGES):  # "Friday evening at 7", "early June last year", "from May to July"
        found = _paired(found, ctx, pair)
    return _disjoint([_led(each, ctx, SINCE) for each in found])


def _paired(found: list[Found], ctx: Context, pair: Pair) -> list[Found]:
    kept: list[Found] = []
    for right in found:
        whole = _pair(kept[-1], right, ctx, pair) if kept else None
        if whole is None:
            kept.append(right)
        else:
            kept[-1] = whole
    return kept


def _pair(left: Found, right: Found, ctx: Context, pair: Pair) -> Found | None:
    if right.start - left.end > WINDOW or not pair.between.fullmatch(ctx.folded, left.end, right.start):
        return None
    lead = pair.lead.search(ctx.folded, max(0, left.start - WINDOW), left.start)
    reading = possible(pair.join, left, right) if lead else None
    return None if lead is None or reading is None else Found(lead.start(), right.end, reading)


def _extended(found: Found, ctx: Context) -> Found:
    for suffix in SUFFIXES:
        match = suffix.pattern.match(ctx.folded, found.end, found.end + WINDOW)
        reading = possible(suffix.extend, found, match, ctx) if match else None
        if match is not None and reading is not None:
            found = Found(found.start, match.end(), reading)
    return found


def _led(found: Found, ctx: Context, *prefixes: Prefix) -> Found:
    for prefix in prefixes:
        if _word_before(found, ctx) not in prefix.last:
            continue
        match = prefix.pattern.search(ctx.folded, max(0, found.start - WINDOW), found.start)
        reading = possible(prefix.extend, found, match, ctx) if match else None
        if match is not None and reading is not None:
            found = Found(match.start(), found.end, reading)
    return found


def _word_before(found: Found, ctx: Context) -> str:
    """Return the word before an expression, "the" left aside: a look that spares most of the searching."""
    words = ctx.folded[max(0, found.start - SHORT) : found.start].replace("-", " ").split()[-2:]
    if words and words[-1] == "the":
        words.pop()
    return words[-1] if words else ""


def _disjoint(found: list[Found]) -> list[Found]:
    """Drop what a later expression has taken in from before it: "Friday" in "the Friday before 9 June"."""
    kept: list[Found] = []
    for each in found:
        while kept and kept[-1].start >= each.start:
            kept.pop()
        if not kept or kept[-1].end <= each.start:
            kept.append(each)
    return kept
