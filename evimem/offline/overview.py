"""Overviews: "what do you know about me?" quotes what a profile of the person rests on, newest first."""

from __future__ import annotations

import re
from functools import cache

from ..extract import stance
from ..extract.profile import is_of_profile
from ..judging.evidence import Evidence, View
from ..lang import Language
from ..lang.guess import LANGUAGES
from .quotation import Extract, whole
from .sentence_units import is_assistant
from .turn_window import in_order

MOST = 6  # turns that are quoted


def overview(view: View) -> tuple[Extract, ...]:
    """Return the turns that tell most of whom an overview is asked of; none for a question of another kind."""
    return view.kept_at_check("overview", lambda: _overview(view))


def _overview(view: View) -> tuple[Extract, ...]:
    if _asking().search(view.analysis.question) is None:
        return ()
    talking = [item for item in view.shown if not is_assistant(item.turn)]
    speakers = {item.turn.speaker for item in talking}
    asked = speakers.intersection(view.analysis.asked) or (set() if view.analysis.entities else speakers)
    if len(asked) != 1:
        return ()
    own = [item for item in talking if item.turn.speaker in asked and stance(item.turn) == "asserts"]
    best = sorted(own, key=lambda item: (not _tells(item), -item.score))[:MOST]
    chosen = {item.turn.id for item in best}
    return tuple(whole(turn) for turn in reversed(in_order(view)) if turn.id in chosen)


def _tells(item: Evidence) -> bool:
    return any(fact.replaced_by is None and is_of_profile(fact) for fact in item.facts)


@cache
def _asking() -> re.Pattern[str]:
    patterns = (pattern for code in LANGUAGES for pattern in Language(code).words("questions.overview"))
    return re.compile("|".join(patterns), re.IGNORECASE)
