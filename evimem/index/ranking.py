"""The best turns for a query, each by its best passage: candidates first, then the full score on them only.

A score is the sum of named parts:
words, related   BM25 over a passage and its neighbours (Robertson and Zaragoza 2009)
meaning          the cosine of the query with the passage's vector, smoothed over its neighbours
asks, brief, speaker, date, when, passages, user, rule   priors that need no neighbours

Everything is elementwise or an exact sum of whole numbers, so that a row's score does not depend on which rows are
scored with it, and a rebuilt memory ranks to the bit as the one it was built from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types.values import ROLES
from .corpus import DISCARDED_ROW, NEVER, Corpus
from .dialogue import NO_POSITION, Neighbourhood, decay, distinct, rows_around_turns
from .document import MAX_PASSAGES
from .prepared_query import SHARE_UNIT, IndexQuery, PreparedQuery, Ranked, RelatedTerm
from .weights import Weights

DAY_MICROSECONDS = 86_400_000_000  # microseconds
USER = ROLES.index("user")
_ASKED_BITS = 32  # counts are summed as stated + asked << _ASKED_BITS
_STATED = (1 << _ASKED_BITS) - 1
_SLICE_ROWS = 512  # rows whose smoothed vectors are made at once: they fit into the cache of a core
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scored:
    """Rows with their parts; `total` is the parts summed in their order."""

    positions: NDArray[np.int32]
    parts: dict[str, Scores]
    neighbours: Neighbourhood

    @property
    def total(self) -> Scores:
        total: Scores = np.zeros(len(self.positions))
        for part in self.parts.values():
            total = np.add(total, part)
        return total


def score(prepared: PreparedQuery, positions: NDArray[np.int32], most: int | None = None, k: int = 0) -> Scored:
    """Return the parts of the scores of rows: of all of them, or of the `most` promising ones.

    A cheap estimate says which are promising. They are rows of at least `k` turns, if there are so many.
    """
    corpus, weights = prepared.corpus, prepared.query.weights
    near = corpus.smoothing.neighbourhood(
        corpus.dialogue, corpus.speaker, corpus.turn, positions, weights, most_asking(corpus, weights)
    )
    asking = question_share(corpus, near.places, weights)
    words, others = lexical(prepared, near, asking), priors(prepared, positions, asking[near.rows[0]])
    if most is not None and len(positions) > most:
        estimates = np.sum(
            [*words.values(), *others.values(), weights.meaning * nearest_cosines(prepared, near)], axis=0
        )
        chosen = positions_of_largest(estimates, most)
        if (
            len(first_row_of_each_turn(corpus.turn[np.sort(positions[chosen])])) < k
        ):  # few turns, with many passages each
            best = best_row_of_each_turn(corpus.turn[positions], estimates)
            chosen = np.append(chosen, best[positions_of_largest(estimates[best], k)])
        chosen = np.unique(chosen)
        positions, near = positions[chosen], near.take(chosen)
        words, others = ({name: part[chosen] for name, part in parts.items()} for parts in (words, others))
        asking = question_share(corpus, near.places, weights)
    meaning = weights.meaning * smoothed_cosines(prepared, near, asking)
    return Scored(positions, {**words, "meaning": meaning, **others}, near)


def positions_of_largest(values: NDArray[np.floating[Any]], most: int) -> NDArray[np.intp]:
    """Return where the largest values are, in no order; of equal ones at the edge, the first."""
    if len(values) <= most:
        return np.arange(len(values))
    least = np.partition(values, len(values) - most)[len(values) - most]  # far faster than argpartition
    above, edge = np.flatnonzero(values > least), np.flatnonzero(values == least)
    return np.concatenate([above, edge[: most - len(above)]])


def first_row_of_each_turn(turns: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return where the rows of each turn begin; the numbers of turns are ascending."""
    return np.flatnonzero(np.diff(turns, prepend=-1))


def best_row_of_each_turn(turns: NDArray[np.int32], values: Scores) -> NDArray[np.intp]:
    """Return where the best row of each turn is, its first one where several are; a turn's rows lie together."""
    starts = first_row_of_each_turn(turns)
    if len(starts) == len(turns):
        return starts
    best = np.maximum.reduceat(values, starts)
    reaching = np.flatnonzero(values == np.repeat(best, np.diff(starts, append=len(turns))))
    return reaching[first_row_of_each_turn(turns[reaching])]


def priors(prepared: PreparedQuery, positions: NDArray[np.int32], asking: Scores) -> dict[str, Scores]:
    """Return the parts that need no neighbours; `asking` is `question_share` of the rows."""
    query, corpus, weights = prepared.query, prepared.corpus, prepared.query.weights
    asks = corpus.asks[positions].astype(np.float64) * asking
    told = corpus.length[positions] * (1 - asks)
    parts: dict[str, Scores] = {
        "asks": -weights.asks * asks,
        "brief": -weights.brief * (1 - np.minimum(1.0, told / weights.full)),
    }
    if weights.tickets:
        # The best of many passages is better by chance alone: a correction for multiple comparisons.
        parts["passages"] = -weights.tickets * logarithms()[corpus.parts[positions]]
    if (discarded := corpus.role[positions] >= DISCARDED_ROW).any():
        parts["discarded"] = -weights.discarded * discarded.astype(np.float64)
    if corpus.has_assistant:
        if len(query.names) != 1:
            parts["user"] = weights.user * (corpus.role[positions] == USER)
        if not query.recalls:
            parts["rule"] = weights.rule * corpus.rules[positions].astype(np.float64)
    if len(query.names) == 1:
        (name,) = query.names
        parts["speaker"] = speaker_weight(query, corpus, weights) * (corpus.speaker[positions] == name)
    if query.times:
        parts["date"] = weights.date * _time_closeness(prepared, positions)
    if query.when:
        parts["when"] = weights.when * corpus.temporal[positions].astype(np.float64)
    return parts


def question_share(corpus: Corpus, positions: NDArray[np.int32], weights: Weights) -> Scores:
    """Return the share of the stems in questions that counts as asking: few of a long question do, the rest tells."""
    asking = np.rint(corpus.asks[positions].astype(np.float64) * corpus.length[positions])
    share: Scores = np.minimum(1.0, most_asking(corpus, weights) / np.maximum(asking, 1.0))
    return share


def most_asking(corpus: Corpus, weights: Weights) -> float:
    """Return how many stems of a row count as asking at most."""
    return weights.questions_to_assistant if corpus.has_assistant else weights.questions


@lru_cache(maxsize=1)
def logarithms() -> Scores:
    """Return the logarithms of 0 to MOST + 1 passages (0 for none): numpy's may differ with the length of an array."""
    return np.array([0.0, *(math.log(count) for count in range(1, MAX_PASSAGES + 2))])


def speaker_weight(query: IndexQuery, corpus: Corpus, weights: Weights) -> float:
    """Return the weight of a row by the one speaker that a query names.

    It is more for the one who says less in an unequal pair: an assistant's long replies repeat a user's words, and
    would outrank the user's few words. It is more where several things are asked for: people tell which things they
    read, play or visit in many turns of their own, and the other person asks about it in as many.
    """
    (speaker,) = query.names
    wordiness = min(weights.laconic, max(1.0, math.sqrt(1 / corpus.verbosity(speaker))))
    return weights.speaker * wordiness * (weights.several if query.several else 1.0)


def _time_closeness(prepared: PreparedQuery, positions: NDArray[np.int32]) -> Scores:
    """Return 1 for a turn said in a time asked about, or whose facts happen in it, and less the further away."""
    corpus, times, days = prepared.corpus, prepared.query.times, prepared.query.weights.days
    said = corpus.time[positions]
    has_event = corpus.event_start[positions] != NEVER
    start, end = corpus.event_start[positions], corpus.event_end[positions]
    best = np.zeros(len(positions))
    for first, last in times:
        away = _days_apart(said, said + 1, first, last)
        away = np.where(has_event, np.minimum(away, _days_apart(start, end, first, last)), away)
        best = np.maximum(best, 1 / (1 + np.square(away / days)))
    return best


def _days_apart(start: NDArray[np.int64], end: NDArray[np.int64], first: int, last: int) -> Scores:
    """Return how far two half-open intervals are apart; 0 where they meet."""
    gap: Scores = np.maximum(np.maximum(first - end, start - last), 0) / DAY_MICROSECONDS
    return gap


def lexical(prepared: PreparedQuery, near: Neighbourhood, still_asking: Scores) -> dict[str, Scores]:
    """Return the parts `words` and `related`: related words count as fewer of the term they stand for."""
    weights = prepared.query.weights
    asked = weights.asking * near.shares + weights.answering * near.answers
    room = _length_norm(prepared, near, still_asking, asked)

    def frequency(members: Sequence[RelatedTerm]) -> Scores:
        """Return how often the rows have a term that these members stand for, with their neighbours' shares."""
        counts = np.zeros(len(near.places) + 1, np.int64)
        for member in members:
            slots = near.slots[member.posting.positions]
            here = np.flatnonzero(slots)  # few: the other rows are not scored
            found = member.posting.counts[here].astype(np.int64)
            counts[slots[here]] += member.share * ((found & 0xFF) + ((found >> 8) << _ASKED_BITS))
        all_asked = (counts[1:] >> _ASKED_BITS).astype(np.float64)
        asking = all_asked * still_asking
        telling = (counts[1:] & _STATED) + (all_asked - asking)
        return sum_rows_in_order(near.shares * telling[near.rows] + asked * asking[near.rows]) / SHARE_UNIT

    sums = {"words": np.zeros(len(room)), "related": np.zeros(len(room))}
    for term in prepared.terms:
        own = frequency([RelatedTerm(term.posting, SHARE_UNIT)])
        words = own / (own + room)  # BM25's share of a term: 1 where a passage has nothing else
        sums["words"] = sums["words"] + term.weight * words
        if term.related:
            whole = own + frequency(term.related)
            sums["related"] = sums["related"] + term.weight * (whole / (whole + room) - words)
    scale = weights.words / prepared.total if prepared.total else 0.0
    return {name: scale * part for name, part in sums.items()}


def _length_norm(prepared: PreparedQuery, near: Neighbourhood, still_asking: Scores, asked: Scores) -> Scores:
    """Return BM25's length norm: k1 for a passage of average length with average neighbours.

    `asked` is how much of the stems in questions counts, by neighbour.
    """
    corpus, weights = prepared.corpus, prepared.query.weights
    lengths = corpus.length[near.places]
    stated = lengths * (1 - corpus.asks[near.places].astype(np.float64) * still_asking)
    asking = lengths - stated
    length, whole = (
        sum_rows_in_order(near.shares * stated[near.rows] + asked * asking[near.rows]),
        sum_rows_in_order(near.shares),
    )
    average = corpus.words / corpus.rows if corpus.words else 1.0
    room: Scores = weights.k1 * (1 - weights.b + weights.b * length / (average * whole))
    return room


def sum_rows_in_order(lines: Scores) -> Scores:
    """Return the lines added from the first on; numpy's own sum takes an order that depends on how they lie."""
    total: Scores = lines[0].copy()
    for line in lines[1:]:
        total += line
    return total


def smoothed_cosines(prepared: PreparedQuery, near: Neighbourhood, asking: Scores) -> Scores:
    """Return the cosine of the question with each row's smoothed vector; 0 where either has none."""
    corpus, weights = prepared.corpus, prepared.query.weights
    if prepared.direction is None or not near.positions.size:
        return np.zeros(near.positions.shape[1])
    dots = prepared.products(near.places)
    echoes = weights.echo * (corpus.asks[near.places].astype(np.float64) * asking)
    shares = near.shares + near.answers * echoes[near.rows]
    along = sum_rows_in_order(shares * dots[near.rows])
    norm = _smoothed_norms(corpus, near, shares) * np.sqrt(float(np.square(prepared.direction).sum()))
    cosine: Scores = np.divide(along, norm, out=np.zeros(len(along)), where=norm > 0)
    return cosine


def nearest_cosines(prepared: PreparedQuery, near: Neighbourhood) -> Scores:
    """Return the largest cosine of the query with a row or a neighbour: a cheap estimate of the smoothed one."""
    if prepared.direction is None:
        return np.zeros(near.positions.shape[1])
    dots = prepared.products(near.places)
    best = np.where(near.shares > 0, dots[near.rows], 0.0).max(axis=0)
    cosines: Scores = best / np.sqrt(float(np.square(prepared.direction).sum()))
    return cosines


def _smoothed_norms(corpus: Corpus, near: Neighbourhood, shares: Scores) -> Scores:
    """Return the lengths of smoothed vectors; those computed for an earlier query are kept."""
    kept, rows = corpus.smoothing.norms, near.positions[0]
    missing = np.flatnonzero(np.isnan(kept[rows]))
    for start in range(0, len(missing), _SLICE_ROWS):
        part = missing[start : start + _SLICE_ROWS]
        smooth = np.zeros((len(part), corpus.dimension), np.float32)
        for share, places in zip(shares[:, part], near.positions[:, part], strict=True):
            amount = (share * corpus.scale[places].astype(np.float64)).astype(np.float32)
            some = np.flatnonzero(amount)
            smooth[some] += amount[some, None] * corpus.vectors[places[some]].astype(np.float32)
        kept[rows[part]] = np.sqrt(np.square(smooth).sum(axis=1, dtype=np.float64))
    found: Scores = kept[rows]
    return found


Positions = NDArray[np.int32]
_NEIGHBOUR_ROWS = 4  # rows before and after a seed that are candidates with it
_MIN_FILTER_SHARE = (
    0.9  # share of rows that a filter must let through for the ANN index, which knows no filters, to be used
)


@dataclass(frozen=True, slots=True)
class SearchEffort:
    """The bounds of a search in a large corpus, in rows unless said otherwise."""

    whole: int = 4_096  # up to so many turns are all scored
    entries: int = 200_000  # postings read, the terms with the largest weight first
    seeds: int = 1_500  # rows with words whose neighbours are looked at
    nearest: int = 100  # rows with close vectors
    compared: int = 4_096  # vectors up to which sketches save nothing
    sketched: int = 2_048  # of more, those with the nearest sketches are compared
    dated: int = 500  # rows said or happening when the question says
    kept: int = 500  # candidates for their words
    final: int = 200  # candidates whose vectors are smoothed


SEARCH_EFFORT = SearchEffort()


def rank(prepared: PreparedQuery, k: int, effort: SearchEffort = SEARCH_EFFORT) -> list[Ranked]:
    """Return the k best eligible turns, best first, ties by arrival; fewer only where there are fewer.

    Up to `effort.whole` eligible rows are all scored. Of more, candidates are.
    """
    turns = prepared.corpus.turn
    if np.count_nonzero(prepared.allowed) <= effort.whole:
        return _best(score(prepared, np.flatnonzero(prepared.allowed).astype(np.int32)), turns, k)
    return _best(score(prepared, candidates(prepared, k, effort), max(effort.final, 10 * k), k), turns, k)


def _best(scored: Scored, turns: NDArray[np.int32], k: int) -> list[Ranked]:
    """Return the k best turns; positions are ascending, so equal ones keep their order of arrival."""
    total = scored.total
    chosen = best_row_of_each_turn(turns[scored.positions], total)
    if len(chosen) > k:
        best = total[chosen]
        chosen = chosen[best >= np.partition(best, len(best) - k)[len(best) - k]]
    chosen = chosen[np.argsort(-total[chosen], kind="stable")][:k]
    there = scored.neighbours.positions[1:, chosen]
    around = np.where(there == NO_POSITION, NO_POSITION, turns[there]).T.tolist()
    rows = zip(scored.positions[chosen].tolist(), total[chosen].tolist(), around, strict=True)
    parts = [(name, part[chosen].tolist()) for name, part in scored.parts.items()]
    found = []
    for at, (position, value, near) in enumerate(rows):
        turn = int(turns[position])
        others = tuple(other for other in dict.fromkeys(near) if other not in (NO_POSITION, turn))
        found.append(Ranked(turn, position, value, {name: part[at] for name, part in parts if part[at]}, others))
    return found


def candidates(prepared: PreparedQuery, k: int, effort: SearchEffort) -> Positions:
    """Return positions, ascending, among which those of the k best turns are expected.

    Rare words and close vectors choose seeds; the rows around a seed share its words and vectors through smoothing, so
    they are candidates too. They are of at least k turns, where so many are allowed.
    """
    allowed, turns = prepared.allowed, prepared.corpus.turn
    found = [_candidates_by_words(prepared, max(effort.kept, 10 * k), effort), _candidates_by_vector(prepared, effort)]
    if prepared.query.times:
        found.append(_candidates_by_date(prepared, effort))
    positions = distinct(np.concatenate(found), len(prepared.corpus))
    positions = positions[allowed[positions]]
    missing = k - len(first_row_of_each_turn(turns[positions]))
    if missing > 0:
        others = np.flatnonzero(allowed)
        others = others[~np.isin(turns[others], turns[positions])]
        others = others[first_row_of_each_turn(turns[others])][:missing]
        positions = np.union1d(positions, others.astype(np.int32))
    return positions


def _candidates_by_words(prepared: PreparedQuery, kept: int, effort: SearchEffort) -> Positions:
    corpus = prepared.corpus
    members = [(term.weight, term.posting) for term in prepared.terms]
    members += [(term.weight * one.share / SHARE_UNIT, one.posting) for term in prepared.terms for one in term.related]
    weight_of = np.zeros(len(corpus) + 1, np.float32)  # one more element: NONE (-1) points to the last
    read: list[Positions] = []
    left = effort.entries
    for weight, posting in sorted(members, key=lambda member: -member[0]):
        if len(posting) <= left:
            left -= len(posting)
            weight_of[posting.positions] += weight
            read.append(posting.positions)
    if not read:
        return np.zeros(0, np.int32)
    touched = np.concatenate(read)
    seeds = distinct(touched[positions_of_largest(weight_of[touched], effort.seeds)], len(corpus))
    near = rows_around_turns(corpus.dialogue, seeds, _NEIGHBOUR_ROWS)
    fading = [
        prepared.query.weights.spread * decay(hop, prepared.query.weights) for hop in range(1, _NEIGHBOUR_ROWS + 1)
    ]
    reaching = weight_of[seeds][:, None] * np.array([1.0, *fading, *fading], np.float32)
    # Counted from 1, so that NONE (-1) is counted apart.
    spread = np.bincount(near.reshape(-1) + 1, reaching.reshape(-1), len(corpus) + 1)[1:].astype(np.float32)
    reached = distinct(near, len(corpus))
    reached = reached[prepared.allowed[reached]]
    return reached[positions_of_largest(spread[reached], kept)]


def _candidates_by_vector(prepared: PreparedQuery, effort: SearchEffort) -> Positions:
    """Seeds by vector. The ANN index knows no filters: it serves where most turns are allowed; else all are scanned."""
    corpus, direction, allowed = prepared.corpus, prepared.direction, prepared.allowed
    if direction is None:
        return np.zeros(0, np.int32)
    if prepared.index is not None and np.count_nonzero(allowed) >= _MIN_FILTER_SHARE * corpus.rows:
        seeds = prepared.index.search(direction, math.ceil(effort.nearest / _MIN_FILTER_SHARE)).positions.astype(
            np.int32
        )
        return rows_around_turns(corpus.dialogue, seeds[seeds < len(corpus)], _NEIGHBOUR_ROWS).reshape(-1)
    comparable = allowed & (corpus.scale > 0)
    count = int(np.count_nonzero(comparable))
    if count <= effort.compared:
        positions = np.flatnonzero(comparable).astype(np.int32)
    else:
        # One of 64 rows is compared by its vector, the rest by their sketches only.
        most = max(effort.sketched, count // 64)
        positions = corpus.sketches.nearest(corpus.stored, direction, comparable, most)
    seeds = positions[positions_of_largest(prepared.products(positions), effort.nearest)]
    return rows_around_turns(corpus.dialogue, seeds, _NEIGHBOUR_ROWS).reshape(-1)


def _candidates_by_date(prepared: PreparedQuery, effort: SearchEffort) -> Positions:
    corpus = prepared.corpus
    found = []
    for first, last in prepared.query.times:
        said = (corpus.time >= first) & (corpus.time < last)
        happens = (corpus.event_start < last) & (corpus.event_end > first)
        found.append(np.flatnonzero((said | happens) & prepared.allowed)[: effort.dated].astype(np.int32))
    return np.concatenate(found)
