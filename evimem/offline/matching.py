"""Split the evidence into sentences, attribute each to people, and match it with a question.

Attribution belongs to a sentence, not to a turn. First person is about the speaker, second person about the addressee,
the nearest other speaker in the dialogue around it; a question asserts nothing about its speaker.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..embedding.static_embedder import StaticEmbedder
from ..judging.evidence import Analysis, View
from ..lang import ENGLISH
from ..text.misspellings import other_spellings
from ..text.sentences import sentences_around
from ..text.terms import STOP_WORDS, stem, vocabulary_stems, words
from ..types.values import Turn
from ..types.vectors import all_products, products

Place = tuple[int, int]  # half-open, characters
UnitKey = tuple[str, "str | None", "Place | None"]  # a turn's id, its addressee and the passage that was found
# Bounds on the reading of one turn: a message of a megabyte must not take longer than a long letter.
_MAX_TURN_CHARACTERS = 10_000
_MAX_TURN_SENTENCES = 200
_MAX_SENTENCE_CHARACTERS = 600
# A turn of more sentences than this is compared with a question in part: the passage that the search found, some
# sentences around it, and the others that have most of the question's words.
_MAX_WHOLE_TURN_SENTENCES = 12
_SENTENCES_AROUND = 2
_OTHER_SENTENCES = 6
_ROOT_LETTERS = 5  # letters by which a word of the question is looked for in those other sentences

# Weights (0 to 1) of a sentence for its speaker and for its addressee, by the grammatical persons that it uses.
QUESTION_TO_YOU = (0.0, 1.0)
QUESTION = (0.0, 0.5)
YOU_ONLY = (0.3, 1.0)
I_ONLY = (1.0, 0.0)
YOU_AND_I = (0.8, 0.5)
NO_PERSON = (0.8, 0.3)
ADVICE = (0.3, 0.5)  # an assistant's sentence without a person answers the addressee
ADVICE_TO_YOU = (0.0, 1.0)

# Shares of other scores that are added to the score of a sentence: of the best in its own turn, in the question that
# its turn answers, and in the turns before and after it.
TURN_SHARE = 0.5
QUESTION_SHARE = 0.25
NEAR_SHARE = 0.25

MIN_RELATED_COSINE = 0.5  # two words of a lower cosine are unrelated
MAX_RELATED_CREDIT = 0.9  # a related word counts less than the word itself (1)
RESPELLED_CREDIT = 0.9  # a word counts as much where another spelling of it stands
MIN_WORD_WEIGHT = 0.15  # of the commonest word; the rarest weighs 1 more
SPEAKER_OWNERSHIP = 0.9  # of a speaker's sentence where the question asks for their statements
_SAYING = re.compile(rf"\b(?:{'|'.join(ENGLISH.words('questions.saying'))})\w*\b", re.IGNORECASE)
# The vocabulary begins with punctuation and single characters; words follow, the most frequent first.
_NON_WORD_RANKS = 900

_EMBEDDER = StaticEmbedder()
Array = NDArray[np.float32]


def turn_places(view: View) -> dict[str, int]:
    """Return the position of each found turn, and of those around, by time; the dialogue orders those of one time."""
    turns: dict[str, Turn] = {item.turn.id: item.turn for item in view.evidence}
    before: dict[str, Turn] = {}
    for around in view.context.values():
        turns.update((turn.id, turn) for turn in around)
        before.update((later.id, earlier) for earlier, later in pairwise(around) if earlier.time == later.time)

    def depth(turn: Turn) -> int:
        steps = 0
        while turn.id in before:
            turn, steps = before[turn.id], steps + 1
        return steps

    ordered = sorted(turns.values(), key=lambda turn: (turn.time, turn.session, depth(turn)))
    return {turn.id: place for place, turn in enumerate(ordered)}


def _pronoun_pattern(*kinds: str) -> re.Pattern[str]:
    said = "|".join(word for kind in kinds for word in ENGLISH.words(f"word_classes.pronouns.{kind}"))
    return re.compile(rf"\b(?:{said})\b", re.IGNORECASE)


_FIRST_PERSON = _pronoun_pattern("first", "first_plural", "reflexive_plural_first")
_SECOND_PERSON = _pronoun_pattern("second", "reflexive_plural_second", "informal_second")


@dataclass(frozen=True, slots=True)
class SentenceUnit:
    """One sentence of a turn, or its caption.

    `span` is the half-open range of characters in the turn's text (or caption), `words` are the distinct content words,
    `asks` is whether it is a question, `about` maps names of speakers to weights from 0 to 1.
    """

    turn: Turn
    span: tuple[int, int]
    text: str
    words: tuple[str, ...]
    asks: bool
    caption: bool
    about: Mapping[str, float]

    @property
    def source(self) -> str:
        """The text that `span` is in: the turn's, or its caption."""
        return (self.turn.caption or "") if self.caption else self.turn.text


def split_view(view: View, known: Mapping[UnitKey, Sequence[SentenceUnit]]) -> dict[UnitKey, Sequence[SentenceUnit]]:
    """Return the sentences of the shown turns and of those around them; `known` are those of an earlier check."""
    turns: dict[str, Turn] = {item.turn.id: item.turn for item in view.shown}
    addressees: dict[str, str | None] = {}
    for item in view.shown:
        dialogue = view.context.get(item.turn.id, (item.turn,))
        for turn in dialogue:
            turns.setdefault(turn.id, turn)
            if turn.id not in addressees or turn.id == item.turn.id:
                addressees[turn.id] = addressee(turn, dialogue)
    passages = {item.turn.id: item.span for item in view.shown}
    asked = frozenset(stem(word)[:_ROOT_LETTERS] for word in view.analysis.keywords)
    found: dict[UnitKey, Sequence[SentenceUnit]] = {}
    for turn in turns.values():
        to, passage = addressees.get(turn.id), passages.get(turn.id)
        key = turn.id, to, passage
        found[key] = known[key] if key in known else split_turn(turn, to, passage, asked)
    return found


def split_turn(
    turn: Turn, addressee: str | None, passage: Place | None = None, asked: Collection[str] | None = None
) -> list[SentenceUnit]:
    """Split a turn into the sentences that are compared, and its caption, each with the people it is about.

    Of a long turn only some are, since a reply may have hundreds: those of the passage that was found, and those that
    have most of the words `asked`, by their first letters, as that must be cheap. Without `asked` all are returned.
    """
    places = sentences_around(turn.text, passage, _MAX_TURN_CHARACTERS)
    before = sum(end <= passage[0] for _, end in places) if passage else 0
    first = max(0, min(before - _MAX_TURN_SENTENCES // 2, len(places) - _MAX_TURN_SENTENCES))
    places = places[first : first + _MAX_TURN_SENTENCES]
    places = [(start, min(end, start + _MAX_SENTENCE_CHARACTERS)) for start, end in places]
    if asked is not None and len(places) > _MAX_WHOLE_TURN_SENTENCES:
        begins, ends = passage or (0, 0)
        near = [number for number, (start, end) in enumerate(places) if start < ends and begins < end]
        kept = {*range(near[0] - _SENTENCES_AROUND, near[-1] + _SENTENCES_AROUND + 1)} if near else set()
        said = [turn.text[start:end].casefold() for start, end in places]
        others = (number for number in range(len(places)) if number not in kept)
        kept.update(sorted(others, key=lambda number: -sum(root in said[number] for root in asked))[:_OTHER_SENTENCES])
        places = [place for number, place in enumerate(places) if number in kept]
    found = [_unit(turn, place, addressee) for place in places]
    if turn.caption:
        about = {turn.speaker: NO_PERSON[0]} | ({addressee: NO_PERSON[1]} if addressee else {})
        said_of = (0, len(turn.caption)), turn.caption, content_words(turn.caption)
        found.append(SentenceUnit(turn, *said_of, asks=False, caption=True, about=about))
    return found


def addressee(turn: Turn, dialogue: Sequence[Turn]) -> str | None:
    """Return the addressee of a turn: the last other speaker before it, else the next one after it, else None."""
    place = next((index for index, other in enumerate(dialogue) if other.id == turn.id), 0)
    nearest = (*reversed(dialogue[:place]), *dialogue[place + 1 :])
    return next((other.speaker for other in nearest if other.speaker != turn.speaker), None)


def is_assistant(turn: Turn) -> bool:
    """Return whether the assistant is the speaker of a turn."""
    return (turn.role or turn.speaker).casefold() == "assistant"


def is_question(text: str) -> bool:
    """Return whether a text ends with a question mark, quotes and brackets aside."""
    return text.rstrip("\"'\u201d\u2019)* ").endswith(("?", "\uff1f"))


def content_words(text: str) -> tuple[str, ...]:
    """Return the distinct content words of a text, in order."""
    return tuple(dict.fromkeys(word for word in words(text) if word not in STOP_WORDS))


def _unit(turn: Turn, span: Place, addressee: str | None) -> SentenceUnit:
    text = turn.text[span[0] : span[1]]
    asks = is_question(text)
    first, second = _FIRST_PERSON.search(text) is not None, _SECOND_PERSON.search(text) is not None
    if asks:
        own, other = QUESTION_TO_YOU if second else QUESTION
    elif first:
        own, other = YOU_AND_I if second else I_ONLY
    elif turn.role == "assistant":
        own, other = ADVICE_TO_YOU if second else ADVICE
    else:
        own, other = YOU_ONLY if second else NO_PERSON
    about = {turn.speaker: own} | ({addressee: other} if addressee else {})
    return SentenceUnit(turn, span, text, content_words(text), asks, caption=False, about=about)


# A word counts as much in a sentence where its turn, the question that it answers or an adjacent turn has it.
TURN_WORD_CREDIT, QUESTION_WORD_CREDIT, NEAR_WORD_CREDIT = 0.9, 0.8, 0.6
_COMMON_RANK, _RARE_RANK = 60, 30_000  # words up to the first have rarity 0, from the second on 1


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """One sentence compared with the question.

    `coverage` is the share of the question's words that it has, weighted by rarity; `window` the same with the dialogue
    around it; `score` adds the cosine of the vectors of the sentence and the question, and a share of
    the scores around it.
    `rank` is the place of its turn in the evidence. `own` and `other` say how far it is about the target, and about
    another speaker (0 to 1).
    `said` is how far it has each word of the question.
    """

    unit: SentenceUnit
    shown: bool
    rank: int
    coverage: float
    window: float
    score: float
    own: float
    other: float
    said: Array


@dataclass(frozen=True, slots=True)
class Matches:
    """All sentences of a view, best score first, with the target of the question and the weights of its words.

    `units` are the sentences of each turn and `vectors` their vectors by text, shape (dimension,), for the next check.
    """

    analysis: Analysis
    target: str | None
    weights: Mapping[str, float]
    ranked: tuple[Match, ...]
    units: Mapping[UnitKey, Sequence[SentenceUnit]] = field(default_factory=dict, compare=False, repr=False)
    vectors: Mapping[str, Array] = field(default_factory=dict, compare=False, repr=False)

    @property
    def absent(self) -> tuple[str, ...]:
        """The words of the question that no sentence has, nor a related word or another spelling; the rarest first.

        Verbs of saying ("recommend") are left out: a statement seldom repeats them.
        """
        said = np.max([match.said for match in self.ranked], axis=0) if self.ranked else np.zeros(len(self.weights))
        absent = (
            word for word, share in zip(self.weights, said, strict=True) if share <= 0 and not _SAYING.match(word)
        )
        return tuple(sorted(absent, key=lambda word: -self.weights[word]))


def match_sentences(view: View, earlier: Matches | None = None) -> Matches:
    """Score every sentence of the shown evidence and of the dialogue around it.

    `earlier` are the matches of an earlier check of the question: what was read for them is not read again.
    """
    analysis, known = view.analysis, earlier or Matches(view.analysis, None, {}, ())
    units = split_view(view, known.units)
    target, found = target_of(analysis), [unit for some in units.values() for unit in some]
    weights = {word: MIN_WORD_WEIGHT + rarity(stem(word)) for word in analysis.keywords}
    if not found:
        return Matches(analysis, target, weights, (), known.units, known.vectors)
    said = keyword_matrix(analysis.keywords, found, analysis)
    share = np.array(list(weights.values()), np.float32)
    total = float(share.sum()) or 1.0
    coverage = share @ said / total
    asked, vectors = embed_units(analysis, found, known.vectors)
    cosines = products(np.stack([vectors[unit.text] for unit in found]), vectors[asked])
    alone = coverage + np.maximum(cosines, 0)
    turn, question, near = _spread_over_dialogue(view, found, np.concatenate([alone[None, :], said]))
    score = alone + (TURN_SHARE * turn + QUESTION_SHARE * question + NEAR_SHARE * near)[0]
    widened = np.maximum(TURN_WORD_CREDIT * turn, QUESTION_WORD_CREDIT * question)
    widened = np.maximum(widened, NEAR_WORD_CREDIT * near)[1:]
    around = np.maximum(said, widened)
    window = share @ around / total
    shown = {item.turn.id for item in view.shown}
    ranks = {item.turn.id: rank for rank, item in enumerate(view.evidence)}
    matches = [
        Match(
            unit,
            unit.turn.id in shown,
            ranks.get(unit.turn.id, len(ranks)),
            float(coverage[index]),
            float(window[index]),
            float(score[index]),
            *rate_ownership(unit, analysis, target),
            said[:, index],
        )
        for index, unit in enumerate(found)
    ]
    ranked = tuple(sorted(matches, key=lambda item: -item.score))
    return Matches(analysis, target, weights, ranked, {**known.units, **units}, vectors)


def _spread_over_dialogue(view: View, found: Sequence[SentenceUnit], values: Array) -> tuple[Array, Array, Array]:
    """Return, per sentence, the best value in its turn, in the question that it answers, and in the adjacent turns."""
    place = {turn_id: index for index, turn_id in enumerate(dict.fromkeys(unit.turn.id for unit in found))}
    turn = np.array([place[unit.turn.id] for unit in found])
    answered = np.full(len(place), -1)  # the turn with the question that this one answers; -1 is a column of zeros
    best = np.zeros((len(values), len(place) + 1), np.float32)
    np.maximum.at(best.T, turn, values.T)
    near = np.zeros_like(best)
    for dialogue in view.context.values():
        with_units = [turn for turn in dialogue if turn.id in place]  # a blank turn has no sentences
        for before, after in pairwise(with_units):
            one, two = place[before.id], place[after.id]
            near[:, one] = np.maximum(near[:, one], best[:, two])
            near[:, two] = np.maximum(near[:, two], best[:, one])
            if before.speaker != after.speaker and before.text.rstrip().endswith("?"):
                answered[two] = one
    return best[:, turn], best[:, answered[turn]], near[:, turn]


def target_of(analysis: Analysis) -> str | None:
    """Return the name that the question is about: a speaker in it, else the first other name."""
    if analysis.asked:
        return analysis.asked[0]
    return analysis.entities[0] if analysis.entities else None


def rate_ownership(unit: SentenceUnit, analysis: Analysis, target: str | None) -> tuple[float, float]:
    """Return the weights (0 to 1) by which a sentence is about the target and about another speaker."""
    if target is None:
        return 1.0, 0.0
    owners = unit.about
    asked = set(analysis.asked) or {target}
    named = [name for name in asked if name not in owners and has_name(unit.text, name)]
    own = max([*(weight for name, weight in owners.items() if name in asked), *(1.0 for _ in named), 0.0])
    if unit.turn.speaker in asked and not unit.asks and _SAYING.search(analysis.question):
        own = max(own, SPEAKER_OWNERSHIP)
    other = max([*(weight for name, weight in owners.items() if name not in asked), 0.0])
    return own, other * (0.3 if named else 1.0)


@lru_cache(maxsize=256)
def _name_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def has_name(text: str, name: str) -> bool:
    """Return whether a text has a name as a whole word, in any case."""
    return _name_pattern(name).search(text) is not None


def strength(m: Match) -> float:
    """Return the score of a sentence, lowered where it is not about the target or only asks."""
    return m.score * (0.3 + m.own) * (0.6 if m.unit.asks else 1.0)


def keyword_matrix(keywords: Sequence[str], found: Sequence[SentenceUnit], analysis: Analysis | None = None) -> Array:
    """Return float32 (keywords, sentences): 1 where the word occurs, its cosine where a related one does, else 0.

    A word of a question's `analysis` that occurs nowhere may be a typo: its other spellings get RESPELLED_CREDIT.
    """
    vocabulary = {word: index for index, word in enumerate(dict.fromkeys(w for unit in found for w in unit.words))}
    if not keywords or not vocabulary:
        return np.zeros((len(keywords), len(found)), np.float32)
    rows = np.array([word_vector(word) for word in vocabulary], np.float32)
    alike: Array = all_products(np.array([word_vector(word) for word in keywords], np.float32), rows)
    alike[alike < MIN_RELATED_COSINE] = 0
    alike = np.minimum(alike, MAX_RELATED_CREDIT)
    of_stem: dict[str, list[int]] = {}
    for word, index in vocabulary.items():
        of_stem.setdefault(stem(word), []).append(index)
    named = {word for name in analysis.entities for word in words(name)} if analysis else set()
    for number, word in enumerate(keywords):
        if same := of_stem.get(stem(word)):
            alike[number, same] = 1
            continue
        if analysis is None:
            continue
        spelled = other_spellings(word, analysis.question, of_stem, named=word in named)
        meant = [at for term in spelled for at in of_stem[term]]
        alike[number, meant] = np.maximum(alike[number, meant], RESPELLED_CREDIT)
    nothing = len(vocabulary)  # a column of zeros, so that reduceat finds one place even in a sentence without words
    padded = np.concatenate([alike, np.zeros((len(keywords), 1), np.float32)], axis=1)
    places = [[*(vocabulary[word] for word in unit.words), nothing] for unit in found]
    starts = np.cumsum([0, *(len(place) for place in places[:-1])])
    said: Array = np.maximum.reduceat(padded[:, [p for place in places for p in place]], starts, axis=1)
    return said


def rarity(term: str) -> float:
    """Return how rare a stem is: 0 for the commonest to 1 for one that the vocabulary does not have.

    Between, it grows with the logarithm of the rank, as the information of a word does where frequency falls with rank.
    """
    rank = _ranks().get(term)
    if rank is None:
        return 1.0
    least, most = math.log(_COMMON_RANK), math.log(_RARE_RANK)
    return max(0.0, (math.log(max(rank, _COMMON_RANK)) - least) / (most - least))


@cache
def _ranks() -> dict[str, int]:
    """Return the rank of each stem, that of its commonest word."""
    rarest_first = reversed(vocabulary_stems()[_NON_WORD_RANKS:])
    ranks = dict(zip(rarest_first, range(len(vocabulary_stems()) - _NON_WORD_RANKS - 1, -1, -1), strict=True))
    ranks.pop("", None)  # of pieces that are no words
    return ranks


@lru_cache(maxsize=1 << 14)
def word_vector(word: str) -> Array:
    """Return the unit vector of a word, float32 of the embedder's dimension; zeros for a word without one."""
    row: Array = _EMBEDDER.embed([word])[0]
    return row


def embed_units(
    analysis: Analysis, found: Sequence[SentenceUnit], known: Mapping[str, Array]
) -> tuple[str, Mapping[str, Array]]:
    """Return the question without the target's name, as sentences say "I", and the vectors of it and of each sentence.

    Vectors are by text, shape (dimension,); those in `known` are kept.
    """
    asked = analysis.question
    for name in analysis.asked:
        asked = _name_pattern(name).sub("", asked)
    new = [text for text in dict.fromkeys([asked, *(unit.text for unit in found)]) if text not in known]
    return asked, {**known, **dict(zip(new, _EMBEDDER.embed(new), strict=True))}
