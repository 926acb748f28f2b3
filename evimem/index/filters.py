"""Hard filters: which turns may be returned at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .corpus import NEVER, Corpus, Interval
from .resolved_query import Question


def is_filtered(question: Question) -> bool:
    """Return whether a question has a filter that looks at columns."""
    return (question.before, question.after, question.speaker, question.session) != (None, None, None, None)


def eligible(question: Question, corpus: Corpus) -> NDArray[np.bool_]:
    """Return for every position whether it may be returned."""
    mask = corpus.alive.copy()
    if question.speaker is not None:
        mask &= corpus.speaker == question.speaker
    if question.session is not None:
        mask &= corpus.session == question.session
    if question.before is not None or question.after is not None:
        mask &= _in_time(question, corpus)
    excluded = [position for position in question.exclude if position < len(corpus)]
    mask[excluded] = False
    return mask


def _in_time(question: Question, corpus: Corpus) -> NDArray[np.bool_]:
    """Event time where a turn's facts have one, said time otherwise; an interval counts when it overlaps."""
    has_event = corpus.event_start != NEVER
    start = np.where(has_event, corpus.event_start, corpus.time)
    end = np.where(has_event, corpus.event_end, corpus.time + 1)
    mask = np.ones(len(corpus), np.bool_)
    if question.before is not None:
        mask &= start < question.before
    if question.after is not None:
        mask &= end > question.after
    for position in corpus.scattered:
        mask[position] = any(overlaps(event, question) for event in corpus.events(int(position)))
    return mask


def overlaps(interval: Interval, question: Question) -> bool:
    """Return whether a half-open interval meets after <= t < before."""
    start, end = interval
    return (question.before is None or start < question.before) and (question.after is None or end > question.after)
