"""Whether a passage speaks against the question it seems to answer: another sign or unit, or the other direction.

"When was my balance 120 euros?" is not answered by "it was -120 euros on Monday", nor "how much does Tomas owe me?" by
"I owe Tomas 120 euros".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ...lang import ENGLISH
from ..dates_and_numbers import CURRENCY
from .asked_form import AskedForm
from .candidate_passages import Passage
from .typed_values import TURNED, sign_before

_UNITS: dict[str, frozenset[str]] = {}
for _name, _words in ENGLISH.lists("asked_forms.units").items():
    for _word in _words:
        _UNITS[_word] = _UNITS.get(_word, frozenset()) | {_name}
_AMOUNT = re.compile(
    rf"(?P<before>(?:[a-z]{{1,3}})?[{CURRENCY}]|\b[a-z]{{2,3}}\b\.?(?=\s?[\d\-\u2212]))?\s?(?P<sign>[\-\u2212])?"
    rf"(?P<number>\d+(?:[.,]\d+)*)\s?(?P<after>[{CURRENCY}]|\u00b0\s?[cf]?|%|[a-z]+)?",
    re.IGNORECASE,
)
_MOST = 40  # amounts of a text that are compared
_GIVES = ENGLISH.any_of("asked_forms.transfers")
_BETWEEN = r"(?:(?:'(?:s|ve|d|ll)|\s+(?:has|have|had|will|would|still|also|only|just|already|never|\w+ly))*)"
_ASKED = re.compile(
    rf"\b(?:do|does|did|has|have|had|will)\s+(?P<who>\w+)\s+(?:\w+ly\s+|still\s+)?{_GIVES}\b", re.IGNORECASE
)
_TOLD = re.compile(rf"\b(?P<who>\w+){_BETWEEN}\s+{_GIVES}\s+(?P<whom>\w+)", re.IGNORECASE)
_SELF = frozenset(("i", "me", "we", "us"))


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of a text with its sign, and the units that the words at it may mean; empty where they mean none."""

    number: str
    negative: bool
    units: frozenset[str]


def speaks_against(asked: AskedForm, passage: Passage) -> bool:
    """Return whether a passage has a number of the question with another sign or unit, or tells of the reverse."""
    return _has_other_amount(asked, passage.text) or _is_reverse(asked, passage)


def amounts_in(text: str) -> Iterator[Amount]:
    """Yield the numbers of a text."""
    for found in _AMOUNT.finditer(text):
        at = found.start("sign") if found["sign"] else found.start("number")
        signed = bool(found["sign"]) and (found["before"] or at == 0 or text[at - 1].isspace() or text[at - 1] == "(")
        start = found.start("before") if found["before"] else found.start("number")
        told = sign_before(text, start)
        negative = bool(signed) or (told is not None and "+" not in told[0]) or bool(TURNED.match(text, found.end()))
        words = (found["before"], found["after"])
        units = (_UNITS.get(word.casefold().rstrip(".").replace(" ", "")) for word in words if word)
        yield Amount(found["number"].replace(",", ""), negative, frozenset().union(*(one for one in units if one)))


def _has_other_amount(asked: AskedForm, text: str) -> bool:
    if not asked.numbers:
        return False
    told: dict[str, set[Amount]] = {}
    for one in islice(amounts_in(text), _MOST):
        told.setdefault(one.number, set()).add(one)
    wanted = [one for one in set(islice(amounts_in(asked.text), _MOST)) if one.number in told]
    return any(not any(_agree(one, other) for other in told[one.number]) for one in wanted)


def _agree(one: Amount, other: Amount) -> bool:
    alike = not one.units or not other.units or bool(one.units & other.units)
    return alike and one.negative == other.negative


def _is_reverse(asked: AskedForm, passage: Passage) -> bool:
    """Return whether a passage tells that the other gave: who gives in the question is given to."""
    question = _ASKED.search(asked.text)
    told = _TOLD.search(passage.text)
    if question is None or told is None:
        return False
    giver = _person(question["who"], asked.subject[0] if asked.subject else "")
    speaker = passage.turn.speaker.casefold()
    return _person(told["whom"], speaker) == giver != _person(told["who"], speaker)


def _person(word: str, speaker: str) -> str:
    return speaker.casefold() if word.casefold() in _SELF else word.casefold()
