"""Parse a model's reply: the first JSON object in it that has a wanted field, else its labelled lines.

Models wrap JSON in fences, prose and thoughts, leave trailing commas, quote with apostrophes, or answer in lines
("**EXACT**: yes"). All of that is parsed; what cannot be raises `ReplyError`, and nothing else is ever raised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from ..errors import ReplyError

MAX_REPLY = 2_000_000  # characters
MAX_STARTS = 8  # opening brackets that are tried
MAX_DEPTH = 64
MAX_TOKENS = 4_000  # of lenient parsing, over all starts: bounds the work on hostile replies
MAX_LINES = 300
MAX_LINE = 4_000  # characters

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|//[^\n]*|/\*.*?\*/)+)
      | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')
      | (?P<mark>[{}\[\]:,])
      | (?P<word>[^\s{}\[\]:,"'/]+)""",
    re.VERBOSE | re.DOTALL,
)
_LABEL = re.compile(r"[\s>*_#`-]*([A-Za-z][A-Za-z _-]{0,24}?)[\s*_`]*[:=](.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_HALF = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = {"true": True, "false": False, "null": None, "none": None, "nan": None, "infinity": None, "-infinity": None}
_NUMBER = re.compile(r"[-+]?\d{1,18}(?:\.\d{0,18})?(?:[eE][-+]?\d{1,2})?")
_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda name: None)


def read(
    text: str, role: str, wanted: Collection[str], *, bare: str | None = None, form: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the reply's first object that has one of the wanted fields, or its labelled lines.

    With `bare`, a reply that is only a list of objects is taken as the value of that field. An object equal to `form`,
    the prompt's example, is passed over. Raise ReplyError when there is nothing of this.
    """
    if len(text) > MAX_REPLY:
        raise ReplyError(role, f"it has {len(text)} characters, at most {MAX_REPLY} are read", text)
    visible = text.rpartition("</think>")[2].strip("\ufeff \t\r\n")
    if not visible:
        raise ReplyError(role, "it is empty", text)
    found = _object(visible, wanted, bare, form)
    if found is None:
        lines = _lines(visible)
        found = lines if any(name in lines for name in wanted) else None
    if found is None:
        raise ReplyError(role, f"it has neither a JSON object nor labelled lines with any of {sorted(wanted)!r}", text)
    return found


def partial_field(text: str, name: str) -> str:
    """Return the part of a string field that an incomplete JSON reply already holds."""
    opening = re.search(rf'"{re.escape(name)}"\s*:\s*"', text)
    if opening is None:
        return ""
    body = re.compile(r'(?:[^"\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*', re.DOTALL).match(text, opening.end())
    return _unescaped(_HALF.sub("", body.group())) if body else ""


def _object(
    text: str, wanted: Collection[str], bare: str | None, form: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    left = [MAX_TOKENS]
    opening = re.compile(r"[{\[]" if bare else r"\{")
    at = 0
    for _ in range(MAX_STARTS):
        match = opening.search(text, at)
        if match is None:
            break
        value, end = _value_at(text, match.start(), left)
        if isinstance(value, dict) and value != form and any(name in value for name in wanted):
            return value
        if bare and isinstance(value, list) and all(isinstance(item, dict) for item in value):
            return {bare: value}
        at = max(end, match.end())  # what is nested in an object was parsed with it
    return None


def _value_at(text: str, start: int, left: list[int]) -> tuple[Any, int]:
    """Return the value that starts here and its end, parsed strictly, else leniently; None when neither works."""
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        return None, len(text)  # nested too deep to be a reply
    except ValueError:  # not strict JSON, or an integer of thousands of digits
        pass
    lenient = _Lenient(text, start, left)
    try:
        return lenient.value(), lenient.at
    except _Unreadable:
        return None, start


class _Unreadable(Exception):
    """The text is not even lenient JSON."""


class _Lenient:
    """JSON with apostrophes, bare words, comments, trailing and missing commas; bounded in depth and work."""

    def __init__(self, text: str, start: int, left: list[int]) -> None:
        self._text = text
        self.at = start
        self._left = left

    def value(self, depth: int = 0) -> Any:
        kind, token = self._next()
        if kind == "string":
            return _unescaped(token[1:-1])
        if kind == "word":
            return _word(token)
        if depth >= MAX_DEPTH or token not in "{[":
            raise _Unreadable
        return self._members(depth) if token == "{" else self._items(depth)

    def _members(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while True:
            kind, token = self._next()
            if token == "}" and kind == "mark":
                return members
            if token == "," and kind == "mark":
                continue
            if kind == "mark" or self._next() != ("mark", ":"):
                raise _Unreadable
            members[_unescaped(token[1:-1]) if kind == "string" else token] = self.value(depth + 1)

    def _items(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while True:
            before = self.at
            kind, token = self._next()
            if kind == "mark" and token == "]":
                return items
            if kind == "mark" and token == ",":
                continue
            self.at = before
            items.append(self.value(depth + 1))

    def _next(self) -> tuple[str, str]:
        while True:
            self._left[0] -= 1
            match = _TOKEN.match(self._text, self.at)
            if match is None or self._left[0] < 0:
                raise _Unreadable
            self.at = match.end()
            if match.lastgroup != "space":
                return str(match.lastgroup), match.group()


def _word(token: str) -> Any:
    if token.lower() in _WORDS:
        return _WORDS[token.lower()]
    return float(token) if _NUMBER.fullmatch(token) else token


def _unescaped(body: str) -> str:
    def character(match: re.Match[str]) -> str:
        code, plain = match.groups()
        return chr(int(code, 16)) if code else _ESCAPES.get(plain, plain)

    plain = _ESCAPE.sub(character, body) if "\\" in body else body
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins surrogate pairs


def _lines(text: str) -> dict[str, Any]:
    """Return labelled lines as fields; a line without a label continues the one before it."""
    fields: dict[str, Any] = {}
    name = ""
    for line in text.split("\n", MAX_LINES)[:MAX_LINES]:
        label = _LABEL.match(line[:MAX_LINE])
        if label:
            name = re.sub(r"[ -]+", "_", label[1].strip().lower())
            fields.setdefault(name, label[2].strip(" \t\r*_`"))
        elif name and line.strip():
            fields[name] = f"{fields[name]}\n{line[:MAX_LINE].strip()}".strip()
    return fields
