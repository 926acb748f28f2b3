"""A message in, a block out: which turns stand in it, in what order they are tried, and how much of each is shown.

First the standing wishes nearest to the message, in a room of their own; then the hits, best first, until help stops:
the first few at length, of others a short turn whole and of a long one the sentence that matches best. What was said
in the same words is shown once, and what an assistant said that the user had said comes last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import TypeAlias

from ..embedding.token_bound import token_bound
from ..errors import without
from ..flow import Flow
from ..llm.shown_words import turn_texts
from ..protocols import Store
from ..query.find_turns import Wish, wishes_on
from ..query.remaining_turns import read_remaining
from ..text.memory_fence import WORKED_OUT, fenced
from ..text.terms import plainest, terms
from ..types.results import Block, BlockForm, CountTokens, Style
from ..types.stored import Scope
from ..types.values import Hit
from .gate import fitted, relevance
from .question import Asked, Recalled, Recollected, asks, find_for
from .quoted_lines import PARTS, FactReader, Line, Notes, Part, block_text, line_text

CLOSE = 0.95  # of the score of a hit: others that answer as well, of which the newest is tried first, if they have
SAME = 0.5  # of its words
STOPS = 0.45  # of the best score: of the turns that answer, 3 in 100 lie below it, and half of all others
RESTATES = 0.7  # of an assistant's words that a user's turn has too: it comes after that
LEADING, FIRST = 4, 400  # best turns, with notes, and characters that are shown of each; most answers stand in these
SHORT = 160  # characters of a turn beyond these that is shown whole
LINE = 100  # of a longer one: its best sentence, and others while they fit
READ = 2_000  # of a long one that are looked through for it, around what the search found
COMPARED = 400  # characters of a turn that are compared with others
LEAST = 10  # tokens of a line: with fewer left, nothing more is tried
MOST_MISFITS = 8
NUMBERED = 10  # what a line is counted with: no number of a usual block is longer
MOST_FIRST, FIRST_SHARE, MOST_FIRST_TOKENS = 8, 0.16, 300  # standing wishes, and their room; the same of a profile

Profile = Callable[[Collection[str]], Sequence[Wish]]  # what was said of people, the newest first
_Group: TypeAlias = tuple[frozenset[str], Hit]  # the words of a turn, and its hit


def write_block(  # noqa: PLR0913, PLR0917 - what a block is made from
    store: Store,
    recalled: Recalled,
    facts: FactReader,
    asked: Asked,
    form: BlockForm,
    asked_at: datetime | None,
    exclude: Collection[str],
    scope: Scope,
    profile: Profile | None = None,
) -> Flow[Block]:
    """Search once for a message, and write what helps to reply to it within the tokens of a form."""
    found = yield from find_for(store, recalled, asked, form.tokens, asked_at, exclude, scope)
    relevant = without(1.0, relevance, asked, found)  # a gate that cannot be read is open
    if form.gate and asked.earlier and relevant < fitted().least:  # it may point at what is told by itself alone
        asked = replace(asked, earlier=())
        found = yield from find_for(store, recalled, asked, form.tokens, asked_at, exclude, scope)
        relevant = without(1.0, relevance, asked, found)
    if form.gate and relevant < fitted().least:
        return Block("", (), 0, relevant)
    count = form.count or token_bound
    first: dict[Part, Sequence[Wish]] = {"wish": wishes_on(store, found.query, found.speakers)}
    if profile:
        known = profile(found.hinted.names)
        first["profile"] = [one for one in known if not asked.holds(one.turn.text)]
    notes = Notes(facts, found.hits, found.date_order, dated=found.query.when)
    lines = compose(found, first, terms_in(asked.searched), form.tokens, form.style, count, notes)
    lines = _in_dialogue_order(store, lines)
    text = block_text(lines, form.style)
    while (taken := count(text) if text else 0) > form.tokens:  # not met so far: the tokens of lines add up
        lines = lines[:-1]
        text = block_text(lines, form.style)
    return Block(text, tuple(line.turn for line in lines), taken, relevant)


def _in_dialogue_order(store: Store, lines: Sequence[Line]) -> tuple[Line, ...]:
    """Sort by time; lines of one minute as their turns came, asked of the store where there are any.

    Lines whose turns turn out to have been forgotten meanwhile are left out.
    """
    minutes = Counter(line.turn.time.replace(second=0, microsecond=0) for line in lines)
    alike = [line.turn.id for line in lines if minutes[line.turn.time.replace(second=0, microsecond=0)] > 1]
    ordered = read_remaining(store, store.order, alike) if alike else ()
    places = {turn_id: place for place, turn_id in enumerate(ordered)}
    gone = set(alike).difference(places)
    kept = [line for line in lines if line.turn.id not in gone]
    return tuple(sorted(kept, key=lambda line: (PARTS.index(line.part), line.turn.time, places.get(line.turn.id, 0))))


def compose(
    found: Recollected,
    first: Mapping[Part, Sequence[Wish]],
    wanted: Collection[str],
    tokens: int,
    style: Style,
    count: CountTokens,
    notes: Notes,
) -> tuple[Line, ...]:
    """Return the lines of a block as they were chosen; `wanted` are the terms by which passages are shown."""
    page = _Filling(style, count, frozenset(wanted), tokens, notes)
    for part, said in first.items():
        page.add_first(part, said[:MOST_FIRST], min(MOST_FIRST_TOKENS, int(FIRST_SHARE * tokens)))
    groups = _newest_first(_told_apart(found.hits))
    for _, hit in _own_word_first(groups):
        if page.is_full:
            break
        page.add(hit)
    return tuple(page.lines)


def terms_in(text: str) -> frozenset[str]:
    """Return the terms of a text, its plain words where these cannot be read."""
    return frozenset(without([], terms, text) or plainest(text))


def _newest_first(groups: Sequence[_Group]) -> list[_Group]:
    """Return groups as they come, but what answers as well in much the same words by time: what was said last holds."""
    ordered = list(groups)
    for place, (said, hit) in enumerate(ordered):
        close = [place]
        for other in range(place + 1, len(ordered)):
            words, next_hit = ordered[other]
            if next_hit.score < CLOSE * hit.score:
                break
            if next_hit.turn.speaker == hit.turn.speaker and 2 * len(words & said) >= SAME * (len(words) + len(said)):
                close.append(other)
        if len(close) > 1:
            newest = sorted((ordered[each] for each in close), key=lambda one: one[1].turn.time, reverse=True)
            for each, group in zip(close, newest, strict=True):
                ordered[each] = group
    return ordered


def _told_apart(hits: Sequence[Hit]) -> list[_Group]:
    """Return the hits that help; what a speaker said again in the same words, once."""
    groups: list[_Group] = []
    seen: set[tuple[str, str]] = set()
    for hit in hits:
        if hit.score < STOPS * hits[0].score:
            break
        key = hit.turn.speaker, _plain_words(hit.turn.text)
        if key not in seen:
            seen.add(key)
            groups.append((terms_in(hit.turn.text[:COMPARED]), hit))
    return groups


def _plain_words(text: str) -> str:
    """Return a text without what tells no two sayings apart: case, blanks and closing marks."""
    return " ".join(text.casefold().split()).rstrip(".!?\u2026 ")


def _own_word_first(groups: Sequence[_Group]) -> Iterator[_Group]:
    """Yield groups as they come, but last what an assistant said that the user had said."""
    own = [said for said, hit in groups if hit.turn.role == "user" and not asks(hit.turn)]
    late: list[_Group] = []
    for group in groups:
        said, hit = group
        if hit.turn.role == "assistant" and said and any(len(said & one) >= RESTATES * len(said) for one in own):
            late.append(group)
        else:
            yield group
    yield from late


class _Filling:
    """Takes lines while they fit."""

    def __init__(self, style: Style, count: CountTokens, wanted: frozenset[str], tokens: int, notes: Notes) -> None:
        self.lines: list[Line] = []
        self._style, self._count, self._wanted, self._notes = style, count, wanted, notes
        self._left = tokens - count(fenced(()))
        self._misfits = 0
        self._shown: set[str] = set()
        self._of: dict[tuple[str, date, int], Line] = {}  # a line of each day and of each hour

    @property
    def is_full(self) -> bool:
        return self._left < LEAST or self._misfits >= MOST_MISFITS

    def add_first(self, part: Part, said: Iterable[Wish], room: int) -> None:
        """Take what stands before the hits, as far as it fits into a room of its own."""
        least = self._left - room
        for one in said:
            self._take(Line(one.turn, one.text, part=part), least)

    def add(self, hit: Hit) -> None:
        """Take a hit, shorter where it does not fit otherwise, and what it means."""
        if hit.turn.id in self._shown:
            return
        sizes = (FIRST, LINE) if len(self.lines) < LEADING else (LINE,)
        for said in turn_texts(hit.turn, self._wanted, sizes, hit.span, short=SHORT, read=READ):
            if self._take(Line(hit.turn, said)):
                if len(self.lines) <= LEADING:
                    self._add_notes(self._notes.on(hit.turn, said))
                return
        self._misfits += 1

    def _add_notes(self, notes: tuple[str, ...]) -> None:
        """Add notes to the line that was taken last, where they fit: reading dates costs more than all the rest."""
        cost = sum(self._count(f"\n{WORKED_OUT}{one}") for one in notes)
        if notes and cost <= self._left:
            self._left -= cost
            self.lines[-1] = replace(self.lines[-1], worked_out=notes)

    def _take(self, line: Line, least: int = 0) -> bool:
        above = next(filter(None, (self._of.get(line.hour), self._of.get(line.day), *self.lines[-1:])), None)
        cost = self._count(f"\n{line_text(NUMBERED, line, above, self._style)}")
        if self._left - cost < least:
            return False
        self._left -= cost
        self._of |= {line.day: line, line.hour: line}
        self._shown.add(line.turn.id)
        self.lines.append(line)
        return True
