"""Which turns stand in a block, in what order they are tried, and how much of each is shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..judging.shown_passages import most_shown
from ..llm.evidence_prompt import turn_text
from ..text.terms import terms
from ..types.block import CountTokens, Style
from ..types.values import Hit, Turn
from .find import Found, asks
from ..text.memory_fence import fenced
from .render import Line, dates_in, written

ALIKE = 0.8  # of the words of two turns that one of them is shown for both
RESTATES = 0.7  # of an assistant's words that a user's turn has too: it comes after that
SHORTER = 4  # a turn that does not fit whole is shown in a quarter of the room
LINE = 320  # characters of a user's turn beyond the point evidence
LEAST = 10  # tokens of a line: with fewer left, nothing more is tried
MOST_MISFITS = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """A hit that stands for all that are alike: how often that was said, and in which turn last."""

    hit: Hit
    alike: tuple[Turn, ...] = ()
    reply: Turn | None = None


def candidates(found: Found, least: float) -> list[Candidate]:
    """Return what may be shown, the best first: near-duplicates once, an assistant's restatement behind its source."""
    groups: list[tuple[frozenset[str], Hit, list[Turn]]] = []
    for hit in found.hits:
        if hit.score < least:
            break
        said = frozenset(terms(hit.turn.text))
        for other, first, alike in groups:
            if first.turn.speaker == hit.turn.speaker and _same(said, other):
                alike.append(hit.turn)
                break
        else:
            groups.append((said, hit, []))
    return [Candidate(hit, tuple(alike), _reply(hit.turn, hit, found)) for _, hit, alike in _own_word_first(groups)]


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and len(one & other) >= ALIKE * len(one | other)


def _own_word_first(groups):
    own = [said for said, hit, _ in groups if hit.turn.role == "user" and not asks(hit.turn)]
    late = []
    for group in groups:
        said, hit, _ = group
        restates = hit.turn.role == "assistant" and any(said and len(said & one) >= RESTATES * len(said) for one in own)
        if restates:
            late.append(group)
        else:
            yield group
    yield from late


def _reply(turn: Turn, hit: Hit, found: Found) -> Turn | None:
    """Return what the next speaker said to a turn that asks."""
    if not asks(turn):
        return None
    later = [
        other
        for one in hit.neighbours
        if (other := found.around.get(one)) and other.speaker != turn.speaker and other.time >= turn.time
    ]
    return min(later, key=lambda other: other.time, default=None)


def compose(
    found: Found, wanted: Collection[str], tokens: int, style: Style, count: CountTokens, least: float
) -> tuple[Line, ...]:
    """Return the lines of a block in dialogue order, as many of the best as fit into so many tokens."""
    page = _Page(style, count, frozenset(wanted), tokens - count(fenced(())))
    for candidate in candidates(found, least):
        if page.full:
            break
        page.add(candidate)
    return tuple(page.lines)


class _Page:
    """Takes lines while they fit."""

    def __init__(self, style: Style, count: CountTokens, wanted: frozenset[str], left: int) -> None:
        self.lines: list[Line] = []
        self._style, self._count, self._wanted, self._left = style, count, wanted, left
        self._misfits = 0
        self._shown: set[str] = set()

    @property
    def full(self) -> bool:
        return self._left < LEAST or self._misfits >= MOST_MISFITS

    def add(self, candidate: Candidate) -> None:
        hit = candidate.hit
        if hit.turn.id in self._shown:
            return
        most = most_shown(hit.turn)
        for size in (most, most // SHORTER):
            if self._take(hit, candidate.alike, size):
                break
            if len(hit.turn.text) <= size // SHORTER:
                break
        else:
            self._misfits += 1
        if candidate.reply is not None and hit.turn.id in self._shown and candidate.reply.id not in self._shown:
            self._take(Hit(candidate.reply, (), 0.0), (), most_shown(candidate.reply) // SHORTER)

    def _take(self, hit: Hit, alike: Sequence[Turn], size: int) -> bool:
        said = turn_text(hit.turn, self._wanted, size, hit.span)
        times = (hit.turn, *alike)
        last = max(turn.time for turn in times)
        line = Line(hit.turn, said, dates_in(hit.turn, hit.facts, said), len(times), last)
        cost = self._count("\n" + "\n".join(written([line], self._style)))
        if cost > self._left:
            return False
        self._left -= cost
        self._shown |= {turn.id for turn in times}
        self.lines.append(line)
        return True
