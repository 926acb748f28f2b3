"""Untrusted text in a prompt: every line of it is marked, or stands between quotes that it cannot close."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from ..text.memory_fence import QUOTED
from .prompt_fields import visible

MAX_QUOTE = 1_000  # characters
_MARKS = " \t\r\n\"'.,;:!?\u2026\u201c\u201d\u2018\u2019"


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return the character range of a quote in a text, ignoring white space, case, punctuation and what is invisible.

    Of the text: a model reads, and so quotes, only what is visible of it.
    """
    if len(quote) > MAX_QUOTE:
        return None
    shown = visible(text)
    found = _find(quote, shown)
    if found is None or shown == text:
        return found
    places = _places(shown, text)
    return places[found[0]], places[found[1] - 1] + 1


def _places(shown: str, text: str) -> list[int]:
    """Return where each character stands in the text that some were left out of."""
    places: list[int] = []
    for place, character in enumerate(text):
        if len(places) < len(shown) and shown[len(places)] == character:
            places.append(place)
    return places


def _find(quote: str, text: str) -> tuple[int, int] | None:
    for candidate in (quote.split(), quote.strip(_MARKS).split()):
        if candidate:
            pattern = r"\s+".join(re.escape(word) for word in candidate)
            match = re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE)
            if match:
                return match.span()
    return None


MARK = QUOTED  # opens each line that somebody wrote; no line of ours begins with it
_TAGS = "question|requirements|wishes|evidence|item|earlier|turn|missing|facts|memory|system|assistant|user"
_ANGLE = "[<\uff1c\ufe64\u2039\u27e8\u3008]"  # an opening angle bracket, or a character that looks like one
# Names of control tokens that look like any other tag or any other word in capitals.
_TOKENS = (
    r"[bes]o[a-z]{1,2}|unk|pad|sep|cls|[gs]?mask|sys|role|think\w*|tools?|human|bot|model|developer|image|img|audio|video"
    r"|endoftext|(?-i:s)|(?:unused|special|reserved|extra)\d+"
)
_CAPITALS = (
    r"INST|SYS(?:TEM)?|USER|ASSISTANT|BOT|THINK|ARGS|IMG|AUDIO|VIDEO|TOOLS?|[gs]?MASK|PREFIX|MIDDLE|SUFFIX|[BE]O[ST]"
)
_JOINED = r"[^\W_]*[_:\u2581][\w:\u2581]*"  # a name of parts: image_soft_token, seed:bos
# What opens a tag of ours, the name of a chat role, or a marker that a chat template writes for itself: many servers
# read it in a message as in their own template, so that a turn could end the user's part and open one of the system.
# A marker is known by its shape: a pipe inside its brackets, a name of parts or a reserved one and nothing else between
# angle brackets, capitals between square ones, a tilde among brackets (MiniMax).
_MARKER = re.compile(
    rf"{_ANGLE}(?=\s*[/\\]?\s*(?:{_TAGS})\b"
    rf"|<?\s*[|\uff5c]|\w+[|\uff5c]>|/?(?:{_TOKENS}|{_JOINED})>|<\s*/?\w+>>|(?:function|parameter)=)"
    rf"|\[(?=[|\uff5c]\w|(?-i:\s*/?(?:{_CAPITALS}|(?=[A-Z_]*_)[A-Z][A-Z_]*_\w+)\])|unused\w*\])"
    r"|[\[\]](?=[\w!]{0,4}~[\w!]{0,4}[\[\]])|\](?=<\])|>(?=(?-i:>[A-Z_]+<<))|\u25c1(?=/?\w+\u25b7)",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"[\s\"\u201c\u201d\u201e\u201f\u2033\u2036\u00ab\u00bb\uff02<>\uff1c\uff1e]+")


def escape(text: str) -> str:
    """Return untrusted text as it may stand in a prompt: no invisible characters, tag, role or template marker."""
    return _MARKER.sub("(", visible(text))


def marked(text: str) -> str:
    """Return untrusted text with the mark before each of its lines, whatever ends them."""
    return "\n".join(f"{MARK}{line}" for line in escape(text).splitlines() or [""])


def escape_attribute(text: str, limit: int = 80) -> str:
    """Return untrusted text for use between quotes: one line, no quotes or brackets, at most `limit` characters."""
    return _QUOTES.sub(" ", escape(text)).strip()[:limit]


def named(name: str) -> str:
    """Return a name between quotes."""
    return f'"{escape_attribute(name)}"'


def bullets(texts: Iterable[str]) -> str:
    """Return untrusted texts as a bulleted list, each between quotes."""
    return "\n".join(f'- "{escape_attribute(text, 300)}"' for text in texts) or "- none"


def format_time(time: datetime | None) -> str:
    """Return a time with its weekday, which the model needs to resolve relative dates."""
    return f"{time:%a} {time.day} {time:%B} {time.year} {time:%H:%M}" if time else "unknown"


def caption_line(caption: str | None) -> str:
    """Return a caption as a line of its turn's text; empty without one."""
    return f"\n[picture: {caption}]" if caption else ""
