"""The sentences to read for an answer: the best one to three, in dialogue order, each with who said it and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cmp_to_key

from ..judging.evidence import View
from ..types.answer import Citation
from ..types.values import Turn
from .match_sentences import Match, Matches, strength
from .sentence_units import SentenceUnit, is_question

PLACES = 3  # a question with its reply counts as one
_LEAST = 0.6  # share of the best place's fit below which a further place is not quoted
# Weight of a turn's search score, as a share of the best one's; the strength of a sentence is about 1 to 3.
_SEARCH = 8.0
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
    """What is quoted, in dialogue order, and how well the best place and the first that is left out fit (0 if none)."""

    extracts: tuple[Extract, ...]
    best: float
    next: float

    @property
    def text(self) -> str:
        """The quotation, a line for each turn."""
        return "\n".join(extract.line for extract in self.extracts)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The quoted places."""
        return tuple(extract.citation for extract in self.extracts)


def quote(view: View, matches: Matches) -> Quotation | None:
    """Return the best places of the shown evidence; None where no sentence was compared with the question."""
    places = _ranked(view, matches)
    if not places:
        return None
    best = places[0][0]
    taken = [match for fit, match in places[:PLACES] if fit >= _LEAST * best]
    left = places[len(taken)][0] if len(places) > len(taken) else 0.0
    extracts: dict[str, Extract] = {}
    for match in taken:
        for extract in _place(view, match.unit):
            extracts.setdefault(extract.turn.id, extract)
    return Quotation(_in_order(view, list(extracts.values())), best, left)


def _ranked(view: View, matches: Matches) -> list[tuple[float, Match]]:
    """Return the best sentence of each shown turn with how well it fits, best first.

    A sentence is as good as it matches the question and as its turn was found: the search sees all of the dialogue.
    """
    found = {item.turn.id: item.score for item in view.shown if item.for_question}
    most = max(found.values(), default=0.0)
    best: dict[str, Match] = {}
    current = [match for match in matches.ranked if match.shown and not match.outdated]
    for match in sorted(current or [m for m in matches.ranked if m.shown], key=lambda m: -strength(m)):
        best.setdefault(match.unit.turn.id, match)
    shares = {turn: found.get(turn, 0.0) / most if most > 0 else 0.0 for turn in best}
    fits = [(strength(match) + _SEARCH * shares[turn], match) for turn, match in best.items()]
    return sorted(fits, key=lambda one: -one[0])


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
