"""Whether a number, year or unit that no rule read stands beside an expression: then the whole is not understood."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ..lang import ENGLISH
from .context import Context
from .fragments import MONTH, WEEKDAY, Pattern, one_of
from .joins import Expression
from .lexicon import DAYS_FROM_TODAY, NOT_BEFORE, ORDINALS, POSITIONS, SIMPLE_NUMBERS, UNITS, WEEKDAYS

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

_CORRECTED = Pattern(rf" ?[,.!?:;-]{{1,3}} ?{one_of(ENGLISH.words('times.corrections'))}\b[^.!?\n]{{0,20}}")
_LISTED = Pattern(r" ?(?:,|/|&|\+|,? and|,? or) ?")
_BIN_DAY = Pattern(r"\b\w{2,12} (?:day|night|club|practice|training|class)(?: is|'s) (?:on )?\Z")
_NTH_OF = Pattern(rf"(?:the )?{one_of(POSITIONS)} \w+ (?:of|in) ")
_SUPPOSED = Pattern(
    rf"\b(?:i|we|you|he|she|they)(?:'d| would) (?!{one_of(ENGLISH.words('times.wished'))}\b)[a-z]+ (?:\w+ ){{0,2}}\Z"
)
_FULL_MONTH = Pattern(MONTH)
_LATER_YEAR = Pattern(r"(?: \w+){1,2} (?:1[5-9]|20)\d\d\b")  # "the October half term 2011"
_TEMPLATE = Pattern(rf"\b{one_of(ENGLISH.words('times.template_words'))}\W{{0,3}}(?:\w+\W{{1,3}})?\Z")
# "Third Sunday", "the last three Saturdays of June", "the year to March", "every wet Sunday".
_UNREAD_BEFORE = Pattern(
    rf"\b(?:{one_of(word for word in (*POSITIONS, *ORDINALS) if word not in ('last', 'second'))}(?: one of)?"
    rf"|{one_of((*POSITIONS, *ORDINALS))} {one_of(SIMPLE_NUMBERS)} \w{{3,10}}s (?:of|in)"
    rf"|{one_of((*POSITIONS, *ORDINALS))} (?:one|{WEEKDAY}s?|{one_of(UNITS)}) of"
    r"|(?:year|quarter|months?) (?:to|ended|ending)(?: the)?|(?:every|each(?! other)|alternate)(?: \w{2,12})?) \Z"
)
_UNREAD_AFTER = Pattern(
    r" (?:of|in) (?:the|each|every|any) (?:month|week|year|term)\b| half term\b| bank holiday\b"
    r"| (?:nineteen|eighteen|seventeen) \w+"
)


def alone(expressions: list[Expression], ctx: Context) -> Iterator[Expression]:
    """Yield the expressions that are read whole, without the days of a list or a habit, and what is taken back."""
    left_out: set[int] = set()
    for at, (one, other) in enumerate(pairwise(expressions)):
        between = ctx.folded[one.end : other.start]
        if _CORRECTED.regex.fullmatch(between):
            left_out.add(at)
        if _is_list(one, other, between, ctx):
            left_out |= {at, at + 1}
    for at, each in enumerate(expressions):
        if at not in left_out and not beside_unread(each, ctx) and not _recurs(each, ctx):
            yield each


def _is_list(one: Expression, other: Expression, between: str, ctx: Context) -> bool:
    """Return whether two bare weekdays that do not follow each other are listed: "Tues and Thurs", "mon/wed/fri"."""
    if not (_LISTED.regex.fullmatch(between) and _is_bare(one, ctx) and _is_bare(other, ctx)):
        return False
    assert one.interval is not None
    assert other.interval is not None
    return "/" in between or (other.interval.start - one.interval.start).days % 7 != 1


def _is_bare(expression: Expression, ctx: Context) -> bool:
    return expression.is_a("day") and ctx.folded[expression.start : expression.end] in WEEKDAYS


def _recurs(expression: Expression, ctx: Context) -> bool:
    """Return whether a day of no certain week or month is one of a habit: "bin day is Wednesday, alternate weeks"."""
    start, end = expression.start, expression.end
    words = ctx.folded[start:end].removeprefix("the ")
    if _BIN_DAY.regex.search(ctx.folded, max(0, start - WINDOW), start) and words in WEEKDAYS:
        return True
    recurring = words in WEEKDAYS or (expression.meaning.choices and expression.meaning.yearly is None)
    recurring = recurring or _NTH_OF.regex.match(ctx.folded, start, end) is not None
    return bool(recurring) and ctx.recurs(start, end)


def beside_unread(expression: Expression, ctx: Context) -> bool:
    """Return whether a number or unit directly before or after an expression belongs to it and was not read."""
    start, end, folded = expression.start, expression.end, ctx.folded
    first, last = max(0, start - WINDOW), min(len(folded), end + WINDOW)
    if _belongs_to_more(expression, ctx, first, last):
        return True
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


def _belongs_to_more(expression: Expression, ctx: Context, first: int, last: int) -> bool:
    """Return whether words beside an expression make it another time, or none: "the year to March", "(e.g. 31/12)"."""
    start, end, folded = expression.start, expression.end, ctx.folded
    if _UNREAD_BEFORE.regex.search(folded, first, start) or _UNREAD_AFTER.regex.match(folded, end, last):
        return True
    if _TEMPLATE.regex.search(folded, first, start) and folded[start].isdigit():
        return True
    if folded[start:end] in DAYS_FROM_TODAY and _SUPPOSED.regex.search(folded, first, start):
        return True
    month = _FULL_MONTH.regex.fullmatch(folded, start, end) is not None
    return month and (folded.endswith("the ", first, start) or _LATER_YEAR.regex.match(folded, end, last) is not None)
