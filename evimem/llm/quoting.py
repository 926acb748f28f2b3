"""Untrusted text in a prompt: every line of it is marked, or stands between quotes that it cannot close."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from ..text.memory_fence import QUOTED
from .prompt_fields import visible

MARK = QUOTED  # opens each line that somebody wrote; no line of ours begins with it
_TAGS = "question|requirements|wishes|evidence|item|earlier|turn|missing|facts|memory|system|assistant|user"
# An opening angle bracket, or a character that looks like one, before the name of a tag or a chat role.
_LOOKALIKE = re.compile(rf"[<\uff1c\ufe64\u2039\u27e8\u3008](?=\s*[/\\]?\s*(?:{_TAGS})\b)", re.IGNORECASE)
# Likewise before what chat templates write for themselves: many servers read it in a message as in their own template,
# so that a turn could end the user's part and open one of the system.
_TEMPLATE = re.compile(
    r"[<\uff1c](?=<?\s*(?:[|\uff5c]|/?(?:s|bos|eos|unk|pad|mask|sop|sys|think|tools?|tool_(?:calls?|response)|endoftext"
    r"|(?:start|end)_of_(?:turn|image|text)|im_(?:start|end|sep))>))"
    r"|\[(?=\s*/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|[gs]?MASK|THINK|ARGS|CALL_ID)\])",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"[\s\"\u201c\u201d\u201e\u201f\u2033\u2036\u00ab\u00bb\uff02<>\uff1c\uff1e]+")


def escape(text: str) -> str:
    """Return untrusted text as it may stand in a prompt: no invisible characters, tag, role or template marker."""
    return _TEMPLATE.sub("(", _LOOKALIKE.sub("(", visible(text)))


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
