"""Read the message that a block is for, with the earlier ones that it refers to, and search for it once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Any

from ..errors import or_else
from ..flow import Flow
from ..lang import Language
from ..lang.guess import LANGUAGES, guess_language
from ..loaders.chat_messages import message_words
from ..loaders.json_values import fields_of_object
from ..protocols import Store
from ..query.analysis import find_hints, looked_for, shorten_text
from ..query.find_turns import QuestionVectors, query_of, search_with_hints, user_among
from ..text.memory_fence import without_blocks
from ..text.terms import STOP_WORDS, plainest, terms, words
from ..types.stored import MemoryOverview, Scope
from ..types.values import DateOrder, Hints, Hit, Query, Turn, is_discarded

MAX_EARLIER_MESSAGES = 3  # messages before the newest that a reference is looked up in
WORD_DECAY_RATIO = 0.5  # of the words taken from a message for each that came after it
MAX_REFERENCE_WORDS = 12  # taken from the message just before, and fewer from those before it
MAX_PROMPT_MESSAGES = 50  # of a prompt, the newest, whose turns are left out
FOLLOW_UP_WORDS = 4  # words of a message that is a follow-up without saying so ("Tuesday?")
MAX_READ_CHARACTERS = 1_000  # characters of an earlier message, or of a hit that the gate compares
LEAST, MOST = 24, 200  # turns that a search is asked for
TOKENS_PER_HIT = 12  # tokens of a page for each of them
ASSISTANT_ROLE = "assistant"
FOLLOWED_CHARACTERS = 120  # of the best hit, whose later mentions are looked for
MAX_LATER_HITS, LATER_HITS = 12, 2  # turns of that second search; those of them that are shown
OWN_SCORE_RATIO = 0.5  # of the score of the best hit, from which the asker's own turns come first
Recalled = Callable[[Query], Flow[tuple[Hit, ...]]]  # the best turns for a query, with the facts that they state
ENDS_ASKING = ("?", "\uff1f", "\u061f")
_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*")


@dataclass(frozen=True, slots=True)
class Asked:
    """A message to recall for.

    Attributes:
        text: Its words.
        earlier: The messages before it, the newest first, as far as it refers to them.
        held: The texts of the messages that the prompt holds, to be left out of the block.
        asker: The `name` of who asks, as messages of a group have one; "" without one.
    """

    text: str
    earlier: tuple[str, ...] = ()
    held: frozenset[str] = frozenset()
    asker: str = ""

    def holds(self, text: str) -> bool:
        """Whether the prompt holds a message of this text."""
        return bool(self.held) and comparable(text) in self.held

    @property
    def search_text(self) -> str:
        """The text to search for: the message, and names and nouns of those that it refers to, fewer of each older.

        Beside words of others its own count twice: a message that names its topic is not drowned in the last one.
        """
        found = {word.casefold(): None for word in words(self.text)}
        text = [or_else(self.text, looked_for, self.text)] * (2 if self.earlier else 1)
        for age, earlier in enumerate(self.earlier):
            new = [word for word in or_else([], _telling, earlier) if word.casefold() not in found]
            text += new[: int(MAX_REFERENCE_WORDS * WORD_DECAY_RATIO**age)]
            found |= dict.fromkeys(map(str.casefold, new))
        return " ".join(text)

    @property
    def with_earlier(self) -> str:
        """The message after those that it refers to, a line each, as a reranker reads it."""
        return "\n".join((*(text[:MAX_READ_CHARACTERS] for text in reversed(self.earlier)), self.text_without_context))

    @property
    def text_without_context(self) -> str:
        """The message itself, of a long one its two ends."""
        return or_else(self.text, shorten_text, self.text)


def read_messages(messages: Sequence[Any], newest: str) -> Asked:
    """Return the newest message of the user among messages of a chat, of which `newest` is the text."""
    said = [pair for message in messages[-MAX_PROMPT_MESSAGES:] for pair in _said(message)]
    asked = max((place for place, (role, _) in enumerate(said) if role == "user"), default=0)
    before = tuple(text for _, text in reversed(said[max(0, asked - MAX_EARLIER_MESSAGES) : asked]))
    held = frozenset(comparable(text) for _, text in said)
    refers = bool(before and or_else(None, refers_back, newest))
    return Asked(newest, before if refers else (), held, _asker(messages))


def _asker(messages: Sequence[Any]) -> str:
    """Return the name in the newest message of the user; "" where it has none."""
    recent = reversed(messages[-MAX_PROMPT_MESSAGES:])
    newest = next((one for one in recent if any(r == "user" for r, _ in _said(one))), None)
    held = newest if isinstance(newest, Mapping) else fields_of_object(newest)
    name = held.get("name") if held is not None else None
    return name.strip() if isinstance(name, str) else ""


def _said(message: Any) -> Iterator[tuple[str, str]]:
    """Yield the role and the words of a message of the user or the assistant that has any."""
    if isinstance(message, Mapping) or fields_of_object(message) is not None:
        for role in ("user", "assistant"):
            if (text := without_blocks(message_words(message, role))).strip():
                yield role, text


def comparable(text: str) -> str:
    """Return a text as it is compared with the messages of a prompt."""
    return " ".join(text.split())


def refers_back(text: str) -> bool:
    """Return whether a message refers to the one before it, or is too short to stand for itself."""
    code = guess_language(text)
    is_short = len(words(text)) <= FOLLOW_UP_WORDS
    return is_short or _references(code if code in LANGUAGES else "en").search(text) is not None


def _telling(text: str) -> list[str]:
    """Return the words of a message that may name what a later one refers to, each once."""
    code = guess_language(text)
    idle = STOP_WORDS.union(Language(code).words("common.function_words") if code in LANGUAGES and code != "en" else ())
    said = (match[0] for match in _WORD.finditer(text[:MAX_READ_CHARACTERS]))
    return list(dict.fromkeys(word for word in said if len(word) > 1 and word.casefold() not in idle))


@cache
def _references(code: str) -> re.Pattern[str]:
    listed = "|".join(map(re.escape, sorted(Language(code).words("questions.refers"), key=len, reverse=True)))
    return re.compile(listed if code in ("ja", "zh") else rf"\b(?:{listed})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BlockSearch:
    """The result of a search: its hits, and the hints in the message."""

    hits: tuple[Hit, ...]
    hinted: Hints
    query: Query
    speakers: tuple[str, ...] = ()
    date_order: DateOrder | None = None
    is_pointed: bool = False  # whether the message asks for one value that was told

    @property
    def user(self) -> str | None:
        """Who talks to the assistant; None where that cannot be told, or no assistant speaks."""
        return user_among(self.speakers)

    @property
    def recalls_assistant(self) -> bool:
        """Whether the message asks for words of the assistant ("what did you recommend for the knee?")."""
        return any(name.casefold() == ASSISTANT_ROLE for name in self.hinted.names)


def search_for_reply(  # noqa: PLR0913, PLR0917 - where and how is searched
    store: Store,
    recalled: Recalled,
    asked: Asked,
    tokens: int,
    asked_at: datetime | None,
    exclude: Collection[str],
    scope: Scope,
    vectors: QuestionVectors,
    move: Callable[[Any], Any] | None = None,
    rerank_depth: int = 0,
) -> Flow[BlockSearch]:
    """Search once for a message, with the messages that it refers to, for as many hits as are to be reranked.

    In a memory of a user and an assistant, `move` moves the vector of the message towards statements that bear on it.
    """
    text = asked.search_text
    most = max(LEAST, min(MOST, tokens // TOKENS_PER_HIT), rerank_depth)

    def read_hints(known: MemoryOverview) -> Hints:
        return find_hints(asked.text, known.speakers, asked_at or known.last, known.date_order, asker=asked.asker)

    def recall(found: Hints) -> Flow[BlockSearch]:
        vector = yield from vectors.vector_of(text)
        if move is not None and vector is not None and user_among(store.roster(allow_cached=True).speakers) is not None:
            vector = move(vector)
        query = query_of(text, most + len(asked.held), found, scope.query(exclude=exclude), vector)
        hits = yield from recalled(query)
        hits = tuple(hit for hit in hits if _may_be_quoted(hit.turn, asked))
        return BlockSearch(_asker_hits_first(hits, asked.asker, found)[:most], found, query)

    known, found = yield from search_with_hints(store, read_hints, recall, allow_cached=True)
    return replace(found, speakers=known.speakers, date_order=known.date_order)


def find_later(
    recalled: Recalled, found: BlockSearch, exclude: Collection[str], scope: Scope, asked: Asked
) -> Flow[tuple[Hit, ...]]:
    """Look up what the best hit names and the message does not, and return the turns after it that have most of it."""
    if not found.hits:
        return ()
    best = found.hits[0]
    text = (best.turn.text[slice(*best.span)] if best.span else best.turn.text)[:FOLLOWED_CHARACTERS]
    said = terms_in(asked.text)
    named = [word for word in words(text) if said.isdisjoint(terms_in(word))]
    if not (added := terms_in(" ".join(named))):
        return ()
    left_out = frozenset(exclude) | {best.turn.id}
    own = scope.of_speaker(found.user) or scope
    query = own.query(" ".join(named), MAX_LATER_HITS, left_out, bare=True, any_of=(*sorted(added),))
    hits = yield from recalled(query)
    later = (hit for hit in hits if hit.turn.time > best.turn.time and _may_be_quoted(hit.turn, asked))
    return tuple(islice(later, LATER_HITS))


def terms_in(text: str) -> frozenset[str]:
    """Return the terms of a text, its plain words where these cannot be read."""
    return frozenset(or_else([], terms, text) or plainest(text))


def _may_be_quoted(turn: Turn, asked: Asked) -> bool:
    """Return whether a turn may stand on a page: no system prompt, no discarded reply, no message of the prompt."""
    return turn.role != "system" and not asked.holds(turn.text) and not is_discarded(turn)


def _asker_hits_first(hits: tuple[Hit, ...], asker: str, hinted: Hints) -> tuple[Hit, ...]:
    """Return hits with those first that the asker of a group said, where the question is about the asker alone.

    They count as much as the best hit if they have half of its score: several people say the same of themselves.
    """
    if not hits or [name.casefold() for name in hinted.names] != [asker.casefold()]:
        return hits
    best, least = hits[0].score, OWN_SCORE_RATIO * hits[0].score
    own = [hit for hit in hits if hit.turn.speaker.casefold() == asker.casefold() and hit.score >= least]
    return (*(replace(hit, score=best) for hit in own), *(hit for hit in hits if hit not in own))


def asks(turn: Turn) -> bool:
    """Return whether a turn ends in a question."""
    return turn.text.rstrip(" \n\"')\u201d*").endswith(ENDS_ASKING)
