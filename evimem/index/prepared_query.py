"""A query prepared for one corpus: its terms with their postings, the words that mean them, and its vector.

`Query` (a caller's words) -> `IndexQuery` (the index's own numbers) -> `PreparedQuery` (looked up in a corpus).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..embedding.static_embedder import SHIPPED, VOCABULARY
from ..errors import or_else
from ..lang import ENGLISH
from ..protocols import VectorIndex
from ..text.misspellings import (
    MAX_MISTYPED_WORDS,
    SHARED_LETTERS,
    first_found,
    likely_terms,
    may_be_mistyped,
    terms_two_edits_away,
    terms_with_other_particles,
)
from ..text.terms import STOP_WORDS, plainest, stem, terms, vocabulary_stems, words
from ..types.stored import Keyword
from ..types.vectors import products
from .corpus import DISCARDED_ROW, NEVER, SYSTEM, Corpus, Interval, Posting
from .weights import WEIGHTS, Weights

MOST_TERMS = 256  # of a query that are looked up; four thousand characters of a chat in English rarely have more
RARE_TERM_ROWS = 64  # a term of fewer rows is never too common to tell anything
SHARE_UNIT = 1024  # shares of related words are whole numbers of this, so that they sum exactly in any order
_NAMED = re.compile(r"(?<=[\w,;'\u2019] )[A-Z][\w'\u2019]*")
_SLICE_ROWS = 4_096  # rows turned into floats at once: they fit into the cache of a core


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """A query in the index's numbers.

    `before`, `after`, `speaker`, `session`, `role`, `exclude`, `among`, `holding` and `any_of` are hard filters;
    `names`, `times`, `when`, `recalls` and `several` are priors. Times are microseconds (see `instant`) in
    half-open intervals, speakers and sessions the ordinals of the corpus, `role` an index in `ROLES`, `exclude` and
    `among` numbers of turns, `holding` terms that a turn must have, and `any_of` terms of which a passage must have
    one; `vector` has shape (dimension,). `weights` say how much the
    parts of a score count.
    """

    text: str
    vector: NDArray[np.float32] | None = None
    names: frozenset[int] = frozenset()
    times: tuple[tuple[int, int], ...] = ()
    when: bool = False
    recalls: bool = False
    before: int | None = None
    after: int | None = None
    speaker: int | None = None
    session: int | None = None
    exclude: frozenset[int] = frozenset()
    weights: Weights = WEIGHTS
    role: int | None = None
    among: NDArray[np.int64] | None = None
    holding: tuple[str, ...] = ()
    several: bool = False
    any_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranked:
    """One turn found, by its best passage.

    `turn` is its number, `position` the row of the passage; `parts` sum to `score`; `neighbours` are the numbers of the
    turns around it that count in its score.
    """

    turn: int
    position: int
    score: float
    parts: Mapping[str, float] = field(default_factory=dict, hash=False)
    neighbours: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RelatedTerm:
    """A term of the same meaning as an asked one: its posting, and how much it counts, in units of 1 / SHARE_UNIT."""

    posting: Posting
    share: int


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A term to look for: its weight (idf times its count in the query), its posting, and the terms related to it."""

    name: str
    weight: float
    posting: Posting
    related: tuple[RelatedTerm, ...]


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A query looked up in a corpus: shared by every step of a ranking.

    `total` is the weight of all its terms together, whether any turn has them or not. `direction` is its vector in
    whole numbers, shape (dimension,); None without one. `allowed` says by position which rows its filters let through,
    `index` finds the nearest of all vectors; without one all are compared.
    """

    query: IndexQuery
    corpus: Corpus
    terms: tuple[QueryTerm, ...]
    total: float
    direction: NDArray[np.float32] | None
    allowed: NDArray[np.bool_]
    index: VectorIndex | None

    def products(self, positions: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the products of the direction with the vectors of rows: below 2 ** 24, exact in any order."""
        assert self.direction is not None
        corpus, dots = self.corpus, np.empty(len(positions), np.float32)
        for start in range(0, len(positions), _SLICE_ROWS):
            some = slice(start, start + _SLICE_ROWS)
            rows = corpus.vectors.take(positions[some], axis=0, mode="wrap")
            dots[some] = products(rows.astype(np.float32), self.direction)
        return dots.astype(np.float64) * corpus.scale[positions]


def prepare(query: IndexQuery, corpus: Corpus, index: VectorIndex | None = None) -> PreparedQuery:
    """Look the terms of a query up in a corpus; terms are in alphabetical order.

    Of a text with more than MOST_TERMS different ones, the first and the last are looked up: no question is as long,
    and a text without spaces has more of them than characters.

    A term that every fourth row has tells too little for the price of reading its posting, so it counts only where
    there is no other: in a conversation of two, that is their names, which the speaker part reads better.
    """
    counts = Counter(or_else([], terms, query.text) or plainest(query.text))
    names = list(counts)
    if len(names) > MOST_TERMS:
        names = names[: MOST_TERMS // 2] + names[-MOST_TERMS // 2 :]
    asked = frozenset(names)
    surfaces = _words_by_term(query.text, asked) if query.weights.related else {}
    near = {name: _related_terms(surfaces.get(name, ()), asked, query.weights.floor) for name in names}
    corpus.prefetch_terms([*names, *(term for some in near.values() for term, _ in some)])
    postings = {name: corpus.posting(name) for name in sorted(names)}
    missing = frozenset(name for name, posting in postings.items() if not len(posting) and not near[name])
    respelled = _respell(query.text, asked, missing, corpus) if query.weights.related else {}
    rare = {name: found for name, found in postings.items() if not is_common(len(found), corpus)}
    found = []
    total = 0.0
    for name, posting in (rare or postings).items():
        idf = corpus.idf(len(posting))
        total += counts[name] * idf
        others = _weigh_related(near[name], idf, corpus, query.weights) + _respelled_terms(
            respelled.get(name, ()), idf, corpus
        )
        if len(posting) or others:
            found.append(QueryTerm(name, counts[name] * idf, posting, others))
    direction = _direction(query.vector, corpus.dimension)
    return PreparedQuery(query, corpus, tuple(found), total, direction, _returnable_positions(query, corpus), index)


def _returnable_positions(query: IndexQuery, corpus: Corpus) -> NDArray[np.bool_]:
    """Return for every position whether it may be returned; instructions of a system only where they are asked for."""
    mask = corpus.alive.copy()
    if query.speaker is not None:
        mask &= corpus.speaker == query.speaker
    if query.session is not None:
        mask &= corpus.session == query.session
    roles = corpus.role & ~np.uint8(DISCARDED_ROW)
    mask &= roles != SYSTEM if query.role is None else roles == query.role
    if query.among is not None:
        mask &= np.isin(corpus.turn, query.among)
    if query.before is not None or query.after is not None:
        mask &= _in_time(query, corpus)
    if query.holding:
        mask &= np.isin(corpus.turn, corpus.turns_with_terms(query.holding))
    if query.any_of:
        corpus.prefetch_terms(query.any_of)
        named = np.zeros(len(mask), np.bool_)
        named[np.concatenate([corpus.posting(term).positions for term in query.any_of])] = True
        mask &= named
    if query.exclude:
        mask[corpus.rows_of(query.exclude)] = False
    return mask


def _in_time(query: IndexQuery, corpus: Corpus) -> NDArray[np.bool_]:
    """Event time where the turn's facts have one, said time otherwise; an interval counts when it overlaps."""
    has_event = corpus.event_start != NEVER
    start = np.where(has_event, corpus.event_start, corpus.time)
    end = np.where(has_event, corpus.event_end, corpus.time + 1)
    mask = np.ones(len(corpus), np.bool_)
    if query.before is not None:
        mask &= start < query.before
    if query.after is not None:
        mask &= end > query.after
    for position in corpus.rows_with_several_times:
        mask[position] = any(overlaps(event, query) for event in corpus.events(int(position)))
    return mask


def overlaps(interval: Interval, query: IndexQuery) -> bool:
    """Return whether a half-open interval meets after <= t < before."""
    start, end = interval
    return (query.before is None or start < query.before) and (query.after is None or end > query.after)


def is_common(frequency: int, corpus: Corpus) -> bool:
    """Return whether so many rows have a term that it tells nothing."""
    return frequency > max(RARE_TERM_ROWS, corpus.rows // 4)


def _words_by_term(text: str, asked: frozenset[str]) -> dict[str, list[str]]:
    """Return the words of a text by those terms; names, which mean nothing but themselves, are left out."""
    names = {word for name in set(_NAMED.findall(text)) for word in words(name)}
    found: dict[str, list[str]] = {}
    for word in dict.fromkeys(words(text)):
        if word not in names and (term := stem(word)) in asked:
            found.setdefault(term, []).append(word)
    return found


def _related_terms(surfaces: Sequence[str], asked: frozenset[str], floor: float) -> list[tuple[str, float]]:
    """Return the terms that mean one of these words and are not asked for, each with its closeness."""
    found = sorted(_nearest(*surfaces).items())
    return [(term, closeness) for term, closeness in found if closeness > floor and term not in asked]


def _respell(text: str, asked: frozenset[str], missing: frozenset[str], corpus: Corpus) -> dict[str, Sequence[str]]:
    """Return the other terms that words of a text may stand for, by the terms of these words.

    For a word whose term is `missing`, those one edit away; without any, for a long word, those two edits away. For a
    Korean word, its noun with other particles.
    """
    distinct = dict.fromkeys(words(text))
    particles = {word: other for word in distinct if (other := terms_with_other_particles(word)) and word in asked}
    named = {word for name in _NAMED.findall(text) for word in words(name)}
    mistyped = {
        term: word
        for word in (distinct if missing else ())
        if (term := stem(word)) in missing and may_be_mistyped(word, text, named=word in named)
    }
    candidates = {term: likely_terms(word) for term, word in islice(mistyped.items(), MAX_MISTYPED_WORDS)}
    candidates |= {word: (others,) for word, others in particles.items()}
    if not candidates:
        return {}
    corpus.prefetch_terms([other for groups in candidates.values() for group in groups for other in group])
    found: dict[str, Sequence[str]] = {}
    for term, groups in candidates.items():
        found[term] = first_found(groups, lambda other: other not in asked and len(corpus.posting(other)) > 0)
        if not found[term] and term in mistyped:
            found[term] = terms_two_edits_away(mistyped[term], corpus.terms_beginning(term[:SHARED_LETTERS]))
    return found


def _respelled_terms(respelled: Sequence[str], idf: float, corpus: Corpus) -> tuple[RelatedTerm, ...]:
    """Return the terms that a word may be another spelling of; one that tells less than the word counts less."""
    postings = (posting for posting in map(corpus.posting, respelled) if len(posting))
    # A term that may be another spelling of a word has three quarters of its weight.
    shares = (
        (posting, 0.75 * min(1.0, corpus.idf(len(posting)) / idf))
        for posting in postings
        if not is_common(len(posting), corpus)
    )
    return tuple(RelatedTerm(posting, round(SHARE_UNIT * share)) for posting, share in shares)


def _weigh_related(
    near: Sequence[tuple[str, float]], idf: float, corpus: Corpus, weights: Weights
) -> tuple[RelatedTerm, ...]:
    """Return the terms near to one, each with its closeness; one that tells less than it does counts less."""
    found = []
    for term, closeness in near:
        posting = corpus.posting(term)
        if not len(posting) or is_common(len(posting), corpus):
            continue
        share = weights.related * (closeness - weights.floor) / (1 - weights.floor)
        share *= min(1.0, corpus.idf(len(posting)) / idf)
        found.append(RelatedTerm(posting, round(SHARE_UNIT * share)))
    return tuple(found)


def _direction(vector: NDArray[np.float32] | None, dimension: int) -> NDArray[np.float32] | None:
    """Return a vector in whole numbers, small enough for products with int8 rows to sum exactly in float32."""
    if vector is None:
        return None
    peak = float(np.abs(vector).max(initial=0.0))
    if peak == 0.0:
        return None
    levels = min(127, (1 << 24) // (127 * dimension))
    whole: NDArray[np.float32] = np.rint(vector * (levels / peak)).astype(np.float32)
    return whole


TABLE = Path(__file__).with_name("data") / "related.bin"
RELATED_TERMS = 8
ENTRY = np.dtype([("piece", "<u2"), ("cosine", "u1")])  # cosine in 255ths; 0 where there is no further word


@lru_cache(maxsize=1 << 14)
def stems_meaning(word: str) -> tuple[tuple[str, float], ...]:
    """Return the stems that mean a word: the nearest ones with their cosines, and the instances of a kind with 1."""
    return (*nearest_stems(word), *((term, 1.0) for term in instances(stem(word))))


def nearest_stems(word: str) -> tuple[tuple[str, float], ...]:
    """Return the stems nearest to a word, each with its cosine, nearest first; nothing for an unknown word."""
    number = _numbers().get(word) if is_word(word) else None
    if number is None:
        return ()
    stems = vocabulary_stems()
    return tuple((stems[entry["piece"]], int(entry["cosine"]) / 255) for entry in _table()[number] if entry["cosine"])


def is_word(piece: str) -> bool:
    """Return whether a piece of the vocabulary is a word of its own that carries meaning."""
    return len(piece) > 2 and piece.isascii() and piece.isalpha() and piece not in STOP_WORDS


@lru_cache(maxsize=1)
def _numbers() -> dict[str, int]:
    lines = SHIPPED.with_name(VOCABULARY).read_text(encoding="utf-8").split("\n")
    return dict(zip(lines, range(len(lines)), strict=True))


@lru_cache(maxsize=1)
def _table() -> NDArray[np.void]:
    return np.frombuffer(TABLE.read_bytes(), ENTRY).reshape(-1, RELATED_TERMS)


def instances(term: str) -> tuple[str, ...]:
    """Return the stems of the instances of a kind ("instrument": "piano"), or nothing where the term names no kind."""
    return tuple(dict.fromkeys(map(stem, _load_kinds().get(term, ()))))


@lru_cache(maxsize=1)
def _load_kinds() -> dict[str, tuple[str, ...]]:
    kinds: dict[str, tuple[str, ...]] = {}
    for names, members in ENGLISH.lists("kinds.instances").items():
        for name in map(stem, names.split()):
            kinds[name] = (*kinds.get(name, ()), *members)
    return kinds


def _nearest(*words: str) -> dict[str, float]:
    """Return the stems that mean one of some words, each with its largest closeness."""
    near: dict[str, float] = {}
    for word in words:
        for term, closeness in stems_meaning(word):
            near[term] = max(near.get(term, 0.0), closeness)
    return near


MOST_NEAR = 3  # keywords that stand for a word which no turn has


def match_keywords(words: Sequence[str], turns_with: Callable[[str], int]) -> tuple[Keyword, ...]:
    """Return the keywords that words match, each once; `turns_with` counts the turns that have a term.

    For a word that no turn has stand the `MOST_NEAR` nearest to it that some turn has.
    """
    found: dict[str, Keyword] = {}
    for word in words:
        own = [Keyword(word, term, count) for term in dict.fromkeys(terms(word)) if (count := turns_with(term))]
        near = [] if own else sorted(_nearest(word.casefold()).items(), key=lambda pair: (-pair[1], pair[0]))
        others = (Keyword(word, term, count, close) for term, close in near if (count := turns_with(term)))
        for keyword in own or islice(others, MOST_NEAR):
            known = found.get(keyword.term)
            if known is None or known.closeness < keyword.closeness:
                found[keyword.term] = keyword
    return tuple(found.values())
