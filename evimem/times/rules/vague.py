"""Vague expressions: recently, a while ago, the other day. They have words and no interval."""

from __future__ import annotations

import re

from ..context import Context
from ..fragments import one_of
from ..lexicon import UNIT_GROUPS
from ..rule_types import VAGUE, Meaning, needs, rules


def vague(match: re.Match[str], ctx: Context) -> Meaning | None:
    """Return a vague meaning, unless a number stands before the words ("4 days ago" beside what was not read)."""
    return None if any(count.start < match.start() < count.end for count in ctx.counts) else VAGUE


_LONG = (
    r"(?:(?:quite )?a (?:little |long |short |good )?while|some ?time|(?:a )?(?:long|short) time"
    rf"|(?:not )?(?:(?:so|too|that|very) )?long|a moment|{one_of(UNIT_GROUPS['vague_plural'])})"
)

RULES = rules(
    (needs("vague", ["recently", "lately", "late"]), r"\b(?:recently|lately|as of late|of late(?= ?[.,;!?]))", vague),
    (
        needs("unit", ["several"]),
        rf"\b(?:for|over|past|last|these) several {one_of(UNIT_GROUPS['vague_plural'])}\b"
        rf"|\bseveral {one_of(UNIT_GROUPS['vague_plural'])} (?:ago|back|later|from now|now)\b",
        vague,
    ),
    (needs("vague", ["ago", "back"]), rf"\b{_LONG} (?:ago|back)\b", vague),
    (needs("vague", ["other"]), rf"\bthe other {one_of(UNIT_GROUPS['vague'])}\b", vague),
    (
        needs("vague", ["someday", "nowadays", "point", "back"]),
        r"\b(?:someday|nowadays|at some point|back in the day|back then)\b",
        vague,
    ),
    (needs("unit", ["these"]), r"\bthese days\b", vague),
    (
        needs("vague", ["soon", "future"]),
        r"(?<!\bas )\bsoon\b(?! (?:as|enough)\b)|\bin the (?:near|distant) future\b",
        vague,
    ),
)
