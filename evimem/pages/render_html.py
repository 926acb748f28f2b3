"""Pages as HTML and as JSON: the templates, and the few words and pieces that they ask for."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..times import render
from ..types.marked_text import Piece, cut_pieces, mark_pieces, shorten
from ..types.public_value import plain
from ..types.results import Citation
from ..types.trace import Trace
from ..types.values import TimeSpan, Turn
from .answer_pages import draw_trace_pictures, trace_page_values
from .drawings import summand_css_class

SCRIPT = "htmx-4.0.1.min.js"
SCRIPT_SHA256 = "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130"
MAX_AROUND_MARK = 1_500  # characters of a turn beside cited words
MAX_JSON = 20_000  # characters of a value that a page shows as JSON: its twin has all
# Characters that are invalid in HTML, or in UTF-8.
_INVALID_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


@cache
def read_stylesheet() -> str:
    """Return the style sheet of all pages."""
    return (files(__package__) / "static" / "explorer.css").read_text(encoding="utf-8")


@cache
def stylesheet_name() -> str:
    """Return the name under which the style sheet is served: with a digest, so that a browser may keep it."""
    return f"explorer-{sha256(read_stylesheet().encode()).hexdigest()[:12]}.css"


@cache
def make_environment() -> Environment:
    """Return the environment of the templates: every text is escaped, and a missing value raises."""
    made = Environment(
        loader=PackageLoader(__package__), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, finalize=_keep_carriage_returns,
    )  # fmt: skip
    made.filters |= {
        "day": format_day, "clock": format_clock, "percent": format_percent, "span": format_span, "json": format_json,
        "number": format_number, "count_of": format_count, "moment": format_moment,
        "part_class": summand_css_class, "in_words": humanize_name,
    }  # fmt: skip
    made.globals |= {
        "pieces": cited_pieces, "marked_spans": mark_pieces, "shorten": shorten,
        "style_name": stylesheet_name, "script_name": SCRIPT,
    }  # fmt: skip
    return made


def render_page(template: str, values: Mapping[str, Any]) -> bytes:
    """Return a page as UTF-8."""
    text = make_environment().get_template(f"{template}.html").render(values)
    return _INVALID_CHARACTERS.sub("\ufffd", text).encode("utf-8")


def render_json(values: Mapping[str, Any]) -> bytes:
    """Return the values of a page as JSON, in ASCII: lone surrogates, which some texts hold, have no other form."""
    return json.dumps(plain(dict(values)), default=str).encode("ascii")


def render_trace_file(trace: Trace, turns: list[Turn | None]) -> str:
    """Return a trace as one HTML file that needs nothing else, with the trace as JSON inside.

    Args:
        trace: The trace.
        turns: The turns that it found, those that are still there.
    """
    values = trace_page_values(trace, turns)
    style = read_stylesheet()
    digest = b64encode(sha256(style.encode()).digest()).decode()
    data = trace.to_json().replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    shown = {**values, **draw_trace_pictures(values), "style": Markup(style), "digest": digest, "data": Markup(data)}
    page = make_environment().get_template("trace_file.html").render(shown, exported=True)
    return _INVALID_CHARACTERS.sub("\ufffd", page)


def _keep_carriage_returns(value: Any) -> Any:
    """Keep carriage returns, which a browser reads as line feeds, so that a marked text is the quote."""
    if isinstance(value, str) and "\r" in value:
        return Markup(str(escape(value)).replace("\r", "&#13;"))
    return value


def cited_spans(turn: Turn, citations: list[Citation]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the spans of a turn's text, and of its caption, that citations quote."""
    of_text: list[tuple[int, int]] = []
    of_caption: list[tuple[int, int]] = []
    for one in citations:
        if one.turn_id == turn.id and one.span is not None:
            start, end = one.span
            (of_text if turn.text[start:end] == one.quote else of_caption).append(one.span)
    return of_text, of_caption


def cited_pieces(turn: Turn, citations: list[Citation]) -> dict[str, list[Piece]]:
    """Return the text and the caption of a turn as pieces, the cited ones marked."""
    of_text, of_caption = cited_spans(turn, citations)
    marked = {"text": mark_pieces(turn.text, of_text), "caption": mark_pieces(turn.caption or "", of_caption)}
    return {name: cut_pieces(held, MAX_AROUND_MARK) for name, held in marked.items()}


def format_day(moment: date) -> str:
    """Return a date in words."""
    return f"{moment.day} {moment:%B %Y}"


def format_clock(moment: datetime) -> str:
    """Return a time of day; empty for midnight, which is that of a turn without a clock."""
    return "" if moment.hour == moment.minute == moment.second == 0 else f"{moment:%H:%M}"


def format_moment(moment: datetime, other: datetime) -> str:
    """Return a day and its time, with the year where that of another moment differs."""
    year = "" if moment.year == other.year else f" {moment.year}"
    return f"{moment.day} {moment:%B}{year} {moment:%H:%M}"


def format_percent(share: float) -> str:
    """Return a share as a whole number of percent."""
    return f"{share:.0%}"


def format_span(time: TimeSpan | None) -> str:
    """Return an interval in words; the phrase itself where it has no certain date."""
    return "" if time is None else render(time)


def humanize_name(name: str) -> str:
    """Return a kind of answer, a tier, a path of a search or the built-in extractor in words, and any other name."""
    words = {
        "answer": "Answer", "quote": "Quotation", "abstained": "No answer", "failed": "Not finished",
        "exact": "stated outright", "inferrable": "can be inferred", "partial": "evidence in part",
        "none": "no evidence", "anchor": "the question", "refined": "for a gap", "about": "about a name",
        "around": "around turns that were found", "keyword": "a keyword", "rules": "built-in rules",
    }  # fmt: skip
    return words.get(name, name)


def format_json(value: Any) -> str:
    """Return a value as indented JSON, for people; of a long one the beginning."""
    text = json.dumps(plain(value), indent=1, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_JSON else f"{text[:MAX_JSON]} …\n(the rest stands in the page's JSON)"


def format_number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def format_count(count: int | str, noun: str) -> str:
    """Return a count with its noun; of a text that is no number "0"."""
    number = int(count) if str(count).isascii() and str(count).isdigit() and len(str(count)) < 10 else 0
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def page_link(page: str, user: str | None, parameters: Mapping[str, Any]) -> str:
    """Return the address of a page with its parameters: those that are None or empty are left out."""
    given = {name: str(value) for name, value in parameters.items() if value not in (None, "")}
    query = urlencode(({"user": user} if user else {}) | given, errors="replace")
    return f"{page}?{query}" if query else page
