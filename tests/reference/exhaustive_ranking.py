"""The slow and obvious ranking, one passage at a time: what the fast one is held to."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evimem.index.corpus import DISCARDED_ROW, SYSTEM, Corpus
from evimem.index.dialogue import NO_POSITION, decay, distance
from evimem.index.prepared_query import SHARE_UNIT, IndexQuery, PreparedQuery, Ranked, RelatedTerm, overlaps, prepare
from evimem.index.ranking import DAY_MICROSECONDS, speaker_weight
from evimem.index.weights import Weights
from evimem.types.values import ROLES


@dataclass(frozen=True, slots=True)
class Share:
    """A row that counts in another's score: how much of it, and how much more of what it asks."""

    position: int
    share: float
    answers: float


def rank_all(query: IndexQuery, corpus: Corpus, k: int) -> list[Ranked]:
    """Score every eligible passage in plain loops; return the k best turns, best first, ties by arrival."""
    prepared, weights = prepare(query, corpus), query.weights
    found: dict[int, Ranked] = {}
    for position in range(len(corpus)):
        if not (corpus.alive[position] and is_eligible(query, corpus, position)):
            continue
        near = list(shares(corpus, position, weights))
        parts = _lexical(prepared, corpus, near, weights)
        parts["meaning"] = weights.meaning * _cosine(prepared.direction, corpus, near, weights)
        parts |= _priors(query, corpus, position, weights)
        turn = int(corpus.turn[position])
        others = dict.fromkeys(int(corpus.turn[share.position]) for share in near)
        others.pop(turn)
        kept = {name: part for name, part in parts.items() if part}
        ranked = Ranked(turn, position, _sum(parts.values()), kept, tuple(others))
        if turn not in found or ranked.score > found[turn].score:
            found[turn] = ranked
    return sorted(found.values(), key=lambda ranked: (-ranked.score, ranked.position))[:k]


def role_of(corpus: Corpus, position: int) -> int:
    """Return the role of the turn of a passage, whether that is discarded or not."""
    return int(corpus.role[position]) % DISCARDED_ROW


def is_eligible(query: IndexQuery, corpus: Corpus, position: int) -> bool:
    """Return whether the hard filters let the turn of a passage through."""
    said = int(corpus.time[position])
    happens = corpus.events(position) or ((said, said + 1),)
    return (
        int(corpus.turn[position]) not in query.exclude
        and query.speaker in (None, int(corpus.speaker[position]))
        and query.session in (None, int(corpus.session[position]))
        and all(corpus.turn[position] in corpus.turn[corpus.posting(term).positions] for term in query.holding)
        and (not query.any_of or any(position in corpus.posting(term).positions for term in query.any_of))
        and (role_of(corpus, position) != SYSTEM if query.role is None else role_of(corpus, position) == query.role)
        and (query.among is None or int(corpus.turn[position]) in query.among)
        and any(overlaps(interval, query) for interval in happens)
    )


def shares(corpus: Corpus, position: int, weights: Weights) -> Iterator[Share]:
    """Return the passage itself, then what counts before it, then what counts after it, nearest first."""
    yield Share(position, 1.0, 0.0)
    for links, backward in ((corpus.dialogue.before.values, True), (corpus.dialogue.after.values, False)):
        here, changes, repeats = position, 0, 0
        for _ in range(weights.steps):
            there = int(links[here])
            if there == NO_POSITION:
                break
            changed = bool(corpus.speaker[there] != corpus.speaker[here] or corpus.turn[there] == corpus.turn[here])
            changes, repeats = changes + changed, repeats + (not changed)
            left = decay(distance(changes, repeats, weights), weights)
            if not left:
                break
            yield Share(there, weights.spread * left, left if backward and changes == 1 else 0.0)
            here = there


def _lexical(prepared: PreparedQuery, corpus: Corpus, near: Sequence[Share], weights: Weights) -> dict[str, float]:
    length = 0.0
    for one in near:
        stated = int(corpus.length[one.position]) * (1 - _asking_share(corpus, one.position, weights))
        asking = int(corpus.length[one.position]) - stated
        length += one.share * stated + (weights.asking * one.share + weights.answering * one.answers) * asking
    average = corpus.words / corpus.rows if corpus.words else 1.0
    room = weights.k1 * (1 - weights.b + weights.b * length / (average * _sum(one.share for one in near)))
    sums = {"words": 0.0, "related": 0.0}
    for term in prepared.terms:
        own = _frequency([RelatedTerm(term.posting, SHARE_UNIT)], corpus, near, weights)
        words = own / (own + room)
        sums["words"] += term.weight * words
        if term.related:
            whole = own + _frequency(term.related, corpus, near, weights)
            sums["related"] += term.weight * (whole / (whole + room) - words)
    scale = weights.words / prepared.total if prepared.total else 0.0
    return {name: scale * part for name, part in sums.items()}


def _asking_share(corpus: Corpus, position: int, weights: Weights) -> float:
    """Return the share of a passage's stems that counts as asking."""
    return float(corpus.asks[position]) * _still_asking(corpus, position, weights)


def _still_asking(corpus: Corpus, position: int, weights: Weights) -> float:
    most = weights.questions_to_assistant if corpus.has_assistant else weights.questions
    asking = round(float(corpus.asks[position]) * int(corpus.length[position]))
    return min(1.0, most / max(asking, 1))


def _frequency(members: Sequence[RelatedTerm], corpus: Corpus, near: Sequence[Share], weights: Weights) -> float:
    total = 0.0
    for one in near:
        stated = asking = 0
        for member in members:
            at = int(np.searchsorted(member.posting.positions, one.position))
            if at < len(member.posting) and member.posting.positions[at] == one.position:
                count = int(member.posting.counts[at])
                stated += member.share * (count & 0xFF)
                asking += member.share * (count >> 8)
        still = asking * _still_asking(corpus, one.position, weights)
        told = stated + (asking - still)
        total += one.share * told + (weights.asking * one.share + weights.answering * one.answers) * still
    return total / SHARE_UNIT


def _cosine(direction: NDArray[np.float32] | None, corpus: Corpus, near: Sequence[Share], weights: Weights) -> float:
    if direction is None:
        return 0.0
    along = 0.0
    smooth = np.zeros(corpus.dimension, np.float32)
    for one in near:
        row = corpus.vectors[one.position].astype(np.float32)
        scale = float(corpus.scale[one.position])
        share = one.share + one.answers * (weights.echo * _asking_share(corpus, one.position, weights))
        along += share * (float(row @ direction) * scale)
        smooth += np.float32(share * scale) * row
    norm = math.sqrt(float(np.square(smooth).sum(dtype=np.float64))) * math.sqrt(float(np.square(direction).sum()))
    return along / norm if norm > 0 else 0.0


def _priors(query: IndexQuery, corpus: Corpus, position: int, weights: Weights) -> dict[str, float]:
    asks = _asking_share(corpus, position, weights)
    told = int(corpus.length[position]) * (1 - asks)
    parts = {"asks": -weights.asks * asks, "brief": -weights.brief * (1 - min(1.0, told / weights.full))}
    parts["passages"] = -weights.tickets * math.log(int(corpus.parts[position]))
    if corpus.role[position] >= DISCARDED_ROW:
        parts["discarded"] = -weights.discarded
    if corpus.has_assistant:
        if len(query.names) != 1:
            parts["user"] = weights.user * (corpus.role[position] == ROLES.index("user"))
        if not query.recalls:
            parts["rule"] = weights.rule * bool(corpus.rules[position])
    if len(query.names) == 1:
        (name,) = query.names
        parts["speaker"] = speaker_weight(query, corpus, weights) * (int(corpus.speaker[position]) == name)
    if query.times:
        parts["date"] = weights.date * _closeness(query, corpus, position, weights)
    if query.when:
        parts["when"] = weights.when * bool(corpus.temporal[position])
    return parts


def _closeness(query: IndexQuery, corpus: Corpus, position: int, weights: Weights) -> float:
    said = int(corpus.time[position])
    intervals = [(said, said + 1)]
    if happens := corpus.events(position):
        intervals.append((min(start for start, _ in happens), max(end for _, end in happens)))
    gaps = (max(first - end, start - last, 0) for start, end in intervals for first, last in query.times)
    return max(1 / (1 + (gap / DAY_MICROSECONDS / weights.days) ** 2) for gap in gaps)


def _sum(values: Iterable[float]) -> float:
    """Add from the left; the built-in sum compensates for rounding from Python 3.12 on."""
    total = 0.0
    for value in values:
        total += value
    return total
