"""The statements of a user about themselves, whatever is asked: the part of a page that a system prompt can hold.

Statements that last lie in the directions in which statements on any topic lie (`bearing`). One search in their sum
finds the turns; of each stands its own sentence in the first person that lies nearest to it, no quotation, draft or
role.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from ..embedding.static_embedder import StaticEmbedder
from ..errors import or_else
from ..flow import Flow
from ..lang import ENGLISH
from ..protocols import Store
from ..query.analysis import form, question_words
from ..query.find_turns import StandingInstruction, user_among
from ..text.terms import plain, terms
from ..types.stored import Scope
from ..types.values import Turn, is_discarded
from .bearing import fitted
from .question import ENDS_ASKING, Recalled

MAX_STATEMENTS = 60
SEARCHED_TURNS = 300
MIN_WORDS = 3
_OF_NO_TOPIC = frozenset(terms("know remember tell describe name"))  # of messages that ask who their user is
_FIRST_PERSON = re.compile(
    rf"\b(?:{ENGLISH.any_of('word_classes.pronouns.first', 'word_classes.pronouns.first_plural')}|im|ive)\b",
    re.IGNORECASE,
)


def find_statements(
    store: Store, recalled: Recalled, scope: Scope, exclude: Collection[str], *, shipped: bool, asker: str = ""
) -> Flow[tuple[StandingInstruction, ...]]:
    """Return what people said of themselves that lasts, each by its sentence, the likeliest first.

    Of a memory of a user and an assistant that is the user, of a group the asker, if one is known, and else every
    speaker within the scope. Where turns have no vectors of the shipped embedding, the newest turns are read.
    """
    speakers = store.roster().speakers
    named = next((name for name in speakers if name.casefold() == asker.casefold()), None)
    own = scope.of_speaker(named or user_among(speakers))
    if own is None:
        return ()
    if shipped:
        hits = yield from recalled(own.query("", SEARCHED_TURNS, exclude, vector=fitted().lasting))
        return tuple(islice(_statements([hit.turn for hit in hits]), MAX_STATEMENTS))
    turns = store.turns(replace(own.listing, limit=SEARCHED_TURNS, newest=True))
    return tuple(islice(_statements([turn for turn in turns if turn.id not in exclude]), MAX_STATEMENTS))


def _statements(turns: Sequence[Turn]) -> Iterator[StandingInstruction]:
    found: list[tuple[Turn, str]] = []
    for turn in turns:
        if turn.role in (None, "user") and not is_discarded(turn):
            found += [(turn, one) for one in or_else([], own_sentences_of, turn.text) if is_statement(one)]
    if not found:
        return
    worth = np.asarray(StaticEmbedder().embed([text for _, text in found])) @ fitted().lasting
    seen: set[str] = set()
    for at in np.argsort(-worth, kind="stable").tolist():
        turn, text = found[at]
        if turn.id not in seen:
            seen.add(turn.id)
            yield StandingInstruction(turn, text)


def own_sentences_of(text: str) -> list[str]:
    """Return the sentences of a text that are its speaker's own words."""
    from ..extract.attribution import own_sentences  # noqa: PLC0415 - only a profile reads whose words they are

    return [" ".join(text[start:end].split()) for start, end in own_sentences(text)]


def is_statement(sentence: str) -> bool:
    """Return whether a sentence speaks of its speaker and asks nothing."""
    if sentence.rstrip().endswith(ENDS_ASKING) or len(sentence.split()) < MIN_WORDS or form(sentence) != "thing":
        return False
    foreign = question_words(sentence)
    return (foreign.user if foreign else _FIRST_PERSON).search(plain(sentence)) is not None


def asks_about_user(message: str) -> bool:
    """Return whether a message asks who its user is, and nothing else ("What do you know about me?", "my name?")."""
    foreign = question_words(message)
    first_person = (foreign.user if foreign else _FIRST_PERSON).search(plain(message)) is not None
    return first_person and _OF_NO_TOPIC.issuperset(terms(message))
