"""How evidence is put before a model: numbered items between tags that nothing said can close or open."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from ..judging.evidence import Evidence, View
from ..times import render
from ..types.values import Fact, Turn
from .prompt_fields import visible

PAGE_CHARACTERS = 17_500  # about 5,000 tokens; counting them at each check would cost more than it is worth
AROUND_CHARACTERS = 2_800
AROUND_LINE = 200
FRAME = 12
_TAGS = "question|requirements|evidence|item|earlier|turn|missing|facts|system|assistant|user"
_LOOKALIKE = re.compile(rf"[<\uff1c\ufe64\u2039\u27e8\u3008](?=\s*[/\\]?\s*(?:{_TAGS})\b)", re.IGNORECASE)
_LABEL = re.compile(r"[\s\[\](){}\"'#]*e?0*([1-9]\d{0,5})[\s\[\](){}\"']*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Page:
    """What a model is shown, and which turn each of its labels stands for."""

    text: str
    turns: tuple[Turn, ...]

    def turn(self, label: str) -> Turn | None:
        """Return the turn that a label ("e3", "[E3]", or the turn's own id) names; None when it was not offered."""
        for turn in self.turns:
            if turn.id == label:
                return turn
        match = _LABEL.fullmatch(label)
        number = int(match[1]) if match else 0
        return self.turns[number - 1] if 0 < number <= len(self.turns) else None


def page(view: View, *, by_time: bool = False) -> Page:
    """Return the shown evidence as items: newest first, or in order of time."""
    shown: Sequence[Evidence] = view.shown
    if by_time:
        shown = sorted(shown, key=lambda item: item.turn.time)
    bodies = [_once(view, "body", item.turn, partial(_body, item)) for item in shown]
    heads = [
        _head(number, _once(view, "who", item.turn, partial(_who, item.turn)), item, view.iteration)
        for number, item in enumerate(shown, 1)
    ]
    left = PAGE_CHARACTERS - sum(len(head) + len(body) + FRAME for head, body in zip(heads, bodies, strict=True))
    beside = _Beside(view, {item.turn.id for item in shown}, min(AROUND_CHARACTERS, left))
    items = [
        f"{head}\n{beside.take(item.turn, -1)}{body}\n{beside.take(item.turn, 1)}</item>"
        for head, body, item in zip(heads, bodies, shown, strict=True)
    ]
    return Page("\n".join(items) or "(nothing was found)", tuple(item.turn for item in shown))


def data(text: str) -> str:
    """Return a text that somebody wrote as it may stand between tags: nothing hidden in it, no tag of ours."""
    return _LOOKALIKE.sub("(", visible(text))


def attribute(text: str, limit: int = 80) -> str:
    """Return a text as the value of an attribute."""
    return re.sub(r"[\s\"<>]+", " ", data(text)).strip()[:limit]


def lines(texts: Iterable[str]) -> str:
    """Return texts as a list, one a line."""
    return "\n".join(f"- {attribute(text, 300)}" for text in texts) or "- none"


def moment(time: datetime | None) -> str:
    """Return a time with its weekday, which relative dates are reckoned from."""
    return f"{time:%a} {time.day} {time:%B} {time.year} {time:%H:%M}" if time else "unknown"


def said(turn: Turn) -> str:
    """Return what a turn says, its caption included."""
    caption = f"\n[picture: {data(turn.caption)}]" if turn.caption else ""
    return data(turn.text) + caption


def fact_line(fact: Fact, turn: Turn) -> str:
    """Return a fact with the time of its event, resolved."""
    when = f" [{render(fact.event, turn.time)}]" if fact.event else ""
    replaced = " (no longer so)" if fact.replaced_by else ""
    return data(f"{fact.text}{when}{replaced}").replace("\n", " ")


class _Beside:
    """The turns around shown ones, which are not shown themselves, within a budget of their own."""

    def __init__(self, view: View, shown: set[str], left: int) -> None:
        self._view = view
        self._told = shown
        self._left = left

    def take(self, turn: Turn, step: int) -> str:
        """Return the turn before (-1) or after (+1) another as a line, each turn once; nothing when there is none."""
        around = self._view.context.get(turn.id, ())
        at = next((i for i, other in enumerate(around) if other.id == turn.id), len(around)) + step
        if not (0 <= at < len(around)) or around[at].id in self._told:
            return ""
        line = _once(self._view, "line", around[at], partial(_line, around[at]))
        if len(line) + FRAME > self._left:
            return ""
        self._left -= len(line) + FRAME
        self._told = self._told | {around[at].id}
        return f"({'before' if step < 0 else 'after'}: {line})\n"


def _once(view: View, part: str, turn: Turn, make: Callable[[], str]) -> str:
    """Return a part of a turn's item, made at the first check that shows it."""
    key = (part, turn.id)
    if key not in view.memo:
        view.memo[key] = make()
    return str(view.memo[key])


def _line(turn: Turn) -> str:
    return f"{attribute(turn.speaker)}: {data(turn.text)[:AROUND_LINE]}".replace("\n", " ")


def _head(number: int, who: str, item: Evidence, iteration: int) -> str:
    new = ", new" if item.iteration == iteration and iteration > 1 else ""
    return f"<item e{number}, {who}{new}>"


def _who(turn: Turn) -> str:
    return f"{attribute(turn.speaker)}, {moment(turn.time)}"


def _body(item: Evidence) -> str:
    return said(item.turn) + "".join(f"\n* {fact_line(fact, item.turn)}" for fact in item.facts)
