"""The sentences to read for an answer: the best one to three, in dialogue order, each with who said it and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cmp_to_key

from ..judging.evidence import View
from ..types.answer import Citation
from ..types.values import Turn
from .match_sentences import Match, Matches, strength
from .sentence_units import SentenceUnit, is_question

PLACES = 3  # a question with its reply counts as one
# Share of the best place's probability below which a further place is not quoted: 2.6 are quoted on average, and a gold
# turn is among them for .763 of our answerable questions, against .770 if it is always three.
_LEAST = 0.3
_SHORT = 80  # characters of a reply that is not understood without its question
_REPLY = 200  # characters that are quoted of a reply
_LONGEST = 400  # characters that are quoted of one sentence


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

    @property
    def text(self) -> str:
        """The quotation, a line for each turn."""
        return "\n".join(extract.line for extract in self.extracts)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The quoted places."""
        return tuple(extract.citation for extract in self.extracts)


def quote(view: View, matches: Matches, likely: Mapping[str, float]) -> Quotation | None:
    """Return the best sentences of the turns that most probably hold the answer; None where none was compared.

    `likely` has the probability of each shown turn.
    """
    current = [match for match in matches.ranked if match.shown and not match.outdated]
    best: dict[str, Match] = {}
    for match in sorted(current or [m for m in matches.ranked if m.shown], key=lambda m: -strength(m)):
        best.setdefault(match.unit.turn.id, match)
    if not best:
        return None
    places = sorted(best, key=lambda turn: -likely[turn])[:PLACES]
    extracts: dict[str, Extract] = {}
    for turn in places:
        if likely[turn] >= _LEAST * likely[places[0]]:
            for extract in _place(view, best[turn].unit):
                extracts.setdefault(extract.turn.id, extract)
    mean = sum(likely[turn] for turn in places) / len(places)
    return Quotation(_in_order(view, list(extracts.values())), best[places[0]], mean)


def whole(turn: Turn) -> Extract:
    """Return a turn as it is quoted by itself, cut where it is long."""
    start, end = len(turn.text) - len(turn.text.lstrip()), len(turn.text.rstrip())
    return Extract(turn, (start, end if end - start <= _LONGEST else _last_space(turn.text, start, start + _LONGEST)))


def _place(view: View, unit: SentenceUnit) -> list[Extract]:
    """Return a sentence; with its reply where it asks, with its question where it is a short reply."""
    dialogue = view.context.get(unit.turn.id, (unit.turn,))
    at = next((number for number, turn in enumerate(dialogue) if turn.id == unit.turn.id), 0)
    quoted = Extract(unit.turn, _cut(unit.span, _LONGEST, unit), unit.caption)
    if unit.asks and at + 1 < len(dialogue) and dialogue[at + 1].speaker != unit.turn.speaker:
        reply = dialogue[at + 1]
        return [quoted, Extract(reply, _beginning(reply.text))] if reply.text.strip() else [quoted]
    before = dialogue[at - 1] if at else None
    if before is None or before.speaker == unit.turn.speaker or len(unit.turn.text) > _SHORT:
        return [quoted]
    return [Extract(before, _ending(before.text)), quoted] if is_question(before.text) else [quoted]


def _cut(span: tuple[int, int], longest: int, unit: SentenceUnit) -> tuple[int, int]:
    start, end = span
    if end - start <= longest:
        return span
    return start, _last_space(unit.source, start, start + longest)


def _beginning(text: str) -> tuple[int, int]:
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    return (start, end) if end - start <= _REPLY else (start, _last_space(text, start, start + _REPLY))


def _ending(text: str) -> tuple[int, int]:
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if end - start <= _REPLY:
        return start, end
    space = text.find(" ", end - _REPLY, end)
    return (space + 1 if space >= 0 else end - _REPLY), end


def _last_space(text: str, start: int, end: int) -> int:
    space = text.rfind(" ", start, end)
    return space if space > start else end


def _in_order(view: View, extracts: Sequence[Extract]) -> tuple[Extract, ...]:
    """Return extracts by time; turns of one moment as a dialogue has them."""

    def compare(one: Extract, other: Extract) -> int:
        if one.turn.time != other.turn.time:
            return -1 if one.turn.time < other.turn.time else 1
        for dialogue in view.context.values():
            ids = [turn.id for turn in dialogue]
            if one.turn.id in ids and other.turn.id in ids:
                return ids.index(one.turn.id) - ids.index(other.turn.id)
        return 0

    return tuple(sorted(extracts, key=cmp_to_key(compare)))
