"""Amounts: the phrases that state them."""

from __future__ import annotations

import re

from ..lang import ENGLISH
from ..times.lexicon import SIMPLE_NUMBERS, TENS

_any = ENGLISH.any_of


CURRENCY = r"$\u00a3\u20ac\u20a6\u20b9\u00a5"  # signs of it, for a set of characters
_SPELLED = "|".join(
    (
        *TENS,
        *ENGLISH.words("questions.large_numbers"),
        *(word for word, number in SIMPLE_NUMBERS.items() if 0 < number <= 20),
    )
)
NUMBER = rf"(?:\d+(?:[.,]\d+)*|(?:{_SPELLED})(?:[- ](?:and[- ])?(?:{_SPELLED}))*)"
ABOUT = rf"(?:{_any('questions.approximately')}\s+)?"
MONEY = re.compile(
    rf"[{CURRENCY}]\s?[-\u2212]?\d+(?:[.,]\d+)*(?:\s?(?:k|million))?"
    rf"|\b{_any('questions.money_codes')}\b\.?\s?[-\u2212]?\d+(?:[.,]\d+)*"
    rf"|\b\d+(?:[.,]\d+)*\s?k?\s?[{CURRENCY}\u00a2]"
    rf"|\b{NUMBER}\s*(?:{_any('questions.currencies')}|(?:{'|'.join(ENGLISH.words('questions.money_units'))}))\b",
    re.IGNORECASE,
)
SIZE = re.compile(
    rf"\b{ABOUT}{NUMBER}(?:\s*(?:x|by)\s*{NUMBER})?[\s-]*"
    r"(?:square\s+)?(?:mm|cm|km|m\u00b2|m|(?:centi|kilo|milli)?met(?:er|re)s?|inch(?:es)?|foot|feet|ft|yards?|miles?|acres?"
    rf"|hectares?|lit(?:er|re)s?)\b(?:\s+(?:{_any('questions.dimensions')}|away))?"
    rf"(?:\s+(?:and|by)\s+{NUMBER}\s+{_any('questions.dimensions')}\b)?",
    re.IGNORECASE,
)
