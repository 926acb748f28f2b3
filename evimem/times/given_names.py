"""Weekdays and months that are names of something else: "a song called September", "named it Friday", "Mr Friday"."""

from __future__ import annotations

from ..lang import ENGLISH
from .context import Context
from .fragments import Pattern, one_of

REACH = 40  # characters before a word in which a verb of naming stands
_NAMED = Pattern(
    rf"\b(?:{one_of(ENGLISH.words('times.naming'))}(?: it| him| her| them| me)?"
    rf"|{one_of(ENGLISH.words('people.honorifics'))}\.?"
    rf"|(?:a|an|the|this|that) [a-z]{{1,16}} called|call(?:ed)? it) [\"'(]?\Z"
)
_SUBJECT = Pattern(
    r"'s (?:not|been|got|gonna|still|always|never|(?!during\b|evening\b|morning\b|meeting\b)[a-z]{2,16}ing)\b"
)


def follows_naming(start: int, ctx: Context) -> bool:
    """Return whether the word at an index is a name that was just given: "named him August"."""
    return _NAMED.regex.search(ctx.folded, max(0, start - REACH), start) is not None


def is_subject(end: int, ctx: Context) -> bool:
    """Return whether the first name that ends at an index does something: "June's not answering"."""
    return _SUBJECT.regex.match(ctx.folded, end) is not None
