"""Results as pages for people: answers, hits, turns, the trace of a question by iteration, else their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from itertools import groupby
from typing import Any

from ..types.results import Answer, Citation, Usage
from ..types.trace import Acted, Event, Found, Trace, describe_event
from ..types.values import Fact, Hit, Tier, TimeSpan, Turn
from .page import BLANK, Block, Heading, Line, Piece, Style, make_field, make_line, make_table

_TIER: dict[Tier, Style] = {Tier.EXACT: "good", Tier.INFERRABLE: "good", Tier.PARTIAL: "warn", Tier.NONE: "bad"}
_LONGEST_QUOTE = 300
_MIDNIGHT = time.min
_COUNTED = ("found", "iterations", "cites", "requests", "tokens", "ms")
_MOST_ROWS = 10  # of a long list; the rest are counted
_MOST_NAMED = 6  # of a list in a trace
_MOST_DETAILS = 8
_NOTHING: tuple[Any, ...] = (None, "", [], {}, 0)
_TOLD = {  # the fields of an event that its line tells already
    "query": ("path", "query"),
    "evidence": ("path", "facts"),
    "judgement": ("final_tier", "probability", "gaps"),
    "gaps": ("open",),
    "call": ("role", "outcome", "reply", "uses"),
    "stop": ("reason",),
}


def answer_page(question: str, answer: Answer, turns: Mapping[str, Turn], *, streamed: bool = False) -> list[Block]:
    """Return a question with its answer, of one that was `streamed` the rest; `turns` holds the cited ones by id."""
    text = Piece("Not finished.", "bad")
    if answer.kind == "quote":
        text = Piece("To read, best first:", "answer")
    elif answer.text is not None:
        text = Piece("" if streamed else answer.text, "answer")
    elif answer.abstained:
        text = Piece("I don't know.", "warn")
    doubt = " (uncalibrated)" if answer.confidence_is == "uncalibrated" else ""
    claim = " that nothing was told" if answer.abstained else ""  # else the number reads as that of an answer
    tier = Piece(f"  {answer.tier.value}, {answer.confidence:.0%}{claim}{doubt}", _TIER[answer.tier])
    page = [] if streamed else [make_line(Piece("? ", "dim"), Piece(question, "strong"))]
    page.append(make_line(text, tier, indent=2))
    if answer.time is not None and (span := format_interval(answer.time)):
        page.append(make_line(Piece(span, "dim"), indent=4))
    lines = (answer.text or "").splitlines() if answer.kind == "quote" else []
    page += [make_line(one, indent=4) for one in lines]
    for citation in answer.citations if not lines else ():
        turn = turns[citation.turn_id]
        page += [
            make_line(*_speaker_and_time(turn), Piece(f", {format_day(turn.time)}", "dim"), indent=4),
            quote_turn(turn, citation),
        ]
    reason = answer.reason or ""  # of a failure, and after it the gap
    if reason and (answer.kind != "quote" or answer.fell_back):
        page.append(make_field("because", reason, indent=4))
    for gap in answer.gaps if answer.text is None else ():
        if gap.kind != "none" and not reason.endswith(gap.text):
            page.append(make_field("missing", Piece(f"({gap.kind}) ", "dim"), gap.text, indent=4))
    return [*page, *_cost_lines(answer.usage), BLANK]


def _speaker_and_time(turn: Turn) -> tuple[Piece, Piece]:
    return Piece(f"{turn.id} ", "dim"), Piece(turn.speaker, "name")


def _cost_lines(usage: Usage) -> list[Block]:
    if not usage.requests:
        return []
    failed = f" ({usage.failed:,} failed)" if usage.failed else ""
    tokens = f"{count_noun(usage.requests, 'request')}{failed}, {usage.input_tokens:,} + {usage.output_tokens:,} tokens"
    price = "" if usage.cost is None else f", ${usage.cost:.4f}"
    return [make_line(Piece(f"{tokens}{price}", "dim"), indent=4)]


def format_interval(span: TimeSpan) -> str:
    """Return the first and last day of an interval, or its times of day, with its precision; empty for a vague one."""
    if span.start is None or span.end is None:
        return ""
    start, end = span.start, span.end
    if start.time() == end.time() == _MIDNIGHT:
        first, last = start.date().isoformat(), (end - timedelta(days=1)).date().isoformat()
        days = first if first == last else f"{first} to {last}"
        return f"{days} ({span.granularity})"
    return f"{start.isoformat(' ', 'minutes')} to {end.isoformat(' ', 'minutes')} ({span.granularity})"


def quote_turn(turn: Turn, citation: Citation | None = None, indent: int = 6) -> Line:
    """Return the text of a turn, cut to the surroundings of the cited characters, which are marked."""
    if citation is None or citation.span is None:
        text = turn_text(turn)
        short = text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE].rstrip()}..."
        return make_line(f"\u201c{short}\u201d", indent=indent)
    text, (start, end) = turn.text, citation.span
    if turn.caption and text[start:end] != citation.quote:
        text = turn.caption
    room = max(_LONGEST_QUOTE - (end - start), 60) // 2
    before, after = text[max(start - room, 0) : start], text[end : end + room]
    opening = "\u201c" if start <= room else "\u201c..."
    closing = "\u201d" if end + room >= len(text) else "...\u201d"
    cited = Piece(text[start:end], "mark" if before or after else "")
    return make_line(opening, before, cited, after, closing, indent=indent)


def hits_page(query: str, hits: Sequence[Hit], *, explain: bool = False) -> list[Block]:
    """Return the hits of a search, best first; `explain` adds the parts of each score."""
    if not hits:
        return [make_line(Piece("nothing found for ", "dim"), query)]
    page: list[Block] = []
    for rank, hit in enumerate(hits, start=1):
        at = Piece(f", {format_day(hit.turn.time)}, {hit.turn.time:%H:%M}  {hit.score:.3f}", "dim")
        page += [
            make_line(Piece(f"{rank:>2}. ", "dim"), *_speaker_and_time(hit.turn), at),
            quote_turn(hit.turn, indent=4),
        ]
        if explain:
            parts = "  ".join(f"{name} {value:+.3f}" for name, value in hit.parts.items())
            page.append(make_line(Piece(f"{parts}  by {hit.path}", "dim"), indent=4))
    return [*page, BLANK]


def turn_page(turn: Turn, facts: Sequence[Fact], around: Sequence[Turn], linked: Sequence[Hit] = ()) -> list[Block]:
    """Return a turn with the spans of its facts marked, its facts, its neighbours in the dialogue, and linked turns."""
    at = f", {format_day(turn.time)}, {turn.time:%H:%M}  session {turn.session}, {turn.role}"
    page: list[Block] = [make_line(*_speaker_and_time(turn), Piece(at, "dim")), mark_facts(turn, facts)]
    for name, value in (("picture", turn.caption), ("metadata", dict(turn.metadata))):
        page += [make_field(name, str(value))] if value else []
    rows = [(one.text, _format_event_time(one), "replaced" if one.replaced_by else one.extractor) for one in facts]
    page += [BLANK, make_table(("fact", "event", "by"), rows)] if facts else []
    page += [BLANK, Heading("Context")] if len(around) > 1 else []
    for other in around if len(around) > 1 else ():
        words = Piece(turn_text(other), "strong" if other.id == turn.id else "dim")
        page.append(make_line(*_speaker_and_time(other), Piece(": ", "name"), words, indent=2))
    others = [hit for hit in linked if hit.path != "edge:next"]
    page += [BLANK, Heading("Linked turns")] if others else []
    for hit in others:
        why = Piece(f"  {hit.path.removeprefix('edge:')} {hit.score:.2f}", "dim")
        page.append(make_line(*_speaker_and_time(hit.turn), Piece(": ", "name"), turn_text(hit.turn), why, indent=2))
    return page


def profile_page(name: str, facts: Sequence[Fact]) -> list[Block]:
    """Return the facts about a person or thing, the newest turn first, and their replacements."""
    if not facts:
        return [make_line(Piece("nothing is known about ", "dim"), name)]
    texts: dict[str | None, str] = {None: "", **{fact.id: fact.text for fact in facts}}
    by = [texts.get(fact.replaced_by, "a fact about another") for fact in facts]
    rows = [(fact.text, _format_event_time(fact), fact.turn_id, newer) for fact, newer in zip(facts, by, strict=True)]
    return [make_table(("fact", "event", "turn", "replaced by"), rows), BLANK]


def mark_facts(turn: Turn, facts: Sequence[Fact]) -> Line:
    """Return the text of a turn with the spans of its facts marked."""
    spans = sorted(fact.span for fact in facts if fact.kind != "image")
    pieces, at = [], 0
    for start, end in spans:
        if end > at:
            pieces += [Piece(turn.text[at : max(start, at)]), Piece(turn.text[max(start, at) : end], "mark")]
            at = end
    return make_line(*(piece for piece in (*pieces, Piece(turn.text[at:])) if piece.text), indent=2)


def _format_event_time(fact: Fact) -> str:
    return "" if fact.event is None else format_interval(fact.event) or fact.event.text


def fields_page(title: str, data: Mapping[str, Any], *left_out: str) -> list[Block]:
    """Return any result as its fields, as `to_dict` has them: those that say something, apart from `left_out`."""
    page: list[Block] = [make_line(Piece(title, "strong"))]
    width = 2 + max((len(name) for name in data), default=0)
    for name, value in data.items():
        if name in left_out or value in _NOTHING:
            continue
        # Several sentences have a line each; names or counts stand on one.
        # A value of over 40 characters has a line of its own.
        is_long = isinstance(value, list) and any(isinstance(one, dict) or len(str(one)) > 40 for one in value)
        lines = [_format_value(one) for one in (value if is_long else [value])]
        style: Style = "warn" if name in {"problems", "failed", "refused", "refusals", "set_aside"} else "dim"
        page += [make_field(name.replace("_", " "), one, style=style, width=width) for one in lines[:_MOST_ROWS]]
        if len(lines) > _MOST_ROWS:
            page.append(make_line(Piece(f"and {len(lines) - _MOST_ROWS:,} more {name}", style), indent=2))
    return page


def _format_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_format_value(one)}" for name, one in value.items() if one not in _NOTHING)
    if isinstance(value, list):
        return ", ".join(map(_format_value, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def comparison_page(question: str, answers: Mapping[str, Answer]) -> list[Block]:
    """Return the evidence, citations, cost and answer of each loop."""
    rows = []
    for name, answer in answers.items():
        usage, events = answer.usage, [one for one in answer.trace if isinstance(one, Found) and one.turns]
        iterations, cited = {one.iteration for one in events}, {one.turn_id for one in answer.citations}
        numbers = (len(found_turn_ids(answer)), len(iterations), len(cited), usage.requests)
        spent = (usage.input_tokens + usage.output_tokens, round(usage.seconds * 1000))
        rows.append((name, answer.kind, *(f"{number:,}" for number in (*numbers, *spent))))
    page: list[Block] = [make_line(Piece("? ", "dim"), Piece(question, "strong"))]
    page += [make_table(("loop", "outcome", *_COUNTED), rows, right=_COUNTED), BLANK]
    for text in dict.fromkeys(answer.text or answer.reason or "" for answer in answers.values()):
        names = [name for name, answer in answers.items() if text == (answer.text or answer.reason or "")]
        page += [make_line(Piece(", ".join(names), "dim"), indent=2), make_line(text, indent=4)]
    return [*page, BLANK]


def found_turn_ids(answer: Answer) -> tuple[str, ...]:
    """Return the ids of the turns that a loop found, in order, each once."""
    return tuple(dict.fromkeys(turn for event in answer.trace if isinstance(event, Found) for turn in event.turns))


def trace_page(trace: Trace) -> list[Block]:
    """Return every event of a trace, in order, and the cost of its model requests."""
    from ..loops.answering import cost  # noqa: PLC0415 - most of the package, which a call for help does without

    page: list[Block] = [Heading(f"Trace of {trace.question!r} through {trace.loop}")]
    for iteration, events in groupby(trace.events, key=lambda event: event.iteration):
        page.append(make_line(Piece(f"iteration {iteration}" if iteration else "the question", "strong"), indent=2))
        page += [
            make_field(one.kind, describe_event(one), Piece(_event_details(one), "dim"), indent=4, width=11)
            for one in events
        ]
    return [*page, *_cost_lines(cost(trace.events)), BLANK]


_SIGNALS = {  # the signals of the offline judge in words, as `evimem.offline.signals.signals_of` describes them
    "fall": "best score above the tenth", "spread": "scores near the best", "words": "match of words",
    "meaning_ten": "nearness in meaning", "window": "question's words in context", "sessions": "sessions with matches",
    "length": "length of the question", "listed": "asks for a list", "timed": "asks for a time",
    "guess": "asks yes or no", "absent": "words found nowhere", "likely": "probability of the quoted turns",
    "other": "about another person",
}  # fmt: skip


def _event_details(event: Event) -> str:
    """Return the details of an event besides its line."""
    data = event.to_dict()
    left = data["detail"] if isinstance(event, Acted) else data
    names = _SIGNALS if isinstance(event, Acted) and event.action == "measure" else {}
    parts = [
        f"  {names.get(name, name)}={_shorten_value(value)}"
        for name, value in left.items()
        if value not in _NOTHING and name not in {"kind", "iteration", *_TOLD.get(event.kind, ())}
    ]
    rest = f"  and {len(parts) - _MOST_DETAILS} more" if len(parts) > _MOST_DETAILS else ""
    return "".join(parts[:_MOST_DETAILS]) + rest


def _shorten_value(value: Any) -> str:
    if isinstance(value, (list, dict)):
        items = [_shorten_value(one) for one in value] if isinstance(value, list) else _format_value(value).split(", ")
        rest = f" and {len(items) - _MOST_NAMED} more" if len(items) > _MOST_NAMED else ""
        return f"({', '.join(items[:_MOST_NAMED])}{rest})"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def format_day(moment: datetime) -> str:
    """Return a date in words.

    >>> day(datetime(2024, 3, 8, 18, 20))
    '8 March 2024'
    """
    return f"{moment.day} {moment:%B %Y}"


def turn_text(turn: Turn) -> str:
    """Return the text of a turn, followed by its caption in brackets."""
    return f"{turn.text} [{turn.caption}]".lstrip() if turn.caption else turn.text


def count_noun(count: int, one: str) -> str:
    """Return a number with its noun.

    >>> count_noun(1, "turn"), count_noun(1200, "turn")
    ('1 turn', '1,200 turns')
    """
    return f"{count:,} {one if count == 1 else one + 's'}"
