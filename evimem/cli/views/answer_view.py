"""An answer as a page: its text or what is quoted, tier, confidence and citations; or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time, timedelta

from ...types.answer import Answer, Citation, Usage
from ...types.values import Tier, TimeSpan, Turn
from ..page import BLANK, Block, Piece, Style, TextLine, field, line
from .wording import counted, day, said

_TIER: dict[Tier, Style] = {Tier.EXACT: "good", Tier.INFERRABLE: "good", Tier.PARTIAL: "warn", Tier.NONE: "bad"}
_LONGEST_QUOTE = 300
_MIDNIGHT = time.min


def answer_page(question: str, answer: Answer, turns: Mapping[str, Turn]) -> list[Block]:
    """Return a question with its answer; `turns` holds the cited turns by id."""
    return [line(Piece("? ", "dim"), Piece(question, "strong")), _text(answer), *rest_page(answer, turns)]


def streamed_page(answer: Answer, turns: Mapping[str, Turn]) -> list[Block]:
    """Return the rest of an answer whose text was printed as it came."""
    return [line(_tier_piece(answer)) if answer.kind == "answer" else _text(answer), *rest_page(answer, turns)]


def rest_page(answer: Answer, turns: Mapping[str, Turn]) -> list[Block]:
    """Return the citations of an answer, its limits and its cost."""
    page: list[Block] = []
    if answer.time is not None and (span := interval(answer.time)):
        page.append(line(Piece(span, "dim"), indent=4))
    for citation in answer.citations:
        page += _citation(citation, turns[citation.turn_id])
    page += _limits(answer)
    if answer.usage.requests:
        page.append(line(Piece(_cost(answer.usage), "dim"), indent=4))
    return [*page, BLANK]


def _cost(usage: Usage) -> str:
    tokens = f"{counted(usage.requests, 'request')}, {usage.input_tokens:,} + {usage.output_tokens:,} tokens"
    return tokens if usage.cost is None else f"{tokens}, ${usage.cost:.4f}"


def interval(span: TimeSpan) -> str:
    """Return the first and last day of an interval, or its times of day, with its precision; empty for a vague one."""
    if span.start is None or span.end is None:
        return ""
    start, end = span.start, span.end
    if start.time() == end.time() == _MIDNIGHT:
        first, last = start.date().isoformat(), (end - timedelta(days=1)).date().isoformat()
        days = first if first == last else f"{first} to {last}"
        return f"{days} ({span.granularity})"
    return f"{start.isoformat(' ', 'minutes')} to {end.isoformat(' ', 'minutes')} ({span.granularity})"


def _tier_piece(answer: Answer) -> Piece:
    doubt = " (uncalibrated)" if answer.confidence_is == "uncalibrated" else ""
    return Piece(f"  {answer.tier.value}, {answer.confidence:.0%}{doubt}", _TIER[answer.tier])


def _text(answer: Answer) -> TextLine:
    tier = _tier_piece(answer)
    if answer.kind == "quote":  # the citations show what was said
        return line(Piece("No short answer is proven; this was said:", "warn"), tier, indent=2)
    if answer.text is not None:
        return line(Piece(answer.text, "answer"), tier, indent=2)
    if answer.abstained:
        return line(Piece("I don't know.", "warn"), tier, indent=2)
    return line(Piece("Not finished.", "bad"), tier, indent=2)


def _citation(citation: Citation, turn: Turn) -> list[Block]:
    who = Piece(turn.speaker, "name")
    place = line(Piece(f"{citation.turn_id} ", "dim"), who, Piece(f", {day(turn.time)}", "dim"), indent=4)
    return [place, quoted(turn, citation)]


def quoted(turn: Turn, citation: Citation | None = None, indent: int = 6) -> TextLine:
    """Return the text of a turn, cut to the surroundings of the cited characters, which are marked."""
    span = citation.span if citation else None
    if citation is None or span is None:
        return line(f"\u201c{_short(said(turn))}\u201d", indent=indent)
    text, start, end = turn.text, *span
    if turn.caption and text[start:end] != citation.quote:
        text = turn.caption
    room = max(_LONGEST_QUOTE - (end - start), 60) // 2
    before, after = text[max(start - room, 0) : start], text[end : end + room]
    opening = "\u201c" if start <= room else "\u201c..."
    closing = "\u201d" if end + room >= len(text) else "...\u201d"
    cited = Piece(text[start:end], "mark" if before or after else "")
    return line(opening, before, cited, after, closing, indent=indent)


def _limits(answer: Answer) -> list[Block]:
    """Return why there is no answer, or what limits it."""
    page: list[Block] = []
    if answer.reason and (answer.kind != "quote" or answer.fell_back):
        page.append(field("because", answer.reason, indent=4))
    if answer.text is None:
        reason = answer.reason or ""  # of a failure, and after it the gap
        open_gaps = [gap for gap in answer.gaps if gap.kind != "none" and not reason.endswith(gap.text)]
        page += [field("missing", Piece(f"({gap.kind}) ", "dim"), gap.text, indent=4) for gap in open_gaps]
    return page


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE].rstrip()}..."
