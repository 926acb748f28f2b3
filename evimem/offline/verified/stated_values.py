"""What a passage states of the asked type: values that are read, or only something that looks like one."""

from __future__ import annotations

import re
from typing import Literal

from ...judging.evidence import View
from ...lang import ENGLISH
from ...times import Conventions
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


Stated = tuple[Value, TimeSpan | None]


def stated_values(view: View, asked: AskedForm, passage: Passage, conventions: Conventions) -> tuple[Stated, ...]:
    """Return the values of the asked type in a passage, each with its time where it is one; read once a check."""

    def read() -> tuple[Stated, ...]:
        named: tuple[Stated, ...] = tuple((value, None) for value in values(asked, passage))
        if named or asked.form not in DATED:
            return named
        return tuple(dates(asked, passage, times_of(view, passage.turn, conventions)))

    return view.kept_at_check(("stated", asked, passage.turn.id, passage.unit.span), read)


def bears(
    view: View, asked: AskedForm, passage: Passage, conventions: Conventions
) -> Literal["value", "likeness", "nothing"]:
    """Return whether a passage has a value of the asked type, or words of its shape such as a name for a person."""
    if stated_values(view, asked, passage, conventions):
        return "value"
    like = _LIKE.get(asked.form)
    return "likeness" if like is not None and like.search(passage.text) else "nothing"
