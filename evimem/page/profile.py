"""The statements of a user about themselves: those that bear on a message, or all that a system prompt can hold.

One search finds turns in the direction of a message moved towards what bears on it, or of statements on any topic
(`bearing`). Of each turn the sentence that likeliest lasts and is nearest counts, no quotation, draft or role among
them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..embedding.static_embedder import StaticEmbedder
from ..errors import or_else
from ..flow import Flow
from ..protocols import Store
from ..query.find_turns import user_among
from ..text.sentences import sentences
from ..text.terms import terms
from ..types.stored import BEARING, Scope
from ..types.values import Fact, Turn, is_discarded
from ..types.vectors import Vectors
from .bearing import load_bearing, sentence_marks, speaks_of_self
from .question import Recalled
from .quoted_lines import FactReader

MAX_STATEMENTS = 60
MAX_SEARCHED_TURNS = 300  # that are looked through for any statements
MIN_PROFILE_ODDS = 1.0  # logarithm of the odds that a sentence lasts, from which it stands in a profile
_OF_NO_TOPIC = frozenset(terms("know remember tell describe name"))  # of messages that ask who their user is


def find_statements(  # noqa: PLR0913 - where and by what is searched
    store: Store,
    recalled: Recalled,
    scope: Scope,
    exclude: Collection[str],
    *,
    shipped: bool,
    asker: str = "",
    near: Vectors | None = None,
    among: Sequence[Turn] = (),
    facts: FactReader | None = None,
) -> Flow[tuple[Statement, ...]]:
    """Return people's statements on themselves, of each turn the likeliest sentence, the likeliest first.

    Without `near` these are statements that last. With it, the vector of a message by the shipped embedding, moved
    towards what bears on it, they are those nearest to it, whether they last or not, those of the turns `among` too. Of
    a memory of a user and an assistant these are statements of the user, of a group the asker's, if one
    is known, and else, without `near`, every speaker's within the scope. Where turns have no vectors of the shipped
    embedding, the newest turns are read. `facts` reads the stored facts of turns, among them the requests that a model
    found a statement to bear on.
    """
    speakers = store.roster(allow_cached=True).speakers
    named = next((name for name in speakers if name.casefold() == asker.casefold()), None)
    who = named or user_among(speakers)
    own = scope.of_speaker(who)
    if own is None or (near is not None and who is None):
        return ()
    most = MAX_SEARCHED_TURNS if near is None else 2 * MAX_STATEMENTS
    if shipped:
        direction = load_bearing().any_topic if near is None else near
        hits = yield from recalled(own.query("", most, exclude, vector=direction))
        turns = [hit.turn for hit in hits]
    else:
        turns = list(store.turns(replace(own.listing, limit=most, newest=True)))
    left_out = frozenset(exclude)
    by_id = {turn.id: turn for turn in (*turns, *(turn for turn in among if turn.speaker == who))}
    turns = [turn for turn in by_id.values() if turn.id not in left_out and turn.role in (None, "user")]
    return _rank(turns, near, [] if near is None or facts is None else facts([turn.id for turn in turns]))


def _rank(turns: Sequence[Turn], near: Vectors | None, facts: Sequence[Fact]) -> tuple[Statement, ...]:
    """Return the statements in turns, the likeliest or nearest first, of those that say the same the newest."""
    told = [turn for turn in turns if not is_discarded(turn)]
    bearing = {(one.turn_id, _sentence_at(one, told)): one.object for one in facts if one.kind == BEARING}
    read = ((turn, one) for turn in told for one in or_else((), read_sentences, turn.text))
    found = [(turn, one) for turn, one in read if near is not None or one.odds >= MIN_PROFILE_ODDS]
    if not found:
        return ()
    vectors = np.stack([one.vector for _, one in found]).astype(np.float32)
    # Small beside the cosine: what likely lasts, and of that the shorter, since the page has room for more of it.
    lasting = -np.logaddexp(0, -np.array([one.odds for _, one in found]))
    worth = 0.08 * lasting - 0.02 * np.log([len(one.text) for _, one in found])
    if near is not None:
        worth += vectors @ near
        for place, (turn, one) in enumerate(found):
            if requests := bearing.get((turn.id, one.text)):
                worth[place] += float(np.max(_embed_request_kinds(requests) @ near))
    order = np.argsort(-worth, kind="stable").tolist()
    best = list({found[at][0].id: at for at in reversed(order)}.values())[::-1]  # of each turn
    best = best[: 2 * MAX_STATEMENTS] if near is None else best
    alike = vectors[best] @ vectors[best].T
    chosen: list[int] = []
    for place, at in enumerate(best):
        same = [other for other in chosen if alike[place, other] >= 0.9]  # say the same
        if any(found[best[other]][0].time >= found[at][0].time for other in same):
            continue
        at_place = chosen.index(same[0]) if same else len(chosen)
        chosen[at_place : at_place + 1] = [place]
    return tuple(
        Statement(found[at][0], found[at][1].text, float(lasting[at]), float(worth[at]))
        for at in (best[place] for place in (chosen if near is not None else chosen[:MAX_STATEMENTS]))
    )


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a user on themselves.

    Attributes:
        turn: The turn that holds it.
        text: The sentence.
        lasting: The logarithm of the probability that it lasts.
        worth: How near it is to a message, and how likely it lasts; the higher, the better.
    """

    turn: Turn
    text: str
    lasting: float = 0.0
    worth: float = 0.0


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a turn, its vector by the shipped embedding, and the logarithm of the odds that it lasts."""

    text: str
    vector: NDArray[np.float16]
    odds: float


@lru_cache(maxsize=4_096)
def read_sentences(text: str) -> tuple[Sentence, ...]:
    """Return the own sentences of a turn that are short enough to be quoted as statements."""
    said = [one for one in own_sentences_of(text) if len(one.split()) > 1 and len(one) <= 200]
    if not said:
        return ()
    vectors = np.asarray(StaticEmbedder().embed(said), np.float32)
    odds = load_bearing().lasting_odds(vectors, np.array([sentence_marks(one) for one in said], np.float32))
    return tuple(
        Sentence(one, vector.astype(np.float16), float(own))
        for one, vector, own in zip(said, vectors, odds, strict=True)
    )


def _sentence_at(fact: Fact, turns: Sequence[Turn]) -> str:
    """Return the sentence of a turn in which the span of a fact begins; "" where it has none."""
    text = next((turn.text for turn in turns if turn.id == fact.turn_id), "")
    found = (text[start:end] for start, end in sentences(text) if start <= fact.span[0] < end)
    return " ".join(next(found, "").split())


@lru_cache(maxsize=1_024)
def _embed_request_kinds(requests: str) -> Vectors:
    """Return the vectors of kinds of request with commas between them, shape (n, dimension)."""
    return np.asarray(StaticEmbedder().embed([one.strip() for one in requests.split(",") if one.strip()]), np.float32)


def own_sentences_of(text: str) -> list[str]:
    """Return the sentences of a text that are its speaker's own words."""
    from ..extract.attribution import find_own_sentences  # noqa: PLC0415 - only a profile reads whose words they are

    return [" ".join(text[start:end].split()) for start, end in find_own_sentences(text)]


def asks_about_user(message: str) -> bool:
    """Return whether a message asks who its user is, and nothing else ("What do you know about me?", "my name?")."""
    return speaks_of_self(message) and _OF_NO_TOPIC.issuperset(terms(message))
