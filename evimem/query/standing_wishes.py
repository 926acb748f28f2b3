"""A user's standing wishes: what they asked for once and for all, such as "always give me metric units".

Only a memory of one user and an assistant has them. What anybody else says is data, whatever it asks for, and so is
what the user quotes or passes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..extract.own_words import own_sentences
from ..flow import Flow, recall
from ..lang import ENGLISH
from ..types.stored import EVERYTHING, Scope
from .find_turns import Filters

MOST_WISHES = 5  # the newest of them
MOST_LENGTH = 300  # characters of a sentence that is a wish
SEARCHED = 30  # turns of the user that have the words of a wish

_any = ENGLISH.any_of
_VERB = rf"(?:please\s+)?{_any('wishes.verbs')}\b"
_ASKING = rf"(?:{_any('wishes.asking')},?\s+)"
_NOW = _any("wishes.from_now_on")
_WISHES = (
    re.compile(rf"(?:^|[,;:]\s*|\b(?=please\b|you\b)){_ASKING}*{_any('wishes.standing')}\s+{_VERB}", re.IGNORECASE),
    re.compile(rf"\b{_ASKING}+{_any('wishes.standing')}\s+{_VERB}", re.IGNORECASE),
    re.compile(rf"(?:^|[,;:]\s*){_NOW},?\s+{_ASKING}*{_VERB}", re.IGNORECASE),
    re.compile(rf"^{_ASKING}*{_VERB}.*\b{_NOW}\W*$", re.IGNORECASE),
)


@dataclass(frozen=True, slots=True)
class Wish:
    """A sentence of the user that says how to answer, and when it was said."""

    text: str
    time: datetime


def standing_wishes(speakers: Sequence[str], scope: Scope = EVERYTHING) -> Flow[tuple[Wish, ...]]:
    """Return the newest standing wishes, within a scope, of the user among a memory's speakers, oldest first."""
    who = user_among(speakers)
    own = None if who is None else scope.of_speaker(who)
    if own is None:
        return ()
    hits = yield from recall(Filters.within(own, ()).query(" ".join(ENGLISH.words("wishes.cues")), SEARCHED, bare=True))
    turns = [hit.turn for hit in hits if hit.turn.speaker == who and hit.turn.role in (None, "user")]
    found = [Wish(wish, turn.time) for turn in turns for wish in wishes_in(turn.text)]
    newest = sorted({wish.text: wish for wish in found}.values(), key=lambda wish: wish.time)
    return tuple(newest[-MOST_WISHES:])


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
