"""The JSON object in a model's reply that has a wanted field, and the answer in one that is still arriving.

Models wrap JSON in fences, prose and thoughts, leave trailing commas, or quote with apostrophes. All of that is read;
a reply that cannot be read, or in two ways, raises `ReplyError`, and nothing else is ever raised.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from ..errors import ReplyError

_STEM = (
    r"(?:think|thought|reason|reflect|analy[sz]|scratch|draft|deliberat|monologue|rationale|details"
    r"|\u601d\u8003|\u63a8\u7406)"
)

_NAME = rf"[\w:.-]{{0,24}}?{_STEM}[\w:.-]{{0,24}}"
_CAPITALS = (
    r"(?-i:(?:[A-Z_]{0,24}(?:THINK|THOUGHT|REASON|REFLECT|ANALY[SZ]|SCRATCH)[A-Z_]{0,24}))"  # "[draft]" is prose
)
_ENDED = rf"(?:[/\\]\s*{_NAME}|end[_:\u2581 -]?{_NAME}|{_NAME}[_:\u2581-]end)"
_SQUARE = rf"(?:{_CAPITALS}|\u601d\u8003)[\]\u3011]"

_STRIPPED = "(?:analysis|commentary)"  # the names of channels, glued to their content where a server drops the marks

_HOW = re.IGNORECASE | re.MULTILINE

_FINAL = (
    r"<\|channel\|>\s*final\b(?:[^{\n]{0,80}?<\|message\|>)?"
    r"|(?-i:assistantfinal|assistant\s*\n\s*final\b)"
)

# The first characters of marks, but for the names at the beginning of a text: looked for first, as most characters are
# no mark.
_FIRST = r"[<\uff1c\u25c1\u27e8\u3008`~]|(?-i:[\[\u3010][\s/A-Z_\u601d]|assistant)"

_PREFACE = re.compile(
    r"[\s\ufeff]*(?:<\|(?:begin|start)_\w{1,40}\|>\s*)?(?:(?:```|~~~)\s*)?(?:json\w*)?\s*", re.IGNORECASE
)

MAX_REPLY_JSON_CHARACTERS = 500_000  # characters
MAX_NESTING_DEPTH = 64

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<string>"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')
      | (?P<mark>[{}\[\]:,])
      | (?P<word>[^\s{}\[\]:,"'/]+)""",
    re.VERBOSE | re.DOTALL,
)
_ARRIVING = re.compile(r'"answer"\s*:\s*"((?:[^"\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*)', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"} | {mark: mark for mark in "\"'/\\"}
_WORDS = {"true": True, "false": False, "null": None, "none": None, "nan": None, "infinity": None, "-infinity": None}
_BLANK = "\ufeff \t\r\n"

MAX_STREAMED_CHARACTERS = 100_000  # characters: a reply that is longer, thoughts included, is shown when it is there


_LEFT, _RIGHT, _PIPE = r"[<\uff1c\u25c1\u27e8\u3008]\s*[|\uff5c]?\s*", r"[>\uff1e\u25b7\u27e9\u3009]", r"[|\uff5c]?"
_CLOSED = rf"{_LEFT}{_ENDED}\s*{_PIPE}\s*{_RIGHT}|[\[\u3010]\s*/\s*{_SQUARE}|<channel\|>"
# The openings of thoughts, by the kind of their ends.
_OPENINGS = {
    "tag": rf"{_LEFT}{_NAME}(?:\s[^<>]{{0,200}})?(?<!/){_PIPE}{_RIGHT}|[\[\u3010]{_SQUARE}",
    "channel": r"<\|channel\|?>\s*(?!\s|final\b)\w+",
    "stripped": rf"(?-i:\A\s*(?:assistant)?{_STRIPPED}(?=[\w\"'{{(\[*<]))|(?-i:assistant{_STRIPPED})",
    "fence": rf"(?:```|~~~)\s*{_NAME}[^\n]{{0,80}}\n",
    "comment": "<!--",
}
_ENDS = {
    "tag": _CLOSED,
    "channel": r"<\|(?:end|return|call)\|>|<channel\|>|(?=<\|(?:start|channel)\|>)",
    "stripped": rf"(?=assistant(?:final|{_STRIPPED}))",
    "fence": r"^(?:```|~~~)\s*$",
    "comment": "-->",
}
_END = {kind: re.compile(end, _HOW) for kind, end in _ENDS.items()}


def _marks(bracket: str) -> re.Pattern[str]:
    kinds = {"closed": _CLOSED, "final": _FINAL} | _OPENINGS | {"bracket": bracket}
    marks = "|".join(f"(?P<{kind}>{mark})" for kind, mark in kinds.items())
    return re.compile(rf"(?:\A|(?={_FIRST}|{bracket}))(?:{marks})", _HOW)


# A bracket may begin a value; "closed" ends a thought that began in the prompt, and "final" may do so.
MARK, MARK_OR_OBJECT = _marks(r"[{\[]"), _marks(r"\{")


def end_of(thought: re.Match[str]) -> int:
    """Return where the thought ends that a mark opens: at the end of the text where nothing closes it."""
    end = _END[str(thought.lastgroup)].search(thought.string, thought.end())
    return end.end() if end else len(thought.string)


def remove_thoughts(text: str) -> str:
    """Return an arriving reply from its first bracket on; empty while it may still be thought.

    Prose before the bracket is an unmarked thought, or one that a later mark closes.
    """
    at = 0
    while (mark := MARK.search(text, at)) is not None:
        if mark.lastgroup == "bracket":
            if _PREFACE.fullmatch(text, at, mark.start()):
                return text[mark.start() :]
            closed = next(
                (one for one in MARK.finditer(text, mark.end()) if one.lastgroup in {"closed", "final"}), None
            )
            if closed is None:
                return ""
            mark = closed
        at = mark.end() if mark.lastgroup in {"closed", "final"} else end_of(mark)
    return ""


def read_object(
    text: str, role: str, wanted: Collection[str], *, bare: str | None = None, form: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the reply's last object that has one of the wanted fields, after all thoughts.

    With `bare`, a reply that is only a list of objects is taken as the value of that field. An object equal to `form`,
    the prompt's example, is passed over. Raise ReplyError when there is nothing of this, when there are two that
    differ, or when one gives a field twice: which of them is meant is the model's to say.
    """
    if len(text) > MAX_REPLY_JSON_CHARACTERS:
        raise ReplyError(role, f"it has {len(text)} characters, at most {MAX_REPLY_JSON_CHARACTERS} are read", text)
    values = _spoken(text, MARK if bare else MARK_OR_OBJECT)
    if values is None:
        raise ReplyError(role, "it is empty" if not text.strip() else "it is all thought", text)
    fitting = [one for one in values if _fits(one.value, wanted, bare) and one.value != form]
    if not fitting:
        raise ReplyError(role, f"it has no JSON object with any of {sorted(wanted)!r}", text)
    if any(one.repeats for one in fitting):
        raise ReplyError(role, "it gives a field twice", text)
    value = fitting[-1].value
    if any(one.value != value for one in fitting):
        raise ReplyError(role, "it holds two replies that differ", text)
    return value if isinstance(value, dict) else {str(bare): value}


def _fits(value: Any, wanted: Collection[str], bare: str | None) -> bool:
    if isinstance(value, dict):
        return any(name in value for name in wanted)
    return bare is not None and isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _spoken(text: str, marks: re.Pattern[str]) -> list[_Reader] | None:
    """Return the readers of the JSON values that stand outside thoughts; None where nothing does, not even a word."""
    # At most 12,000 tokens of JSON over all brackets that are tried.
    values, spoken, left, at, final = list[_Reader](), False, [12_000], 0, False
    while (mark := marks.search(text, at)) is not None:
        spoken |= bool(text[at : mark.start()].strip(_BLANK))
        at = mark.end()
        if mark.lastgroup == "bracket":
            spoken = True
            with suppress(_Unreadable):
                values.append(_Reader(text, mark.start(), left))
                at = values[-1].at  # values nested in an object were read with it
        elif mark.lastgroup in {"closed", "final"}:
            if mark.lastgroup == "closed" or not final:  # the thought that it closes began in the prompt
                values, spoken = [], False
            final = final or mark.lastgroup == "final"
        else:
            at = end_of(mark)
    return values if spoken or text[at:].strip(_BLANK) else None


class _Unreadable(Exception):
    """The text is not even lenient JSON, or costs too much to read."""


class _Reader:
    """A value of JSON, or nearly: apostrophes, bare words, comments, trailing and missing commas.

    It ends `at` a place; `repeats` is whether an object gave a field twice, `left` the tokens that may be read, over
    all values of a reply.
    """

    def __init__(self, text: str, start: int, left: list[int]) -> None:
        self._text = text
        self.at = start
        self._left = left
        self.repeats = False
        self.value = self._value(0)

    def _value(self, depth: int) -> Any:
        kind, token = self._next()
        if kind == "string":
            return _unescape(token[1:-1])
        if kind == "word":
            return _word(token)
        if depth >= MAX_NESTING_DEPTH:
            self._left[0] = 0  # no reply is nested so deep
        if depth >= MAX_NESTING_DEPTH or token not in "{[":
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
            name = _unescape(token[1:-1]) if kind == "string" else token
            self.repeats |= name in members
            members[name] = self._value(depth + 1)

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
            items.append(self._value(depth + 1))

    def _next(self) -> tuple[str, str]:
        self._left[0] -= 1
        space = _SPACE.match(self._text, self.at)
        match = _TOKEN.match(self._text, space.end() if space else self.at)
        if match is None or self._left[0] < 0:
            raise _Unreadable
        self.at = match.end()
        return str(match.lastgroup), match[0]


def _word(token: str) -> Any:
    if token.lower() in _WORDS:
        return _WORDS[token.lower()]
    if re.fullmatch(r"-?\d{1,18}", token):
        return int(token)
    return float(token) if re.fullmatch(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?", token) else token


def _unescape(body: str) -> str:
    def character(match: re.Match[str]) -> str:
        code, plain = match.groups()
        return chr(int(code, 16)) if code else _ESCAPES.get(plain, match[0])  # anything else is text: a formula, a path

    plain = re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", character, body, flags=re.DOTALL) if "\\" in body else body
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins surrogate pairs


class AnswerStream:
    """Extracts the answer's text from the pieces of a JSON reply as they arrive, after the thoughts of the model."""

    def __init__(self) -> None:
        self._reply = ""
        self._sent = ""

    def add(self, piece: str) -> str:
        """Add a piece of the reply; return the characters by which it extends the answer, often none."""
        if len(self._reply) > MAX_STREAMED_CHARACTERS:
            return ""
        self._reply += piece
        arriving = _ARRIVING.search(remove_thoughts(self._reply))
        answer = _unescape(re.sub(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z", "", arriving[1])) if arriving else ""
        if not answer.startswith(self._sent):  # the sent text was a thought after all
            return ""
        new = answer[len(self._sent) :]
        self._sent = answer
        return new
