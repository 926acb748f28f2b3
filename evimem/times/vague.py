"""Expressions that name no time: recently, a while ago, the other day. The words are kept, the interval is not."""

from __future__ import annotations

import re

from .context import Context
from .lexicon import compiled
from .rule import VAGUE, Reading, Rule


def vague(match: re.Match[str], ctx: Context) -> Reading:
    return VAGUE


RULES = tuple(
    Rule("vague", compiled(pattern), vague)
    for pattern in (
        r"\b(?:recently|lately|of late|as of late)\b",
        r"\b(?:(?:quite )?a (?:little |long |short )?while|some ?time|(?:a )?(?:long|short) time|long|not (?:so |too |that |very )?long|a moment|a bit|ages|years|months|weeks|days|hours|decades|years and years) (?:ago|back)\b",
        r"\b(?:the|just the) other (?:day|night|week|month|morning|evening|afternoon|weekend|year)\b",
        r"\b(?:someday|some day|one of these days|these days|nowadays|at some point|back in the day|back then)\b",
        r"(?<!as )\bsoon\b(?! (?:as|enough))|\bin the (?:near|distant) future\b",
    )
)  # fmt: skip
