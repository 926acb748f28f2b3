"""Values of a type that stand in a passage: amounts, lengths of time, counts, ages, sizes, colours, times of day.

A value is whole: its sign and its unit belong to it, and a number with another unit is no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...lang import ENGLISH
from ...text.terms import STOP_WORDS, stem, words
from ...times.lexicon import SIMPLE_NUMBERS, TENS
from ..dates_and_numbers import COUNT, CURRENCY, DURATION, SIZE
from .asked_form import AskedForm, asked_kind
from .candidate_passages import Passage

_BRIEF = 6  # words of a reply in which a bare number is the answer
_NOUN_WITHIN = 3  # words after a number in which its noun stands
_NOUN_BEFORE = 6  # words before one that has no noun after it
_CLOSES = re.compile(r"\s*(?:[.,;!?)]|\bof (?:them|us)\b|$)")
_IS = re.compile(r"(?:\b(?:am|is|are|was|were)|['\u2019](?:s|re|m))\s+$", re.IGNORECASE)


_PARTS = {
    "{amount}": r"(?:[+\-\u2212]?\d{1,3}(?:,\d\d)*(?:[,. '\u2019]\d{3})+(?:[.,]\d{1,2})?|[+\-\u2212]?\d+(?:[.,]\d+)?)",
    "{spelled}": f"(?:{'|'.join((*TENS, *SIMPLE_NUMBERS))})",
    "{currency}": f"(?:{'|'.join(ENGLISH.words('asked_forms.money_units'))})",
    "{code}": ENGLISH.any_of("asked_forms.money_codes"),
    "{scale}": ENGLISH.any_of("asked_forms.money_scales"),
    "{period}": ENGLISH.any_of("asked_forms.pay_periods"),
    "{shade}": ENGLISH.any_of("word_classes.colours.shades"),
    "{tint}": ENGLISH.any_of("asked_forms.tints"),
    "{basic}": ENGLISH.any_of("word_classes.colours.basic"),
    "{colour}": ENGLISH.any_of("word_classes.colours.basic", "word_classes.colours.other"),
    "{length}": DURATION.pattern,
    "{size}": SIZE.pattern,
    "{symbol}": f"[{CURRENCY}]",
}


def _compiled(pattern: str) -> re.Pattern[str]:
    for name, part in _PARTS.items():
        pattern = pattern.replace(name, part)
    return re.compile(pattern, re.IGNORECASE)


_VALUES = {form: tuple(map(_compiled, patterns)) for form, patterns in ENGLISH.lists("asked_forms.values").items()}
_NOT_BEFORE = {form: _compiled("|".join(ends)) for form, ends in ENGLISH.lists("asked_forms.not_before").items()}
_INSTEAD_OF = re.compile(
    rf"\b(?:{'|'.join(ENGLISH.words('asked_forms.instead_of'))})\s+(?:[\w'-]+\s+){{0,2}}[$\u00a3\u20ac]?$",
    re.IGNORECASE,
)
# What else belongs to an amount. A dash is its sign right before it, or after a word like "is", and parts phrases
# elsewhere.
_SIGN = re.compile(
    r"(?:(?<![^\s(])[+\-\u2212\u2013]"
    rf"|\b{ENGLISH.any_of('asked_forms.before_a_sign')}\s+(?P<apart>[\-\u2212\u2013]\s)"
    rf"|\b{ENGLISH.any_of('asked_forms.signs')}\s+)$",
    re.IGNORECASE,
)
_BOUND = re.compile(rf"\b{ENGLISH.any_of('asked_forms.bounds')}\s+$", re.IGNORECASE)
_RANGE_BEFORE = _compiled(rf"(?:{'|'.join(ENGLISH.words('asked_forms.ranges'))})\s+$")
_RANGE = re.compile(r"[-\u2013]\d[\d.,]*\d|[-\u2013]\d")
TURNED = re.compile(rf"\s+{ENGLISH.any_of('asked_forms.turns_after')}\b", re.IGNORECASE)
_PART = re.compile(
    rf"\d\s?[x\u00d7*/+]\s?$|\d\s?[-\u2212\u2013]\s?$|\b{ENGLISH.any_of('asked_forms.turns_before')}\s+$", re.IGNORECASE
)
_CUT = re.compile(r"[.,'\u2019]\d")
_GOES_ON = re.compile(rf"\s?[\d%{CURRENCY}\u00a2]")
_HAS_BEFORE = re.compile(rf"(?:[{CURRENCY}]\s?|(?:^|\s)[\-\u2212\u2013])$")
_SIGNED = frozenset(("money", "percent", "size"))
_OF_A_THING = frozenset(ENGLISH.words("asked_forms.forms_of_a_thing"))
_AMOUNTS = frozenset(ENGLISH.words("asked_forms.amounts_of"))
_VAGUE = re.compile(r"\b(?:few|several)\b", re.IGNORECASE)
_LOOK_BACK = 30  # characters before a value that may set it aside
_LEFT_OUT = _compiled("|".join(ENGLISH.words("asked_forms.left_out")))
_BARE = _compiled(r"(?<![\w.,:/-]){amount}(?![\w:%/-]|[.,]\d| of\b)")


@dataclass(frozen=True, slots=True)
class Value:
    """Characters of a turn that state a value; `key` is equal for equal values."""

    text: str
    span: tuple[int, int]
    key: str


def values(asked: AskedForm, passage: Passage) -> Iterator[Value]:
    """Yield the values of the asked type in a passage, in order; the first pattern that finds one decides."""
    if asked.form in _OF_A_THING and _is_of_a_part(asked, passage):
        return
    if asked.form == "count":
        yield from _counts(asked, passage)
        return
    for pattern in _VALUES.get(asked.form, ()):
        if found := list(_matches(asked.form, pattern, passage)):
            yield from found
            if asked.form == "money":  # "40 euros on lunch and 60 on shoes"
                yield from _matches(asked.form, _LEFT_OUT, passage)
            return
    if asked.form in ("money", "percent") and _is_brief_reply(asked, passage):
        yield from _matches(asked.form, _BARE, passage)
    if asked.form == "duration" and asked.noun and _is_brief_reply(asked, passage):
        for value in _matches("count", COUNT, passage):
            yield replace(value, text=f"{value.text} {asked.unit}")


def _is_of_a_part(asked: AskedForm, passage: Passage) -> bool:
    """Return whether a passage tells of a part of the asked thing: of "the clutch of the car" for the car."""
    parts = [
        found[1].casefold()
        for word in asked.spelled.values()
        for found in re.finditer(
            rf"\b(\w+) of (?:the|my|our|his|her|their|a) {re.escape(word)}\b", passage.text, re.IGNORECASE
        )
    ]
    return any(part not in _AMOUNTS and stem(part) not in asked.weights for part in parts)


def _matches(form: str, pattern: re.Pattern[str], passage: Passage) -> Iterator[Value]:
    text = passage.turn.text
    after = _NOT_BEFORE.get(form)
    for found in pattern.finditer(text, *passage.unit.span):
        start, end = found.span()
        while end > start and text[end - 1].isspace():
            end -= 1
        whole = _whole(text, start, end) if form in _SIGNED else (start, end)
        if end > start and whole and (after is None or after.match(text, end) is None) and not _set_aside(text, start):
            said = text[slice(*whole)]
            yield Value(said, whole, re.sub(r"[\s,]", "", said.casefold()))


def _whole(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where an amount stands with its sign, bound or range; None for a part of a sum or product."""
    if _before(_PART, text, start) or _CUT.match(text, end):
        return None
    if sign := sign_before(text, start):
        start = sign.start("apart") if sign["apart"] else sign.start()
    if bound := _before(_RANGE_BEFORE, text, start) or _before(_BOUND, text, start):
        start = bound.start()
    for more in (_RANGE, TURNED):
        if found := more.match(text, end):
            end = found.end()
    return start, end


def sign_before(text: str, start: int) -> re.Match[str] | None:
    """Return the sign of the amount that begins at a character: a dash, or a word such as "minus"."""
    return _before(_SIGN, text, start)


def _before(pattern: re.Pattern[str], text: str, start: int) -> re.Match[str] | None:
    return pattern.search(text, max(0, start - _LOOK_BACK), start)


def stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether what is taken from a text is no part of an amount, as "120 k" of "120 k\u20ac" is."""
    if not text[start:end][:1].isdigit():
        return _GOES_ON.match(text, end) is None
    cut = _before(_HAS_BEFORE, text, start) or _before(_BOUND, text, start)
    return cut is None and _GOES_ON.match(text, end) is None


def _set_aside(text: str, start: int) -> bool:
    """Return whether a value is named only to say that it is not the one: "rather than 10%"."""
    return _before(_INSTEAD_OF, text, start) is not None


def _counts(asked: AskedForm, passage: Passage) -> Iterator[Value]:
    """Yield numbers that count the asked noun, before or after it, or that are all there is to a reply."""
    (start, end), text = passage.unit.span, passage.turn.text
    for value in _matches("count", COUNT, passage):
        if _VAGUE.search(value.text):
            continue
        before, after = text[start : value.span[0]], text[value.span[1] : end]
        if _counts_noun(asked, after) or _is_brief_reply(asked, passage) or _closes_on(asked, before, after):
            yield value


def _counts_noun(asked: AskedForm, after: str) -> bool:
    """Return whether the asked noun follows a number, with no more than adjectives between."""
    for word in words(after)[:_NOUN_WITHIN]:
        if asked.noun and stem(word) == asked.noun[-1]:
            return True
        if word in STOP_WORDS:
            return False
    return False


def _closes_on(asked: AskedForm, before: str, after: str) -> bool:
    """Return whether a number without a noun of its own counts the one before it: "the guests, I make it 38".

    What a thing "is", such as its age, counts nothing.
    """
    if not asked.noun or _CLOSES.match(after) is None or _IS.search(before):
        return False
    return asked.noun[-1] in [stem(word) for word in words(before)[-_NOUN_BEFORE:]]


def _is_brief_reply(asked: AskedForm, passage: Passage) -> bool:
    """Return whether a passage answers a question for the same form in few words."""
    asks = passage.question
    return asks is not None and asked_kind(asks.text) == asked.form and len(passage.text.split()) <= _BRIEF
