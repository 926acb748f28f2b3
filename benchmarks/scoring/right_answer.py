"""Whether an answer to a question about a chat is right: the rule of our labelled conversations.

It is right if a gold form is contained in it, numbers and months spelled alike, or if its F1 with one is .6 or more and
it has all of its numbers: the 8th is not the 7th. An answer to yes or no is right by its first word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evimem.times.lexicon import EN, FULL_MONTHS, TENS

from .answer_f1 import f1

ENOUGH = 0.6
_YES_NO = ("yes", "no")
_HEDGES = ("likely", "probably")
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NUMBERS = EN.numbers.values | {
    f"{ten}{dash}{word}": TENS[ten] + number
    for ten in TENS
    for word, number in EN.numbers.values.items()
    for dash in "- "
    if word not in EN.table("article_numbers") and number < 10
}
_SPOKEN = re.compile(rf"\b(?:{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_MONTH_NAMES = {
    short: name for short, number in EN.months.values.items() for name, same in FULL_MONTHS.items() if number == same
}


def is_right(text: str, gold: Sequence[str]) -> bool:
    """Whether an answer agrees with one of the gold forms; the first of them decides whether it is yes or no.

    No answer is right where there is no gold form: nothing was told.
    """
    if gold and _first(gold[0]) in _YES_NO:
        return _first(text) == _first(gold[0])
    return any(holds(text, one) or _nearly(spelled(text), spelled(one)) for one in gold)


def holds(text: str, gold: str) -> bool:
    """Whether the words of a gold form stand in a text, in their order and next to one another."""
    return bool(spelled(gold)) and f" {spelled(gold)} " in f" {spelled(text)} "


def _nearly(text: str, gold: str) -> bool:
    numbers = {word for word in gold.split() if word[0].isdigit()}
    return numbers <= set(text.split()) and f1(text, gold) >= ENOUGH


def spelled(text: str) -> str:
    """Return the words of a text in lower case with numbers in digits and months in full, without articles.

    >>> spelled("The 7th of Sept., twenty-one cats, $1,250")
    '7 of september 21 cats 1250'
    """
    plain = _THOUSANDS.sub("", _ORDINAL.sub("", text.casefold()))
    plain = _SPOKEN.sub(lambda found: str(_NUMBERS[found[0]]), _ARTICLE.sub(" ", plain))
    return " ".join(_MONTH_NAMES.get(word, word) for word in _WORD.findall(plain))


def _first(text: str) -> str:
    words = [word for word in spelled(text).split() if word not in _HEDGES]
    return words[0] if words else ""
