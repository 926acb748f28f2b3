"""Lengths of time, numbers and amounts: the phrases that state them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from ..lang import ENGLISH
from ..times.lexicon import SIMPLE_NUMBERS, TENS
from ..types.values import TimeSpan

_any = ENGLISH.any_of


CURRENCY = r"$\u00a3\u20ac\u20a6\u20b9\u00a5"  # signs of it, for a set of characters
WORDS = ("zero", *(word for word, number in SIMPLE_NUMBERS.items() if number <= 20))  # by value
_SPELLED = "|".join((*TENS, *ENGLISH.words("questions.large_numbers"), *WORDS[1:]))
NUMBER = rf"(?:\d+(?:[.,]\d+)*|(?:{_SPELLED})(?:[- ](?:and[- ])?(?:{_SPELLED}))*)"
UNIT = rf"{_any('questions.answer_units')}s?"
ABOUT = rf"(?:{_any('questions.approximately')}\s+)?"
DURATION = re.compile(
    rf"\b{ABOUT}(?:{NUMBER}|an?|(?:a\s+)?(?:few|couple(?:\s+of)?)|several|half\s+an?)"
    rf"(?:\s*(?:-|\u2013|to)\s*{NUMBER})?(?:\s+and\s+a\s+half)?[\s-]+{UNIT}\b(?:\s+and\s+a\s+half\b)?",
    re.IGNORECASE,
)
COUNT = re.compile(
    r"(?!\bone\b(?:\s+(?:of|that|who|is|was|day|more|another|thing)\b|[.,!?;]|$))"
    rf"(?<![\w$\u00a3\u20ac:.,/-])(?:{NUMBER}(?:\s*(?:%|percent\b))?|once|twice|(?:a\s+)?(?:few|couple|dozen)|several)"
    r"(?![\w:]|/\d)",
    re.IGNORECASE,
)
MONEY = re.compile(
    rf"[{CURRENCY}]\s?[-\u2212]?\d+(?:[.,]\d+)*(?:\s?(?:k|million))?"
    rf"|\b{_any('asked_forms.money_codes')}\b\.?\s?[-\u2212]?\d+(?:[.,]\d+)*"
    rf"|\b\d+(?:[.,]\d+)*\s?k?\s?[{CURRENCY}\u00a2]"
    rf"|\b{NUMBER}\s*(?:{_any('questions.currencies')}|(?:{'|'.join(ENGLISH.words('asked_forms.money_units'))}))\b",
    re.IGNORECASE,
)
SIZE = re.compile(
    rf"\b{ABOUT}{NUMBER}(?:\s*(?:x|by)\s*{NUMBER})?[\s-]*"
    r"(?:square\s+)?(?:mm|cm|km|m\u00b2|m|(?:centi|kilo|milli)?met(?:er|re)s?|inch(?:es)?|foot|feet|ft|yards?|miles?|acres?"
    rf"|hectares?|lit(?:er|re)s?)\b(?:\s+(?:{_any('questions.dimensions')}|away))?"
    rf"(?:\s+(?:and|by)\s+{NUMBER}\s+{_any('questions.dimensions')}\b)?",
    re.IGNORECASE,
)


def day_of(moment: datetime) -> TimeSpan:
    """Return the calendar day of a moment."""
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    # The last day that a datetime can hold ends with its last moment.
    last = datetime.max.replace(tzinfo=start.tzinfo)
    return TimeSpan(start, start + min(timedelta(days=1), last - start), "day", "")
