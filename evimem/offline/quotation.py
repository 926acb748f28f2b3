"""The sentences to read for an answer: the best one to three, in dialogue order, each with who said it and when.

A turn is quoted that probably holds the answer, by a linear model over few named signals: it may hold it in words that
no rule understands. An overview ("what do you know about me?") quotes what a profile rests on, newest first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise

import numpy as np

from ..extract.slots import asked_slot, is_of_profile
from ..extract.turn_facts import stance
from ..judging.evidence import Evidence, View
from ..lang import ENGLISH, Language
from ..lang.guess import LANGUAGES
from ..text.sentences import sentences_around
from ..text.terms import STOP_WORDS, stem, words
from ..times import mentions_time
from ..types.results import Citation
from ..types.values import Turn
from .matching import Array, Match, Matches, SentenceUnit, in_order, is_assistant, is_question, places, strength
from .short_answers import MONEY, NUMBER, SIZE, ShortAnswer
from .signals import Linear

PLACES = 3  # a question with its reply counts as one
# Share of the best place's probability below which a further place is not quoted: 2.6 are quoted on average, and a gold
# turn is among them for .763 of our answerable questions, against .770 if it is always three.
_LEAST = 0.2
_REPLY = 80  # characters of a reply that is not understood without its question
_SHORT = 200  # characters of a turn that is quoted whole, and that are quoted of a reply
_LONGEST = 400  # characters that are quoted of one sentence
_ABOUT = 0.5  # how far a sentence must be about the one who is asked about
_REPLIED = 0.9  # how far a word counts as said that stands in the question which a turn answers
_LATER = 2  # later turns that are quoted
_NEAR = 0.8  # share of the search score of what told a value, from which a later turn is as near to the question
_MAYBE = 0.5  # how far a sentence bears a form of answer that only looks like it may
_LIGHT = frozenset(stem(word) for word in ENGLISH.words("quotations.light"))
_PARTS = {
    "number": NUMBER,
    "unit": ENGLISH.any_of("questions.answer_units"),
    "money": MONEY.pattern,
    "size": SIZE.pattern,
    "colour": ENGLISH.any_of("word_classes.colours.basic", "word_classes.colours.other"),
}

MOST = 6  # turns that are quoted


def _compiled(*patterns: str) -> re.Pattern[str]:
    source = "|".join(patterns)
    for name, part in _PARTS.items():
        source = source.replace(f"{{{name}}}", part)
    return re.compile(source, re.IGNORECASE)


_NEWEST = _compiled(*ENGLISH.words("quotations.newest"))
_OF_ASSISTANT = _compiled(*ENGLISH.words("quotations.of_assistant"))
_NEWS, _DENIALS, _ENDS = (
    frozenset(map(stem, ENGLISH.words(name))) for name in ("quotations.news", "quotations.denials", "quotations.ends")
)
_ASKED = {form: _compiled(*patterns) for form, patterns in ENGLISH.lists("quotations.asked").items()}
_VALUE = {form: _compiled(*patterns) for form, patterns in ENGLISH.lists("quotations.value").items()}
_LIKE = {
    form: _compiled(*patterns) for forms, patterns in ENGLISH.lists("quotations.like").items() for form in forms.split()
}


@dataclass(frozen=True, slots=True)
class Extract:
    """Characters of a turn that are quoted: `span` is their half-open range in its text, or in its caption."""

    turn: Turn
    span: tuple[int, int]
    caption: bool = False

    @property
    def said(self) -> str:
        """The text that `span` is in."""
        return (self.turn.caption or "") if self.caption else self.turn.text

    @property
    def citation(self) -> Citation:
        """The quoted characters as a citation."""
        return Citation(self.turn.id, self.span, self.said[slice(*self.span)])

    @property
    def line(self) -> str:
        """Who said it, when, and the words; three dots where the turn goes on."""
        start, end = self.span
        before = "... " if self.said[:start].strip() else ""
        after = " ..." if self.said[end:].strip() else ""
        moment = self.turn.time
        who = f"{self.turn.speaker}{' (picture)' if self.caption else ''}"
        words = " ".join(self.said[start:end].split())
        return f'{who}, {moment.day} {moment:%B} {moment.year}: "{before}{words}{after}"'


@dataclass(frozen=True, slots=True)
class Quotation:
    """What is quoted, in dialogue order.

    `best` is the sentence of the turn that most probably holds the answer, `likely` the mean probability of the
    `PLACES` most probable turns, quoted or not.
    """

    extracts: tuple[Extract, ...]
    best: Match
    likely: float


def quote(view: View, matches: Matches, model: Linear) -> Quotation | None:
    """Return the best sentences of the turns that most probably hold the answer; None where none was compared."""
    likely = {turn: model.probability(signals) for turn, signals in turn_signals(view, matches).items()}
    best: dict[str, Match] = {}
    for match in sorted((m for m in matches.ranked if m.shown), key=lambda m: -strength(m)):
        best.setdefault(match.unit.turn.id, match)
    if not best:
        return None
    likeliest = sorted(best, key=lambda turn: -likely[turn])[:PLACES]
    form, extracts = asked_form(view.analysis.question), dict[str, Extract]()
    for turn in likeliest:
        if likely[turn] >= _LEAST * likely[likeliest[0]]:
            unit = best[turn].unit
            for extract in _place(view, unit, _extent(unit, form)):
                extracts.setdefault(extract.turn.id, extract)
    mean = sum(likely[turn] for turn in likeliest) / len(likeliest)
    at = places(view)
    quoted = sorted(extracts.values(), key=lambda one: at[one.turn.id])
    if len(quoted) < PLACES:  # what was said since may be the news, in words that no rule understands
        scores, last = {item.turn.id: item.score for item in view.shown}, quoted[-1].turn
        since = [i.turn for i in view.shown if i.turn.speaker == last.speaker and at[i.turn.id] > at[last.id]]
        quoted += [whole(turn) for turn in sorted(since, key=lambda turn: -scores[turn.id])[:1]]
    return Quotation(tuple(quoted), best[likeliest[0]], mean)


def turn_signals(view: View, matches: Matches) -> dict[str, Mapping[str, float]]:
    """Return the signals of each shown turn that it holds the answer, by id: the best of its sentences.

    `search` is the turn's score as a share of the best, `about` whether it may state something of the asked person,
    `near` and `window` how far it has the question's words, with what it replies to and with the dialogue around it,
    `typed` how far it looks like what is asked for, `newer` how late it was said where what holds now is asked for.
    """
    if not view.shown:
        return {}
    question, asked = view.analysis.question, view.analysis.asked
    scores = {item.turn.id: max(item.score, 0.0) if item.for_question else 0.0 for item in view.shown}
    times = {item.turn.id: item.turn.time for item in view.shown}
    most, first = max(scores.values()) or 1.0, min(times.values())
    lasted = (max(times.values()) - first).total_seconds() or 1.0
    newest, of_assistant = _NEWEST.search(question) is not None, _OF_ASSISTANT.search(question) is not None
    of_assistant = of_assistant and "assistant" in map(str.casefold, asked)
    named = any(name.casefold() not in ("user", "assistant") for name in asked)
    form = asked_form(question)
    telling = np.array([rarity * (stem(word) not in _LIGHT) for word, rarity in matches.weights.items()], np.float32)
    near = _near(view, matches, telling if telling.any() else np.ones_like(telling))
    said: dict[str, list[Match]] = {}
    for match in matches.ranked:
        if match.shown:
            said.setdefault(match.unit.turn.id, []).append(match)
    return {
        turn: {
            "search": scores[turn] / most,
            "about": float(
                is_assistant(some[0].unit.turn) == of_assistant
                and (not named or any(match.own >= _ABOUT for match in some))
            ),
            "near": near[turn],
            "window": max(match.window for match in some),
            "typed": max(looks(form, match.unit.text) for match in some),
            "newer": newest * (times[turn] - first).total_seconds() / lasted,
        }
        for turn, some in said.items()
    }


def _near(view: View, matches: Matches, weights: Array) -> dict[str, float]:
    """Return how far a sentence of each turn, with the question that it answers, has the words of a question.

    What is about another counts half.
    """
    total = float(weights.sum()) or 1.0
    asking = {m.unit.turn.id: m for m in reversed(matches.ranked) if m.unit.asks}
    before = {two.id: one for dialogue in view.context.values() for one, two in pairwise(dialogue)}
    near: dict[str, float] = {}
    for m in matches.ranked:
        turn, said = m.unit.turn, m.said
        asked = before.get(turn.id)
        if asked is not None and asked.speaker != turn.speaker and asked.id in asking:
            said = np.maximum(said, _REPLIED * asking[asked.id].said)
        near[turn.id] = max(near.get(turn.id, 0.0), (1 + m.own) / 2 * float(weights @ said) / total)
    return near


def asked_form(question: str) -> str:
    """Return the form of answer that a question asks for; nothing where its words show none."""
    return next((form for form, pattern in _ASKED.items() if pattern.search(question)), "")


def looks(form: str, text: str) -> float:
    """Return how far a sentence looks like one that answers: 1 with a value of the asked form, 0 without any sign."""
    if form == "date":
        return float(mentions_time(text))
    value, like = _VALUE.get(form), _LIKE.get(form)
    if value is not None and value.search(text):
        return 1.0
    return _MAYBE if like is not None and like.search(text) else 0.0


def unsettled(view: View, short: ShortAnswer) -> tuple[Extract, ...]:
    """Return the turns that may have changed a short answer since it was told, and those that told it, newest first.

    None where there are none of the first, and for what was already over. No rule reads what a later turn states. It is
    enough that its speaker is the one who told the answer, or that it names it, and that it has a word of change for
    the asked detail, or one of any change beside a word of the question or of the answer.
    """
    ordered, ids = in_order(view), {one.turn_id for one in short.citations}
    first = next(place for place, turn in enumerate(ordered) if turn.id in ids)
    start = short.time.start if short.time is not None else None
    if view.analysis.past or (start is not None and start <= ordered[first].time):
        return ()
    scores = {item.turn.id: item.score for item in view.shown}
    asked = asked_slot(view.analysis.question)
    row = asked.row if asked is not None else None
    value = _stems(short.text)
    about = value | _stems(view.analysis.question) | (row.words if row is not None else frozenset())

    def may_change(turn: Turn) -> bool:
        said = {stem(word) for word in words(turn.text)}
        if is_assistant(turn) or (turn.speaker != ordered[first].speaker and value.isdisjoint(said)):
            return False
        if row is not None and row.changes is not None and row.changes.search(turn.text):
            return not (value <= said and _DENIALS.isdisjoint(said))
        if about.isdisjoint(said) and scores.get(turn.id, 0.0) < _NEAR * scores.get(ordered[first].id, 1.0):
            return False
        return not said.isdisjoint(_ENDS | _DENIALS) or not (value <= said or _NEWS.isdisjoint(said))

    later = list(islice(filter(may_change, reversed(ordered[first + 1 :])), _LATER))
    since = {turn.id for turn in later}
    return tuple(whole(turn) for turn in reversed(ordered) if turn.id in ids | since) if later else ()


def whole(turn: Turn) -> Extract:
    """Return a turn as it is quoted by itself, cut where it is long."""
    return Extract(turn, _cut(turn.text, *_stripped(turn.text), _LONGEST))


def _place(view: View, unit: SentenceUnit, span: tuple[int, int]) -> list[Extract]:
    """Return what is quoted for a sentence: with its reply where it asks, with its question where it is a reply."""
    dialogue = view.context.get(unit.turn.id, (unit.turn,))
    at = next((number for number, turn in enumerate(dialogue) if turn.id == unit.turn.id), 0)
    quoted = Extract(unit.turn, _cut(unit.source, *span, _LONGEST), unit.caption)
    if unit.asks and at + 1 < len(dialogue) and dialogue[at + 1].speaker != unit.turn.speaker:
        reply = dialogue[at + 1]
        return (
            [quoted, Extract(reply, _cut(reply.text, *_stripped(reply.text), _SHORT))]
            if reply.text.strip()
            else [quoted]
        )
    before = dialogue[at - 1] if at else None
    if before is None or before.speaker == unit.turn.speaker or len(unit.turn.text) > _REPLY:
        return [quoted]
    return [Extract(before, _ending(before.text)), quoted] if is_question(before.text) else [quoted]


def _extent(unit: SentenceUnit, form: str) -> tuple[int, int]:
    """Return where what is quoted of a sentence begins and ends: all of a short turn, else the sentence.

    Where the value that is asked for stands in the sentence after or before it, that is quoted too.
    """
    start, end = _stripped(unit.source)
    if end - start <= _SHORT:
        return start, end
    start, end = unit.span
    if looks(form, unit.text) < 1:
        around = sentences_around(unit.source, unit.span, 2 * _LONGEST)
        after, before = [one for one in around if one[0] >= end], [one for one in around if one[1] <= start]
        for near in (*after[:1], *before[-1:]):
            low, high = min(start, near[0]), max(end, near[1])
            if looks(form, unit.source[slice(*near)]) == 1 and high - low <= _LONGEST:
                return low, high
    return start, end


def _stripped(text: str) -> tuple[int, int]:
    return len(text) - len(text.lstrip()), len(text.rstrip())


def _cut(text: str, start: int, end: int, longest: int) -> tuple[int, int]:
    """Return a range of at most so many characters, cut between words."""
    if end - start <= longest:
        return start, end
    space = text.rfind(" ", start, start + longest)
    return start, space if space > start else start + longest


def _ending(text: str) -> tuple[int, int]:
    start, end = _stripped(text)
    if end - start <= _SHORT:
        return start, end
    space = text.find(" ", end - _SHORT, end)
    return (space + 1 if space >= 0 else end - _SHORT), end


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)


def overview(view: View) -> tuple[Extract, ...]:
    """Return the turns that tell most of whom an overview is asked of; none for a question of another kind."""
    return view.kept_at_check("overview", lambda: _overview(view))


def _overview(view: View) -> tuple[Extract, ...]:
    if _asking().search(view.analysis.question) is None:
        return ()
    talking = [item for item in view.shown if not is_assistant(item.turn)]
    speakers = {item.turn.speaker for item in talking}
    asked = speakers.intersection(view.analysis.asked) or (set() if view.analysis.entities else speakers)
    if len(asked) != 1:
        return ()
    own = [item for item in talking if item.turn.speaker in asked and stance(item.turn) == "asserts"]
    best = sorted(own, key=lambda item: (not _tells(item), -item.score))[:MOST]
    chosen = {item.turn.id for item in best}
    return tuple(whole(turn) for turn in reversed(in_order(view)) if turn.id in chosen)


def _tells(item: Evidence) -> bool:
    return any(fact.replaced_by is None and is_of_profile(fact) for fact in item.facts)


@cache
def _asking() -> re.Pattern[str]:
    patterns = (pattern for code in LANGUAGES for pattern in Language(code).words("questions.overview"))
    return re.compile("|".join(patterns), re.IGNORECASE)
