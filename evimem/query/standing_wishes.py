"""A user's standing wishes: what they asked for once and for all, such as "always give me metric units".

Only a memory of one user and an assistant has them. What anybody else says is data, whatever it asks for, and so is
what the user quotes or passes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..extract.own_words import own_sentences
from ..flow import Flow, recall
from ..lang import ENGLISH
from ..protocols import Store
from ..text.terms import terms
from ..types.stored import EVERYTHING, Scope
from ..types.values import Hit, Query, Turn
from .find_turns import Filters

MOST_WISHES = 5  # the newest of them
MOST_LENGTH = 300  # characters of a sentence that is a wish
SEARCHED = 30  # turns of the user that have the words of a wish
NEAREST = 12  # of these that are nearest to a question
CUES = " ".join(ENGLISH.words("wishes.cues"))

_any = ENGLISH.any_of
_VERB = rf"(?:please\s+)?{_any('wishes.verbs')}\b"
_ASKING = rf"(?:{_any('wishes.asking')},?\s+)"
_NOW = _any("wishes.from_now_on")
# Any verb as one commands with it: "always round up" is a wish, "always lost" and "never mind" are none.
_OPEN_VERB = rf"(?:please\s+)?(?!{_any('wishes.no_wishes')}\b|\w+(?:ed|ing|[^s]s)\b)[a-z]\w+\b"
_WISHES = (
    re.compile(rf"(?:^|[,;:]\s*){_any('wishes.standing')}\s+{_OPEN_VERB}", re.IGNORECASE),
    re.compile(rf"\b{_ASKING}+{_any('wishes.standing')}\s+{_OPEN_VERB}", re.IGNORECASE),
    re.compile(rf"^{_ASKING}*{_any('wishes.whenever')}\s+I\s+{_any('wishes.saying')}\b.*,", re.IGNORECASE),
    re.compile(rf"^(?:(?:and|but|also)\s+)?{_any('wishes.preferring')}\b", re.IGNORECASE),
    re.compile(rf"(?:^|[,;:]\s*){_NOW},?\s+{_ASKING}*{_VERB}", re.IGNORECASE),
    re.compile(rf"^{_ASKING}*{_VERB}.*\b{_NOW}\W*$", re.IGNORECASE),
)


@dataclass(frozen=True, slots=True)
class Wish:
    """A sentence of the user that says how to answer, and when it was said."""

    turn: Turn
    text: str

    @property
    def time(self) -> datetime:
        """When it was said."""
        return self.turn.time


def standing_wishes(store: Store, speakers: Sequence[str], scope: Scope = EVERYTHING) -> Flow[tuple[Wish, ...]]:
    """Return the newest standing wishes, within a scope, of the user among a memory's speakers, oldest first."""
    who = user_among(speakers)
    own = None if who is None else scope.of_speaker(who)
    if own is None:
        return ()
    hits = yield from recall(store, Filters.within(own, ()).query(CUES, SEARCHED, bare=True))
    newest = sorted({wish.text: wish for wish in wishes_of(hits, who)}.values(), key=lambda wish: wish.time)
    return tuple(newest[-MOST_WISHES:])


def wishes_on(store: Store, query: Query, speakers: Sequence[str]) -> tuple[Wish, ...]:
    """Return the standing wishes of the user that are nearest to what a query means, the nearest first."""
    who = user_among(speakers)
    if who is None or query.speaker not in (None, who):
        return ()
    cues = tuple(sorted(set(terms(CUES))))
    hits = store.recall(replace(query, text="", k=NEAREST, speaker=who, names=(), times=(), when=False, any_of=cues))
    return tuple({wish.text: wish for wish in wishes_of(hits, who)}.values())


def wishes_of(hits: Sequence[Hit], who: str | None) -> Iterator[Wish]:
    """Yield the wishes in turns of the user, in their order."""
    for hit in hits:
        if hit.turn.speaker == who and hit.turn.role in (None, "user"):
            yield from (Wish(hit.turn, wish) for wish in wishes_in(hit.turn.text))


def user_among(speakers: Sequence[str]) -> str | None:
    """Return the one who talks to the assistant; None where nobody does, or who it is cannot be told."""
    called = {speaker.casefold(): speaker for speaker in speakers}
    if "assistant" not in called or len(called) != 2:
        return None
    return next(speaker for name, speaker in called.items() if name != "assistant")


def wishes_in(text: str) -> Iterator[str]:
    """Yield the own sentences of a text that say how to answer from now on."""
    for start, end in own_sentences(text):
        sentence = " ".join(text[start:end].split())
        if len(sentence) <= MOST_LENGTH and any(form.search(sentence) for form in _WISHES):
            yield sentence
