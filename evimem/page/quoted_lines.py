"""Write quoted turns as the lines of a block: short heads, numbers, and beside them the people and dates they mean.

A turn is one line, `[3] user, 12 Mar 2024: text`. The next has only as much of speaker, day and year as differs from
the line above: `[4] 14 Mar: text`, `[5] assistant: text`, `[6] text`. A further line of
what somebody wrote begins with ">", and what evimem adds with "=". No text can make a line of its own or a head:
whatever ends a line in it is written as such a break, and one that begins like a head stands behind a whole one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape as escape_xml
from typing import Literal, get_args

from ..errors import or_else
from ..text.memory_fence import MESSAGES, PROFILE, QUOTED, WISHES, WORKED_OUT, fence_lines, line_prefix
from ..text.prompt_text import CAPTION_OPENS, escape, escape_attribute, resolved_references
from ..times import Conventions
from ..times.computed import date_notes
from ..types.results import Block, CountTokens, Style
from ..types.values import DateOrder, Fact, Hit, Turn

_LIKE_HEAD = re.compile(
    r"[^:\uff1a]{1,60}[:\uff1a]"
)  # how a text begins that could be read as a speaker's or a date's head
_IN_A_HEAD = re.compile(r"[\[\]:,]+")
NOTED_TURNS = 4  # turns whose facts are read at once: so many lines of a block may have notes
MAX_DATED_CHARACTERS = 2_000  # of a longer turn only the shown part is read for dates
FactReader = Callable[[Sequence[str]], Sequence[Fact]]  # the stored facts of turns

Part = Literal["wish", "profile", ""]
PART_NAMES: tuple[Part, ...] = ("wish", "profile", "")  # of a block, in their order
PART_HEADINGS = {"wish": WISHES, "profile": PROFILE, "": MESSAGES}
PartName = Literal["standing wishes", "about the user", "answers", "what came of it", "the conversation"]


@dataclass(frozen=True, slots=True)
class Line:
    """A turn as it is quoted.

    Attributes:
        turn: The turn.
        said: Its words that are shown.
        worked_out: Notes on them.
        part: Where it stands in the block: under a heading, or below, "".
        clock: Whether the time of day is shown.
        name: Why it is shown.
        weekday: Whether a date has its weekday.
        is_quoted: Whether the shown part is no statement of its speaker: pasted, drafted or acted.
    """

    turn: Turn
    said: str
    worked_out: tuple[str, ...] = ()
    part: Part = ""
    clock: bool = False
    name: PartName = "answers"
    weekday: bool = False
    is_quoted: bool = False


def split_turn(line: Line) -> tuple[list[str], list[str]]:
    """Return the pieces of its turn that a line shows, and the texts before, between and behind them."""
    shown, left_out, at = list[str](), list[str](), 0
    for piece in map(str.strip, line.said.partition(CAPTION_OPENS)[0].split("\u2026")):
        start = line.turn.text.find(piece, at) if piece else -1
        if start >= 0:
            shown.append(piece)
            left_out.append(line.turn.text[at:start])
            at = start + len(piece)
    return shown, [*left_out, line.turn.text[at:]]


def write_lines(lines: Sequence[Line], style: Style, tokens: int, count: CountTokens, relevance: float) -> Block:
    """Return lines, in their order, as a block of at most so many tokens; an empty one where there is no line.

    The last lines are left out where all take more: rarely, since the tokens of lines add up.
    """
    texts = list(line_texts(lines, style))
    while texts and (taken := count(text := fence_lines(texts))) > tokens:
        texts.pop()
    if not texts:
        return Block("", (), 0, relevance)
    parts: dict[str, list[str]] = {name: [] for name in get_args(PartName)}
    for line, written in zip(lines, texts, strict=False):
        parts[line.name].append(written)
    sizes = {name: count("\n".join(some)) for name, some in parts.items() if some}
    return Block(text, tuple(line.turn for line in lines[: len(texts)]), taken, relevance, parts=sizes)


def line_texts(lines: Sequence[Line], style: Style) -> Iterator[str]:
    """Yield the text of each line."""
    for number, (line, above) in enumerate(zip(lines, (None, *lines), strict=False), start=1):
        yield line_text(number, line, above, style)


def line_text(number: int | str, line: Line, above: Line | None, style: Style) -> str:
    """Return a line below another, under a heading where it is the first of its part."""
    begins = style == "plain" and line.part != (above.part if above else "")
    heading = f"{PART_HEADINGS[line.part]}\n" if begins else ""
    return heading + _WRITERS[style](number, line, above)


def _plain(number: int | str, line: Line, above: Line | None) -> str:
    first, *further = _lines_of(escape(line.said))
    if above is not None and above.part != line.part:
        above = None
    if _LIKE_HEAD.match(first):
        above = None
    head = ", ".join(filter(None, (_new_speaker(line, above), _new_time(line, above), mark_of(line))))
    opened = f"{line_prefix(number)}{head}{': ' if head else ''}{first}"
    return "\n".join(
        (opened, *(f"{QUOTED}{one}" for one in further), *(f"{WORKED_OUT}{one}" for one in line.worked_out))
    )


def _new_speaker(line: Line, above: Line | None) -> str:
    """Return who speaks, where that is another than in the line above."""
    if above is not None and above.turn.speaker == line.turn.speaker:
        return ""
    said_by = speaker(line.turn)
    return "" if above is not None and speaker(above.turn) == said_by else said_by


def mark_of(line: Line) -> str:
    """Return the mark of a part of a text or of a role, which reads as if its speaker told it; "" for another part."""
    if not line.is_quoted:
        return ""
    return "(sample text)" if line.turn.role == "assistant" else "(quoted text)"


def _new_time(line: Line, above: Line | None) -> str:
    """Return of the time of a line the day, its year, and the clock, as far as the line above has another."""
    time, before = line.turn.time, None if above is None else above.turn.time
    parts = []
    is_month = line.part == "profile"  # of a lasting statement the month is enough
    if before is None or before.timetuple()[: 2 if is_month else 3] != time.timetuple()[: 2 if is_month else 3]:
        parts.append(
            f"{time:%b}" if is_month else f"{time:%a} {time.day} {time:%b}" if line.weekday else f"{time.day} {time:%b}"
        )
        if before is None or before.year != time.year:
            parts.append(str(time.year))
    if line.clock and (time.hour or time.minute) and (parts or before is None or before.hour != time.hour):
        parts.append(f"{time:%H:%M}")
    return " ".join(parts)


def _xml(number: int | str, line: Line, above: Line | None) -> str:
    added = "".join(f"<note>{escape_xml(note)}</note>" for note in line.worked_out)
    kind = f' kind="{line.part}"' if line.part else ""
    kind += ' quoted="true"' if line.is_quoted else ""
    said = escape_xml(escape(line.said))
    head = (
        f'<turn n="{number}" speaker="{escape_xml(speaker(line.turn))}" time="{line.turn.time:%Y-%m-%dT%H:%M}"{kind}>'
    )
    return f"{head}{'&#10;'.join(_lines_of(said))}{added}</turn>"


def _json(number: int | str, line: Line, above: Line | None) -> str:
    row: dict[str, object] = {"n": number, "speaker": speaker(line.turn), "time": f"{line.turn.time:%Y-%m-%dT%H:%M}"}
    row |= {"text": "\n".join(_lines_of(escape(line.said)))}
    row |= {"notes": list(line.worked_out)} if line.worked_out else {}
    row |= {"kind": line.part} if line.part else {}
    row |= {"quoted": True} if line.is_quoted else {}
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


_WRITERS = {"plain": _plain, "xml": _xml, "json": _json}


def speaker(turn: Turn) -> str:
    """Return the speaker of a turn, without characters that end a name in a head."""
    return " ".join(_IN_A_HEAD.sub(" ", escape_attribute(turn.speaker)).split()) or "somebody"


def _lines_of(text: str) -> list[str]:
    """Return a text by its lines, whatever ends them, without empty ones."""
    return [line for each in text.splitlines() if (line := each.strip())] or [""]


class Notes:
    """Reads the notes on turns: dates from their words, and whom they mean from the facts of a model.

    `hits` are what may be shown, in the order in which it is tried, `order` how the memory writes dates in figures.
    Dates are worked out only with `dated`, for a message that asks for a time.
    """

    def __init__(self, reader: FactReader, hits: Sequence[Hit], order: DateOrder | None, *, dated: bool = True) -> None:
        self._reader, self._order, self._dated = reader, order, dated
        self._left = [hit.turn.id for hit in hits]
        self._known: dict[str, list[Fact]] = {}

    def on(self, turn: Turn, said: str) -> tuple[str, ...]:
        """Return whom shown words of a turn mean, as a model found it, and their dates."""
        meant = resolved_references(self._facts(turn), turn, said)
        return (*((meant,) if meant else ()), *self._dates(turn, said))

    def _facts(self, turn: Turn) -> Sequence[Fact]:
        """Return the stored facts of a turn; those of the next ones are read with them."""
        if turn.id not in self._known:
            page = [turn.id, *(one for one in self._left if one != turn.id)][:NOTED_TURNS]
            self._left = [one for one in self._left if one not in page]
            self._known |= {one: [] for one in page}
            for fact in self._reader(page):
                self._known[fact.turn_id].append(fact)
        return self._known[turn.id]

    def _dates(self, turn: Turn, said: str) -> tuple[str, ...]:
        """Return the dates of the phrases of shown words that a reader would have to compute ("last Thursday")."""
        if not self._dated:
            return ()
        text = turn.text if len(turn.text) <= MAX_DATED_CHARACTERS else said
        conventions = Conventions(date_order=self._order, zone=turn.time.tzinfo)
        found = or_else([], date_notes, text, turn.time, conventions)
        return tuple(f'"{escape_attribute(phrase)}" is {date}' for phrase, date in found if phrase in said)
