"""What a passage states of the asked type: values that are read, or only something that looks like one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from ...judging.evidence import View
from ...lang import ENGLISH
from ...times.context import Weekday
from ...types.values import TimeSpan
from .asked_form import AskedForm
from .candidate_passages import Passage
from .event_dates import DATED, dates, times_of
from .typed_values import Value, values

_LIKE = {
    form: re.compile("|".join(patterns))
    for forms, patterns in ENGLISH.lists("asked_forms.looks_like").items()
    for form in forms.split()
}


def stated_values(
    view: View, asked: AskedForm, passage: Passage, weekday: Weekday
) -> Iterator[tuple[Value, TimeSpan | None]]:
    """Yield the values of the asked type in a passage, each with its time where it is one."""
    named = [(value, None) for value in values(asked, passage)]
    if not named and asked.form in DATED:
        yield from dates(asked, passage, times_of(view, passage.turn, weekday))
    yield from named


def bears(view: View, asked: AskedForm, passage: Passage, weekday: Weekday) -> Literal["value", "likeness", "nothing"]:
    """Return whether a passage has a value of the asked type, or words of its shape such as a name for a person."""
    if any(stated_values(view, asked, passage, weekday)):
        return "value"
    like = _LIKE.get(asked.form)
    return "likeness" if like is not None and like.search(passage.text) else "nothing"
