"""A text in, a query out: the query of `Memory.search` and of every search of a loop.

Where the embedder gives no vector, a question is searched for by its words. Standing instructions are requests of a
user once and for all, such as "always give me metric units". Only a memory of one user and an assistant has them: text
that any other speaker says is data, and so is text that the user quotes or passes on.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any

from ..errors import DimensionMismatch, EmbedderError, InvalidQuery, UnknownTurn, shown
from ..flow import Flow, Rerank, embed
from ..lang import ENGLISH, Language
from ..lang.guess import LANGUAGES, guess_language
from ..protocols import Store
from ..text.sentences import sentences
from ..text.terms import terms
from ..times import locate_times
from ..types.stored import EVERYTHING, MemoryOverview, Scope
from ..types.type_variables import T
from ..types.values import FactHit, Hints, Hit, Query, TimeSpan, Turn
from .analysis import check_asked, find_hints, looked_for

_LOG = logging.getLogger("evimem")
MOST_READ = 200  # characters of a phrase that names an interval

FACTS_PER_TURN = 4  # facts looked for, for each turn that is wanted

MOST_WISHES = 5  # the newest of them

RERANK_PART = "rerank"  # of `Hit.parts`: how far a reranker moved a hit
# The boundaries of a word: no boundary where words are not spaced, and in Hindi a sign is part of one.
_BOUNDS = {"ja": ("", ""), "zh": ("", ""), "hi": (r"(?<![\u0900-\u0963])", r"(?![\u0900-\u0963])")}


class QuestionVectors:
    """The vectors of the queries of one question, each embedded once.

    Where the embedder fails, that query and all further ones are searched for by their words: a question is not refused
    for its derived vectors, nor does it wait again and again for a service that is down.

    Attributes:
        by_words: The queries without a vector that are not reported yet.
    """

    def __init__(self) -> None:
        self.by_words: tuple[str, ...] = ()
        self._vectors: dict[str, Any] = {}
        self._failed = False

    def vector_of(self, text: str) -> Flow[Any]:
        """Return the vector of a query, shape (dimension,); None, with one warning in the log, where there is none.

        Raise DimensionMismatch where the embedder is another than the memory was built with.
        """
        if text not in self._vectors:
            self._vectors[text] = None if self._failed else (yield from self._embed(text))
            self.by_words += (text,) if self._vectors[text] is None else ()
        return self._vectors[text]

    def _embed(self, text: str) -> Flow[Any]:
        try:
            return (yield from embed([text]))[0]
        except EmbedderError as error:
            failure: Exception = error
        except DimensionMismatch as error:
            if not (yield from texts_are_at_fault(error)):
                raise
            failure = error
        self._failed = True
        _LOG.warning("a question is searched for by its words alone: the embedder failed (%s)", cause_of(failure))
        return None


def texts_are_at_fault(error: EmbedderError | DimensionMismatch) -> Flow[bool]:
    """Return whether the texts are why an embedder failed: they may be, and a text that cannot be is embedded."""
    if isinstance(error, EmbedderError) and (error.of_texts is False or error.retry_after is not None):
        return False
    try:
        # Any embedder can embed "hello".
        yield from embed(("hello",))
    except (EmbedderError, DimensionMismatch):
        return False
    return True


def cause_of(error: BaseException) -> str:
    """Return the type of an embedder's exception: its message may quote the text."""
    return type(error.__cause__ or error).__name__


def build_query(store: Store, text: str, k: int, within: Query, asked_at: datetime | None = None) -> Flow[Query]:
    """Return the query for a text; see `run_query`."""

    def itself(query: Query) -> Flow[Query]:
        yield from ()
        return query

    return (yield from run_query(store, text, k, within, asked_at, itself))


def run_query(
    store: Store,
    text: str,
    k: int,
    within: Query,
    asked_at: datetime | None,
    recall: Callable[[Query], Flow[T]],
    *,
    allow_cached: bool = False,
) -> Flow[T]:
    """Recall by the query for a text, with the filters of another; `allow_cached` as in `search_with_hints`.

    Raise InvalidQuery for an empty or endless text or a k below 1.
    """
    check_asked("query", text)
    text = looked_for(text)
    if not isinstance(k, int) or k < 1:
        raise InvalidQuery(f"k is {shown(k)}; expected a whole number from 1 on")
    vectors = QuestionVectors()

    def read_hints(known: MemoryOverview) -> Hints:
        check_clock("before", within.before, known.last)
        check_clock("after", within.after, known.last)
        return find_hints(text, known.speakers, asked_at or known.last, known.date_order)

    def recall_found(found: Hints) -> Flow[T]:
        return (yield from recall(query_of(text, k, found, within, (yield from vectors.vector_of(text)))))

    return (yield from search_with_hints(store, read_hints, recall_found, allow_cached=allow_cached))[1]


def search_with_hints(
    store: Store, hinted: Callable[[MemoryOverview], Hints], recall: Callable[[Hints], Flow[T]], *, allow_cached: bool
) -> Flow[tuple[MemoryOverview, T]]:
    """Recall by the hints of a text, which depend on who speaks; return the speakers and the hits.

    A remote store is not waited for to know who speaks where the recall itself shows it (`allow_cached`): it
    recalls again where the hints are then others.
    """
    known = store.roster(allow_cached=allow_cached)
    found = hinted(known)
    while True:
        recalled = yield from recall(found)
        before, known = known, store.roster(allow_cached=True) if known.seen else known
        if known == before or found == (found := hinted(known)):
            return known, recalled


def query_of(text: str, k: int, hinted: Hints, within: Query, vector: Any, *, when: bool = False) -> Query:
    """Return the query for a text, with its hints, the filters of another, and a vector, shape (dimension,), or None.

    With `when`, turns that speak of time come first even where the text does not ask for one.
    """
    priors = {"names": hinted.names, "times": hinted.times, "recalls": hinted.recalls, "several": hinted.several}
    return replace(within, text=text, k=k, vector=vector, when=when or hinted.when, **priors)  # type: ignore[arg-type]


def interval(during: str | TimeSpan, today: datetime | None) -> TimeSpan:
    """Return the interval of a phrase, or the one given. Raise InvalidQuery for a phrase of none or of several."""
    found = [during] if isinstance(during, TimeSpan) else []
    if isinstance(during, str) and today is not None:
        found = [located.time for located in locate_times(during[:MOST_READ], today)]
    if len(found) != 1 or found[0].start is None or found[0].end is None:
        raise InvalidQuery(f"during is {shown(during)}; expected one time, such as 'March 2024', or a TimeSpan")
    check_clock("during", found[0].start, today)
    return found[0]


def check_clock(name: str, bound: datetime | None, last: datetime | None) -> None:
    """Raise InvalidQuery for a bound that cannot be compared with the times of a memory."""
    if bound is not None and last is not None and (bound.tzinfo is None) != (last.tzinfo is None):
        kept = "naive" if last.tzinfo is None else "aware"
        raise InvalidQuery(
            f"{name} is {bound.isoformat()!r} but this memory holds {kept} times; give it the same "
            "kind, or open the memory with timezone=, the zone in which naive times are read"
        )


def turns_of_facts(facts: Sequence[FactHit]) -> tuple[Hit, ...]:
    """Return the turns of facts, best first, each with its facts that were found and the place of the best."""
    stating: dict[str, list[FactHit]] = defaultdict(list)
    for one in facts:
        stating[one.turn.id].append(one)
    return tuple(
        Hit(best.turn, tuple(one.fact for one in (best, *rest)), best.score, best.parts, "facts", (), best.fact.span)
        for best, *rest in stating.values()
    )


def fuse_rankings(by_words: Sequence[Hit], by_facts: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the turns of two rankings in one, by their places in both; of a turn in both, the hit by its words."""
    hits = {hit.turn.id: hit for hit in (*by_facts, *by_words)}
    parts: dict[str, dict[str, float]] = defaultdict(dict)
    for name, found in (("turns", by_words), ("facts", by_facts)):
        for place, hit in enumerate(found, start=1):
            # Reciprocal rank fusion with its constant of 60 (Cormack et al. 2009).
            parts[hit.turn.id][name] = 1 / (60.0 + place)
    placed = [
        Hit(hit.turn, hit.facts, sum(parts[turn_id].values()), parts[turn_id], "both", hit.neighbours, hit.span)
        for turn_id, hit in hits.items()
    ]
    return tuple(sorted(placed, key=lambda hit: -hit.score))


@dataclass(frozen=True, slots=True)
class StandingInstruction:
    """A sentence of the user that says how to answer, and when it was said."""

    turn: Turn
    text: str

    @property
    def time(self) -> datetime:
        """When it was said."""
        return self.turn.time


def standing_wishes(
    store: Store, speakers: Sequence[str], scope: Scope = EVERYTHING
) -> tuple[StandingInstruction, ...]:
    """Return the newest standing wishes, within a scope, of the user among a memory's speakers, oldest first."""
    who = user_among(speakers)
    own = None if who is None else scope.of_speaker(who)
    if own is None:
        return ()
    # Take 30 turns of the user that have words of standing instructions,
    hits = store.recall(own.query(" ".join(cues("en")), 30, bare=True))
    newest = sorted({wish.text: wish for wish in wishes_of(hits, who)}.values(), key=lambda wish: wish.time)
    return tuple(newest[-MOST_WISHES:])


def relevant_instructions(store: Store, query: Query, speakers: Sequence[str]) -> tuple[StandingInstruction, ...]:
    """Return the standing instructions of the user that are nearest in meaning to a query, the nearest first."""
    who = user_among(speakers)
    if who is None or query.speaker not in (None, who):
        return ()
    code = _language(query.text, "en")
    found_by = {term for one in {"en", code} for term in terms(" ".join(cues(one)))}
    # and of these the 12 nearest to the question.
    near = replace(query, text="", k=12, speaker=who, names=(), times=(), when=False, any_of=(*sorted(found_by),))
    hits = store.recall(near, facts=False)
    return tuple({wish.text: wish for wish in wishes_of(hits, who, code)}.values())


def wishes_of(hits: Sequence[Hit], who: str | None, spoken: str = "en") -> Iterator[StandingInstruction]:
    """Yield the wishes in turns of the user, in their order; `spoken` as in `wishes_in`."""
    for hit in hits:
        if hit.turn.speaker == who and hit.turn.role in (None, "user"):
            yield from (StandingInstruction(hit.turn, wish) for wish in wishes_in(hit.turn.text, spoken))


def user_among(speakers: Sequence[str]) -> str | None:
    """Return the speaker who talks to the assistant; None where there is none, or it is ambiguous."""
    called = {speaker.casefold(): speaker for speaker in speakers}
    if "assistant" not in called or len(called) != 2:
        return None
    return next(speaker for name, speaker in called.items() if name != "assistant")


def wishes_in(text: str, spoken: str = "en") -> Iterator[str]:
    """Yield the own sentences of a text that say how to answer from now on.

    `spoken` is the language of one too short to tell.
    """
    from ..extract.attribution import find_own_sentences  # noqa: PLC0415 - only a turn that may have a wish is read

    forms = _forms(_language(text, spoken))

    def wishes(ranges: Sequence[tuple[int, int]]) -> list[str]:
        said = (" ".join(text[start:end].split()) for start, end in ranges)
        # A sentence that sets a standing instruction has at most 300 characters.
        return [one for one in said if len(one) <= 300 and any(form.search(one) for form in forms)]

    # Whose words they are is read of the few turns that have such a sentence.
    yield from wishes(find_own_sentences(text)) if wishes(sentences(text)) else ()


@cache
def cues(code: str) -> tuple[str, ...]:
    """Return the words of a language by which turns with a wish are found."""
    return Language(code).words("wishes.cues")


def _language(text: str, otherwise: str) -> str:
    code = guess_language(text)
    return code if code in LANGUAGES else otherwise


@cache
def _forms(code: str) -> tuple[re.Pattern[str], ...]:
    return tuple(
        re.compile(form, re.IGNORECASE)
        for form in (_english_instruction_patterns() if code == "en" else _foreign_instruction_patterns(code))
    )


def _english_instruction_patterns() -> Iterator[str]:
    listed = ENGLISH.any_of_source
    verb = rf"(?:please\s+)?{listed('wishes.verbs')}\b"
    asking = rf"(?:{listed('wishes.asking')},?\s+)"
    now = listed("wishes.from_now_on")
    # Any verb as one commands with it: "always round up" is a wish, "always lost" and "never mind" are none.
    open_verb = rf"(?:please\s+)?(?!{listed('wishes.no_wishes')}\b|\w+(?:ed|ing|[^s]s)\b)[a-z]\w+\b"
    yield rf"(?:^|[,;:]\s*){listed('wishes.standing')}\s+{open_verb}"
    yield rf"\b{asking}+{listed('wishes.standing')}\s+{open_verb}"
    yield rf"^{asking}*{listed('wishes.whenever')}\s+I\s+{listed('wishes.saying')}\b.*,"
    yield rf"^(?:(?:and|but|also)\s+)?{listed('wishes.preferring')}\b"
    yield rf"(?:^|[,;:]\s*){now},?\s+{asking}*{verb}"
    yield rf"^{asking}*{verb}.*\b{now}\W*$"


def _foreign_instruction_patterns(code: str) -> Iterator[str]:
    """Yield forms with a word for "always", "never" or "from now on" and a verb as one asks for something with it.

    The verb opens the sentence after such words and polite ones; in Hindi and Japanese it ends the sentence.
    """
    language = Language(code)
    before, after = _BOUNDS.get(code, (r"\b", r"\b"))
    standing, asking, verbs, preferring = (
        f"{before}{language.any_of_source(f'wishes.{name}')}{after}"
        for name in ("standing", "asking", "verbs", "preferring")
    )
    if code in {"hi", "ja"}:
        yield rf"{standing}.*{verbs}\W*$"
        yield rf"{preferring}\W*$"
        return
    led = rf"^(?:(?:{asking}|{standing})[\s,\uff0c\u060c]*)*"
    yield rf"(?=.*{standing}){led}{verbs}"
    yield rf"{led}{preferring}"


def rerank_hits(query: str, hits: Sequence[Hit], depth: int) -> Flow[tuple[Hit, ...]]:
    """Return hits with the first `depth` in the order of the reranker, ties in their own order; with 0, as they are.

    The scores of these hits are dealt out again in the new order, so that the best hit has the highest one and scores
    stay comparable with those of the rest. `parts` tells how far the reranker moved each.
    """
    first = hits[:depth]
    if len(first) < 2:
        return tuple(hits)
    scores: Sequence[float] | None = yield Rerank(query, tuple(map(passage_text, first)))
    if scores is None:
        return tuple(hits)
    order = sorted(range(len(first)), key=lambda place: -scores[place])
    dealt = sorted((hit.score for hit in first), reverse=True)
    moved = (_with_score(first[place], score) for place, score in zip(order, dealt, strict=True))
    return (*moved, *hits[depth:])


def passage_text(hit: Hit) -> str:
    """Return the words of a hit that a reranker reads: who says the passage that was found, and its caption."""
    turn = hit.turn
    said = turn.text[slice(*hit.span)] if hit.span else turn.text
    return f"{turn.speaker}: {said} {turn.caption or ''}".rstrip()


def _with_score(hit: Hit, score: float) -> Hit:
    return replace(hit, score=score, parts={**hit.parts, RERANK_PART: score - hit.score})


def stored_ids(store: Store, turn_ids: Sequence[str]) -> tuple[str, ...]:
    """Return those of these ids whose turns are stored."""
    return tuple(id for id, turn in zip(turn_ids, store.find(turn_ids), strict=True) if turn is not None)


def read_remaining(store: Store, read: Callable[[Sequence[str]], T], turn_ids: Sequence[str]) -> T:
    """Return the result of a reading of the turns of these ids; those are left out that were forgotten since.

    A reading that finds all of them costs nothing more.
    """
    try:
        return read(turn_ids)
    except UnknownTurn:
        return read_remaining(store, read, stored_ids(store, turn_ids))
