"""Evidence in a prompt: numbered items between tags that no text inside them can close or open."""

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

EVIDENCE_CHARACTERS = 17_500  # about 5,000 tokens; characters, as counting tokens at each check is slow
CONTEXT_CHARACTERS = 2_800  # for turns around the shown ones
CONTEXT_LINE = 200  # characters of one such turn
FRAME = 12  # characters of markup per item or line
_TAGS = "question|requirements|evidence|item|earlier|turn|missing|facts|system|assistant|user"
# An opening angle bracket, or a character that looks like one, before the name of a tag or a chat role.
_LOOKALIKE = re.compile(rf"[<\uff1c\ufe64\u2039\u27e8\u3008](?=\s*[/\\]?\s*(?:{_TAGS})\b)", re.IGNORECASE)
_LABEL = re.compile(r"[\s\[\](){}\"'#]*e?0*([1-9]\d{0,5})[\s\[\](){}\"']*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """The text of the evidence in a prompt, and the turns of its labels e1, e2, ... in order."""

    text: str
    turns: tuple[Turn, ...]

    def turn(self, label: str) -> Turn | None:
        """Return the turn of a label ("e3", "[E3]", or the turn's own id); None where it is not shown."""
        for turn in self.turns:
            if turn.id == label:
                return turn
        match = _LABEL.fullmatch(label)
        number = int(match[1]) if match else 0
        return self.turns[number - 1] if 0 < number <= len(self.turns) else None


def show_evidence(view: View, *, by_time: bool = False) -> ShownEvidence:
    """Return the shown evidence as items: in the order of the view, or by time."""
    shown: Sequence[Evidence] = view.shown
    if by_time:
        shown = sorted(shown, key=lambda item: item.turn.time)
    bodies = [_memoized(view, "body", item.turn, partial(_body, item)) for item in shown]
    heads = [
        _head(number, _memoized(view, "source", item.turn, partial(_source, item.turn)), item, view.iteration)
        for number, item in enumerate(shown, 1)
    ]
    left = EVIDENCE_CHARACTERS - sum(len(head) + len(body) + FRAME for head, body in zip(heads, bodies, strict=True))
    context = _Context(view, {item.turn.id for item in shown}, min(CONTEXT_CHARACTERS, left))
    items = [
        f"{head}\n{context.line(item.turn, -1)}{body}\n{context.line(item.turn, 1)}</item>"
        for head, body, item in zip(heads, bodies, shown, strict=True)
    ]
    return ShownEvidence("\n".join(items) or "(nothing was found)", tuple(item.turn for item in shown))


def escape(text: str) -> str:
    """Return untrusted text as it may stand between tags: no invisible characters, no tag or role marker."""
    return _LOOKALIKE.sub("(", visible(text))


def escape_attribute(text: str, limit: int = 80) -> str:
    """Return untrusted text for use inside a tag: one line, no quotes or brackets, at most `limit` characters."""
    return re.sub(r"[\s\"<>]+", " ", escape(text)).strip()[:limit]


def bullets(texts: Iterable[str]) -> str:
    """Return untrusted texts as a bulleted list."""
    return "\n".join(f"- {escape_attribute(text, 300)}" for text in texts) or "- none"


def format_time(time: datetime | None) -> str:
    """Return a time with its weekday, which the model needs to resolve relative dates."""
    return f"{time:%a} {time.day} {time:%B} {time.year} {time:%H:%M}" if time else "unknown"


def turn_text(turn: Turn) -> str:
    """Return a turn's text with its caption."""
    caption = f"\n[picture: {escape(turn.caption)}]" if turn.caption else ""
    return escape(turn.text) + caption


def fact_line(fact: Fact, turn: Turn) -> str:
    """Return a fact on one line, with the resolved time of its event."""
    when = f" [{render(fact.event, turn.time)}]" if fact.event else ""
    replaced = " (no longer so)" if fact.replaced_by else ""
    return escape(f"{fact.text}{when}{replaced}").replace("\n", " ")


class _Context:
    """The turns before and after shown ones, each at most once, within a number of characters."""

    def __init__(self, view: View, shown: set[str], left: int) -> None:
        self._view = view
        self._used = shown
        self._left = left

    def line(self, turn: Turn, step: int) -> str:
        """Return the turn before (-1) or after (+1) another as a line; empty where it is shown, missing or too long."""
        around = self._view.context.get(turn.id, ())
        at = next((i for i, other in enumerate(around) if other.id == turn.id), len(around)) + step
        if not (0 <= at < len(around)) or around[at].id in self._used:
            return ""
        line = _memoized(self._view, "line", around[at], partial(_line, around[at]))
        if len(line) + FRAME > self._left:
            return ""
        self._left -= len(line) + FRAME
        self._used = self._used | {around[at].id}
        return f"({'before' if step < 0 else 'after'}: {line})\n"


def _memoized(view: View, part: str, turn: Turn, make: Callable[[], str]) -> str:
    """Return a part of a turn's item, made once per question: later checks show most items again."""
    key = (part, turn.id)
    if key not in view.memo:
        view.memo[key] = make()
    return str(view.memo[key])


def _line(turn: Turn) -> str:
    return f"{escape_attribute(turn.speaker)}: {escape(turn.text)[:CONTEXT_LINE]}".replace("\n", " ")


def _head(number: int, source: str, item: Evidence, iteration: int) -> str:
    new = ", new" if item.iteration == iteration and iteration > 1 else ""
    return f"<item e{number}, {source}{new}>"


def _source(turn: Turn) -> str:
    return f"{escape_attribute(turn.speaker)}, {format_time(turn.time)}"


def _body(item: Evidence) -> str:
    return turn_text(item.turn) + "".join(f"\n* {fact_line(fact, item.turn)}" for fact in item.facts)
