"""Quote the lines to read for an answer: at most five, best first, each with its speaker and day.

A line quotes the sentence of a turn that most probably holds the answer, by a linear model over few named signals: it
may hold it in words that no rule understands. A short reply stands with its question and a question with its reply.
Beside a phrase such as "last Friday" stands its date. After the best lines come later mentions of the same things,
since no rule reads whether they are news. An overview ("tell me all about me") quotes the newest statements first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np

from ..errors import or_else
from ..extract.turn_facts import classify_stance
from ..judging.evidence import View
from ..lang import ENGLISH, Language
from ..lang.guess import LANGUAGES
from ..text.sentences import sentences_around
from ..text.terms import stem, words
from ..times import Conventions, mentions_time
from ..times.computed import date_notes
from ..times.lexicon import SIMPLE_NUMBERS, TENS
from ..types.results import Citation
from ..types.values import Turn
from .matching import (
    MIN_WORD_WEIGHT,
    Array,
    Match,
    Matches,
    SentenceUnit,
    content_words,
    is_assistant,
    is_question,
    rarity,
    strength,
    turn_places,
)
from .signals import Linear

MAX_LINES = 5
MEAN_LIKELY_TURNS = 3  # turns whose mean probability is a signal
_MIN_LINE_SHARE = 0.1  # of the best turn's probability, below which a turn is not quoted
_SURE_SHARE = 0.35  # of the best turn's probability; a less probable last line makes way for a later mention
_SAME_WORDS = 0.75  # share of the words of two questions, by weight, from which they ask the same
_MAX_REPLY_CHARACTERS = 80  # a longer reply is understood without its question
_MAX_WHOLE_CHARACTERS = 200  # a longer turn is quoted by sentences
_MAX_LINE_CHARACTERS = 400  # of one sentence
_MIN_OWNERSHIP = 0.5  # weight (0 to 1) by which a sentence must be about the target
_REPLY_WORD_CREDIT = 0.9  # a word of the question that a turn answers counts as much in the turn
_LIKE_FORM_CREDIT = 0.5  # of a sentence that shows a sign of the asked form, without a value
_MIN_LATER_SCORE_SHARE = 0.6  # of the best line's search score, from which a later turn is as near
_MIN_THING_RARITY = 0.3  # a commoner word names no thing
_MAX_THINGS = 4  # words of the best line whose later mentions are looked up
_MAX_MENTIONING_TURNS = 30  # a word that more turns have tells nothing apart
_MENTIONS_READ = 3  # newest turns that are read for each
_LIGHT_STEMS = frozenset(stem(word) for word in ENGLISH.words("quotations.light"))

_any = ENGLISH.any_of_source
CURRENCY = r"$\u00a3\u20ac\u20a6\u20b9\u00a5"  # characters of a regular expression's set
_SPELLED = "|".join(
    (
        *TENS,
        *ENGLISH.words("questions.large_numbers"),
        *(word for word, number in SIMPLE_NUMBERS.items() if 0 < number <= 20),
    )
)
NUMBER = rf"(?:\d+(?:[.,]\d+)*|(?:{_SPELLED})(?:[- ](?:and[- ])?(?:{_SPELLED}))*)"
MONEY = re.compile(
    rf"[{CURRENCY}]\s?[-\u2212]?\d+(?:[.,]\d+)*(?:\s?(?:k|million))?"
    rf"|\b{_any('questions.money_codes')}\b\.?\s?[-\u2212]?\d+(?:[.,]\d+)*"
    rf"|\b\d+(?:[.,]\d+)*\s?k?\s?[{CURRENCY}\u00a2]"
    rf"|\b{NUMBER}\s*(?:{_any('questions.currencies')}|(?:{'|'.join(ENGLISH.words('questions.money_units'))}))\b",
    re.IGNORECASE,
)
_SIZE = (
    rf"\b{NUMBER}(?:\s*(?:x|by)\s*{NUMBER})?[\s-]*(?:square\s+)?(?:mm|cm|km|m\u00b2|m|(?:centi|kilo|milli)?met(?:er|re)s?"
    r"|inch(?:es)?|foot|feet|ft|yards?|miles?|acres?|hectares?|lit(?:er|re)s?)\b"
)
_PATTERN_PARTS = {
    "number": NUMBER,
    "unit": _any("questions.answer_units"),
    "money": MONEY.pattern,
    "size": _SIZE,
    "colour": _any("word_classes.colours.basic", "word_classes.colours.other"),
}


def _compile_patterns(*patterns: str) -> re.Pattern[str]:
    source = "|".join(patterns)
    for name, part in _PATTERN_PARTS.items():
        source = source.replace(f"{{{name}}}", part)
    return re.compile(source, re.IGNORECASE)


_NEWEST_QUESTION = _compile_patterns(*ENGLISH.words("quotations.newest"))
_ASSISTANT_QUESTION = _compile_patterns(*ENGLISH.words("quotations.of_assistant"))
_ASKED_FORMS = {form: _compile_patterns(*patterns) for form, patterns in ENGLISH.lists("quotations.asked").items()}
_FORM_VALUES = {form: _compile_patterns(*patterns) for form, patterns in ENGLISH.lists("quotations.value").items()}
_FORM_SIGNS = {
    form: _compile_patterns(*patterns)
    for forms, patterns in ENGLISH.lists("quotations.like").items()
    for form in forms.split()
}


@dataclass(frozen=True, slots=True)
class Extract:
    """Characters of a turn that are quoted: `span` is their half-open range in its text, or in its caption."""

    turn: Turn
    span: tuple[int, int]
    caption: bool = False

    @property
    def source(self) -> str:
        """The text that `span` lies in."""
        return (self.turn.caption or "") if self.caption else self.turn.text

    @property
    def citation(self) -> Citation:
        """The quoted characters as a citation."""
        return Citation(self.turn.id, self.span, self.source[slice(*self.span)])

    @property
    def speaker(self) -> str:
        """The speaker's name, with a mark at the caption of a picture."""
        return f"{self.turn.speaker}{' (picture)' if self.caption else ''}"

    @property
    def day(self) -> str:
        """The day on which it was said, as "12 March 2024"."""
        return f"{self.turn.time.day} {self.turn.time:%B} {self.turn.time.year}"

    @property
    def quoted(self) -> str:
        """The words between quotation marks; three dots where the turn goes on."""
        start, end = self.span
        before = "... " if self.source[:start].strip() else ""
        after = " ..." if self.source[end:].strip() else ""
        return f'"{before}{" ".join(self.source[start:end].split())}{after}"'


@dataclass(frozen=True, slots=True)
class QuotedLine:
    """One line of a quotation: an extract, or a question and its reply in dialogue order; `dates` of its phrases."""

    extracts: tuple[Extract, ...]
    dates: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The line: `Mira, 12 March 2024: "We adopted a puppy last Friday." ("last Friday": 8 March 2024)`."""
        parts, day, speaker = list[str](), "", ""
        for one in self.extracts:
            head = f"{'' if one.speaker == speaker else one.speaker}{'' if one.day == day else f', {one.day}'}"
            parts.append(f"{head}: {one.quoted}" if head else one.quoted)
            day, speaker = one.day, one.speaker
        dates = "; ".join(f'"{" ".join(phrase.split())}": {date}' for phrase, date in self.dates)
        return " / ".join(parts) + (f" ({dates})" if dates else "")


@dataclass(frozen=True, slots=True)
class LikelyTurns:
    """The shown turns that may hold the answer, by id, most probable first, each with its best sentence.

    `mean` is the mean probability of the `MEAN_LIKELY_TURNS` most probable.
    """

    best: Mapping[str, Match]
    probabilities: Mapping[str, float]

    @property
    def mean(self) -> float:
        first = list(self.probabilities.values())[:MEAN_LIKELY_TURNS]
        return sum(first) / len(first)

    @property
    def first(self) -> Match:
        """The best sentence of the most probable turn."""
        return next(iter(self.best.values()))


@dataclass(frozen=True, slots=True)
class Quotation:
    """The quoted lines, best first, and the turns of them that were looked up in the memory beyond the view."""

    lines: tuple[QuotedLine, ...]
    read: tuple[Turn, ...] = ()


def without_repeats(view: View) -> View:
    """Return the view without turns that only ask its question over again: they are no evidence for an answer.

    A user asks of themselves more than once, and a chat that is remembered holds the question. Of other things, and
    among people, one asks and another answers: there the question leads to its answer, and stays.
    """
    if {name.casefold() for name in view.analysis.asked} != {"user"}:
        return view
    turns = (*view.turns_around.values(), *(item.turn for item in view.evidence))
    repeats = {turn.id for turn in {turn.id: turn for turn in turns}.values() if _repeats(view, turn)}
    if not repeats:
        return view
    context = {turn: tuple(one for one in around if one.id not in repeats) for turn, around in view.context.items()}
    evidence, shown = (tuple(one for one in some if one.turn.id not in repeats) for some in (view.evidence, view.shown))
    return replace(view, evidence=evidence, shown=shown, context=context)


def _repeats(view: View, turn: Turn) -> bool:
    """Return whether a turn of the user only repeats the question: in the same form, with the same words."""
    if (turn.role or turn.speaker).casefold() != "user" or len(turn.text) > _MAX_WHOLE_CHARACTERS:
        return False
    question = view.analysis.question
    names = {stem(word) for name in view.speakers for word in words(name)}
    asked, said = (
        {stem(word) for word in content_words(text)} - names - _LIGHT_STEMS for text in (question, turn.text)
    )
    common, all_words = (
        sum(MIN_WORD_WEIGHT + rarity(term) for term in terms) for terms in (asked & said, asked | said)
    )
    near = common >= _SAME_WORDS * all_words > 0
    return near and asked_form(question) == asked_form(turn.text) and classify_stance(turn) != "asserts"


def likely_turns(view: View, matches: Matches, model: Linear) -> LikelyTurns | None:
    """Return the turns that most probably hold the answer; None where no sentence was compared."""
    best: dict[str, Match] = {}
    for match in sorted((m for m in matches.ranked if m.shown), key=lambda m: -strength(m)):
        best.setdefault(match.unit.turn.id, match)
    if not best:
        return None
    likely = {turn: model.probability(signals) for turn, signals in turn_signals(view, matches).items()}
    at = turn_places(view)
    order = sorted(best, key=lambda turn: (-round(likely[turn], 6), -at[turn]))  # of equally likely ones the newest
    return LikelyTurns({turn: best[turn] for turn in order}, {turn: likely[turn] for turn in order})


def quote(view: View, likely: LikelyTurns, conventions: Conventions = Conventions()) -> Quotation:
    """Return the lines that most probably hold the answer, best first, then a later mention of the same things."""
    best = next(iter(likely.probabilities.values()))
    form, lines, quoted = asked_form(view.analysis.question), list[tuple[Extract, ...]](), set[str]()
    last = best
    for turn, match in likely.best.items():
        if turn not in quoted and len(lines) < MAX_LINES and likely.probabilities[turn] >= _MIN_LINE_SHARE * best:
            last = likely.probabilities[turn]
            lines.append(_with_neighbour(view, match.unit, _quoted_span(match.unit, form)))
            quoted.update(one.turn.id for one in lines[-1])
    later = or_else((), later_mentions, view, lines) if len(lines) < MAX_LINES or last < _SURE_SHARE * best else ()
    lines = [*lines[: MAX_LINES - len(later)], *((quote_turn(turn),) for turn in later)]
    return Quotation(tuple(add_dates(line, conventions) for line in lines), later)


def add_dates(extracts: Sequence[Extract], conventions: Conventions) -> QuotedLine:
    """Return a line with the dates of its relative phrases, such as "last Friday"."""
    dates = {
        note: None
        for one in extracts
        for note in or_else([], date_notes, one.source, one.turn.time, conventions)
        if note[0] in one.source[slice(*one.span)]
    }
    return QuotedLine(tuple(extracts), tuple(dates))


def later_mentions(view: View, lines: Sequence[Sequence[Extract]]) -> tuple[Turn, ...]:
    """Return the newest later turn that speaks of the things that the best line names, or none.

    Things are names in it, and rare words that it shares with the question; a found turn of its speaker that is nearly
    as near to the question counts too. Turns of an assistant and mere questions are no news.
    """
    best = lines[0][-1].turn
    known = {one.turn.id for line in lines[: MAX_LINES - 1] for one in line}
    found = {item.turn.id: item.turn for item in view.shown}
    scores = {item.turn.id: item.score for item in view.evidence}
    own = {turn.id for turn in found.values() if turn.speaker == best.speaker}
    near = {turn_id for turn_id in own if scores[turn_id] >= _MIN_LATER_SCORE_SHARE * scores.get(best.id, 1.0)}
    if things := _things(view, lines[0])[:_MAX_THINGS]:
        read = view.store.mentions(things, _MENTIONS_READ, _MAX_MENTIONING_TURNS, view.scope)
        near.update(turn.id for turn in read)
        found |= {turn.id: turn for turn in read}
    for ids in (
        near,
        own if len(lines) < MAX_LINES else set[str](),
    ):  # a later turn may bring the news in other words
        later = (found[turn_id] for turn_id in sorted(ids - known - view.exclude) if found[turn_id].time > best.time)
        told = [
            turn
            for turn in later
            if not is_assistant(turn) and turn.role != "system" and classify_stance(turn) != "asks"
        ]
        if told:
            return (max(told, key=lambda turn: turn.time.timestamp() if ids is near else scores[turn.id]),)
    return ()


def _things(view: View, line: Sequence[Extract]) -> list[str]:
    """Return the stems of the things that a line names, the rarest first."""
    said = " ".join(one.source[slice(*one.span)] for one in line)
    speakers = {stem(word) for name in view.speakers for word in words(name)}
    named = {stem(word) for name in re.findall(r"(?<![.!?\n] )(?<!^)\b[A-Z]\w+", said) for word in words(name)}
    shared = {stem(word) for word in words(said)} & {stem(word) for word in view.analysis.keywords}
    things = (named | {term for term in shared if rarity(term) >= _MIN_THING_RARITY}) - speakers - _LIGHT_STEMS
    return sorted(things, key=lambda term: (-rarity(term), term))


def turn_signals(view: View, matches: Matches) -> dict[str, Mapping[str, float]]:
    """Return the signals of each shown turn, by id, from the best of its sentences.

    `search` is the turn's score as a share of the best, `about` whether it may state something of the asked person,
    `near` and `window` how far it has the question's words, with the turn that it answers and with the dialogue around
    it, `typed` how far it looks like the asked form of answer, `newer` how late it was said, where the newest is asked
    for.
    """
    if not view.shown:
        return {}
    question, asked = view.analysis.question, view.analysis.asked
    scores = {item.turn.id: max(item.score, 0.0) if item.for_question else 0.0 for item in view.shown}
    times = {item.turn.id: item.turn.time for item in view.shown}
    most, first = max(scores.values()) or 1.0, min(times.values())
    lasted = (max(times.values()) - first).total_seconds() or 1.0
    newest = _NEWEST_QUESTION.search(question) is not None
    of_assistant = _ASSISTANT_QUESTION.search(question) is not None and "assistant" in map(str.casefold, asked)
    named = any(name.casefold() not in ("user", "assistant") for name in asked)
    form = asked_form(question)
    shares = [weight * (stem(word) not in _LIGHT_STEMS) for word, weight in matches.weights.items()]
    telling = np.array(shares, np.float32)
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
                and (not named or any(match.own >= _MIN_OWNERSHIP for match in some))
            ),
            "near": near[turn],
            "window": max(match.window for match in some),
            "typed": max(rate_form(form, match.unit.text) for match in some),
            "newer": newest * (times[turn] - first).total_seconds() / lasted,
        }
        for turn, some in said.items()
    }


def _near(view: View, matches: Matches, weights: Array) -> dict[str, float]:
    """Return the weighted share of the question's words in each turn, with the question that it answers, by id of turn.

    A sentence about another person counts half.
    """
    total = float(weights.sum()) or 1.0
    asking = {m.unit.turn.id: m for m in reversed(matches.ranked) if m.unit.asks}
    before = {two.id: one for dialogue in view.context.values() for one, two in pairwise(dialogue)}
    near: dict[str, float] = {}
    for m in matches.ranked:
        turn, said = m.unit.turn, m.said
        asked = before.get(turn.id)
        if asked is not None and asked.speaker != turn.speaker and asked.id in asking:
            said = np.maximum(said, _REPLY_WORD_CREDIT * asking[asked.id].said)
        near[turn.id] = max(near.get(turn.id, 0.0), (1 + m.own) / 2 * float(weights @ said) / total)
    return near


def asked_form(question: str) -> str:
    """Return the form of answer that a question asks for, such as "date"; empty where its words show none."""
    return next((form for form, pattern in _ASKED_FORMS.items() if pattern.search(question)), "")


def rate_form(form: str, text: str) -> float:
    """Return 1 for a sentence with a value of the asked form, 0 without any sign of one, else between."""
    if form == "date":
        return float(mentions_time(text))
    value, like = _FORM_VALUES.get(form), _FORM_SIGNS.get(form)
    if value is not None and value.search(text):
        return 1.0
    return _LIKE_FORM_CREDIT if like is not None and like.search(text) else 0.0


def quote_turn(turn: Turn) -> Extract:
    """Quote a turn by itself, cut where it is long."""
    return Extract(turn, _cut(turn.text, *_trim(turn.text), _MAX_LINE_CHARACTERS))


def _with_neighbour(view: View, unit: SentenceUnit, span: tuple[int, int]) -> tuple[Extract, ...]:
    """Quote a sentence with the neighbours it needs, in dialogue order.

    Those are the reply where it asks for something, and the question where it is a reply.
    """
    dialogue = view.context.get(unit.turn.id, (unit.turn,))
    at = next((number for number, turn in enumerate(dialogue) if turn.id == unit.turn.id), 0)
    quoted = Extract(unit.turn, _cut(unit.source, *span, _MAX_LINE_CHARACTERS), unit.caption)
    before = dialogue[at - 1] if at else None
    after = dialogue[at + 1] if at + 1 < len(dialogue) and dialogue[at + 1].text.strip() else None
    first, last = list[Extract](), list[Extract]()
    asks = unit.asks or classify_stance(unit.turn) != "asserts"
    replies = after is not None and asks and after.speaker != unit.turn.speaker
    if after is not None and replies:
        last = [Extract(after, _cut(after.text, *_trim(after.text), _MAX_WHOLE_CHARACTERS))]
    if before is not None and len(unit.turn.text) <= _MAX_REPLY_CHARACTERS:
        asked = before.speaker != unit.turn.speaker and is_question(before.text)
        first = [Extract(before, _last_words(before.text))] if asked else []
    return (*first, quoted, *last)


def _quoted_span(unit: SentenceUnit, form: str) -> tuple[int, int]:
    """Return the range of characters to quote for a sentence: all of a short turn, else the sentence.

    Where the asked value stands in the sentence after or before it, that is quoted too.
    """
    start, end = _trim(unit.source)
    if end - start <= _MAX_WHOLE_CHARACTERS:
        return start, end
    start, end = unit.span
    if rate_form(form, unit.text) < 1:
        around = sentences_around(unit.source, unit.span, 2 * _MAX_LINE_CHARACTERS)
        after, before = [one for one in around if one[0] >= end], [one for one in around if one[1] <= start]
        for near in (*after[:1], *before[-1:]):
            low, high = min(start, near[0]), max(end, near[1])
            if rate_form(form, unit.source[slice(*near)]) == 1 and high - low <= _MAX_LINE_CHARACTERS:
                return low, high
    return start, end


def _trim(text: str) -> tuple[int, int]:
    return len(text) - len(text.lstrip()), len(text.rstrip())


def _cut(text: str, start: int, end: int, longest: int) -> tuple[int, int]:
    """Cut a range to at most so many characters, between words."""
    if end - start <= longest:
        return start, end
    space = text.rfind(" ", start, start + longest)
    return start, space if space > start else start + longest


def _last_words(text: str) -> tuple[int, int]:
    start, end = _trim(text)
    if end - start <= _MAX_WHOLE_CHARACTERS:
        return start, end
    space = text.find(" ", end - _MAX_WHOLE_CHARACTERS, end)
    return (space + 1 if space >= 0 else end - _MAX_WHOLE_CHARACTERS), end


def quote_overview(view: View) -> tuple[QuotedLine, ...]:
    """Quote the statements of the speaker whom an overview asks about, newest first; nothing for another question."""
    if _overview_pattern().search(view.analysis.question) is None:
        return ()
    talking = [item for item in view.shown if not is_assistant(item.turn)]
    speakers = {item.turn.speaker for item in talking}
    asked = speakers.intersection(view.analysis.asked) or (set() if view.analysis.entities else speakers)
    if len(asked) != 1:
        return ()
    own = [item for item in talking if item.turn.speaker in asked and classify_stance(item.turn) == "asserts"]
    best = sorted(own, key=lambda item: (not item.facts, -item.score))[:MAX_LINES]
    at = turn_places(view)
    newest = sorted((item.turn for item in best), key=lambda turn: at[turn.id], reverse=True)
    return tuple(add_dates((quote_turn(turn),), Conventions()) for turn in newest)


@cache
def _overview_pattern() -> re.Pattern[str]:
    patterns = (pattern for code in LANGUAGES for pattern in Language(code).words("questions.overview"))
    return re.compile("|".join(patterns), re.IGNORECASE)
