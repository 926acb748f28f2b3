"""Whether a number, year or unit that no rule read stands beside an expression: then the whole is not understood."""

from __future__ import annotations

from .context import Context
from .fragments import MONTH, WEEKDAY, Pattern, one_of
from .joins import Expression
from .lexicon import NOT_BEFORE, SIMPLE_NUMBERS, UNITS

WINDOW = 32  # characters on each side that are looked at

_NUMBER = rf"(?:\d{{1,4}}|{one_of(SIMPLE_NUMBERS)})"
# "31 June" (no such day), "17 of May 2020 items", "hundred and ten days ago", "3 years, 2 months and 4 days ago".
_BEFORE_MONTH = Pattern(r"(?<![\w:])\d{1,4}(?:st|nd|rd|th)?(?: |-|/|, ?)?(?:of )?\Z")
_BEFORE_COUNT = Pattern(
    r"(?:\b(?:hundred|thousand|million)(?: and)?|\d) \Z|\b(?:quarters?|half|halves|thirds?) of \Z"
    rf"|\d {one_of(UNITS)}(?:, | and |, and )\Z"
)
_BEFORE_CLOCK = Pattern(rf"\b(?:{_NUMBER}|quarter|half)(?: minutes?| mins?)? (?:past|to|of|after|before|til) \Z")
# "Mon 31st at 6pm", where no Monday is near that is a 31st.
_BEFORE_TIME = Pattern(rf"\b{WEEKDAY}\.?,? (?:the )?\d\d?(?:st|nd|rd|th)?,? (?:at |from |by )?\Z")
_AFTER = Pattern(
    rf"(?: |-|/)?'?\d{{1,4}}(?!\d|[:h]\d|\.\d\d|\d* ?(?:[ap]\.?m|%|{one_of(NOT_BEFORE['day_of_month'])})\b)"
)
_OTHER_YEAR = Pattern(r"[ ]?-? ?(?:fy ?\d|bc\b|bce\b)")
_ENDS_IN_MONTH = Pattern(rf"(?:{MONTH}\.?(?: (?:the )?\d\d?(?:st|nd|rd|th)?)?|[a-z],? (?:\d{{4}}|'\d\d))\Z")
_STARTS_WITH_MONTH = Pattern(rf"{MONTH}\b")
_STARTS_WITH_COUNT = Pattern(rf"(?:{_NUMBER}|an?)(?: |-)?{one_of(UNITS)}\b")


def beside_unread(expression: Expression, ctx: Context) -> bool:
    """Return whether a number or unit directly before or after an expression belongs to it and was not read."""
    start, end, folded = expression.start, expression.end, ctx.folded
    first, last = max(0, start - WINDOW), min(len(folded), end + WINDOW)
    if expression.meaning.kind == "clock":
        return any(unread.regex.search(folded, first, start) for unread in (_BEFORE_CLOCK, _BEFORE_TIME))
    if _STARTS_WITH_MONTH.regex.match(folded, start, end) and _BEFORE_MONTH.regex.search(folded, first, start):
        return True
    if _STARTS_WITH_COUNT.regex.match(folded, start, end) and _BEFORE_COUNT.regex.search(folded, first, start):
        return True
    if _OTHER_YEAR.regex.match(folded, end, last):
        return True
    ends_in_month = _ENDS_IN_MONTH.regex.search(folded, max(start, end - WINDOW), end)
    return ends_in_month is not None and _AFTER.regex.match(folded, end, last) is not None
