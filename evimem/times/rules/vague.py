"""Expressions that name no time: recently, a while ago, the other day. The words are kept, the interval is not."""

from __future__ import annotations

import re

from ..context import Context
from ..rule_types import VAGUE, Reading, rules


def vague(match: re.Match[str], ctx: Context) -> Reading:
    return VAGUE


_LONG = (
    r"(?:(?:quite )?a (?:little |long |short |good )?while|some ?time|(?:a )?(?:long|short) time"
    r"|(?:not )?(?:(?:so|too|that|very) )?long|a moment|ages|decades|years|months|weeks|days|hours)"
)
_TURNED = r"(?:day|night|week|month|morning|evening|afternoon|weekend|year)"

RULES = rules(
    ("vague", r"\b(?:recently|lately|as of late|of late(?= ?[.,;!?]))", vague),
    ("vague", rf"\b{_LONG} (?:ago|back)\b", vague),
    ("vague", rf"\bthe other {_TURNED}\b", vague),
    ("vague", r"\b(?:someday|nowadays|at some point|back in the day|back then)\b", vague),
    ("unit", r"\bthese days\b", vague),
    ("vague", r"(?<!\bas )\bsoon\b(?! (?:as|enough)\b)|\bin the (?:near|distant) future\b", vague),
)
