"""Parse a model's reply: the JSON object in it that has a wanted field, else its labelled lines.

Models wrap JSON in fences, prose and thoughts, leave trailing commas, quote with apostrophes, or answer in lines
("**EXACT**: yes"). All of that is parsed; what cannot be, or could be read in two ways, raises `ReplyError`, and
nothing else is ever raised.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ReplyError
from .shown_words import visible

MAX_TEXT = 4_000  # characters
MAX_ITEMS = 200

_NUMBER = re.compile(r"-?\d{1,12}(?:\.\d{1,12})?\s*%?")
_NOTHING = {"", "none", "n/a", "na", "nothing", "no", "null", "nil", "no gap", "no gaps", "nothing missing"}
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

_STRIPPED = "(?:analysis|commentary)"  # the names of channels, glued to what they hold where a server drops the marks

_HOW = re.IGNORECASE | re.MULTILINE

_FINAL = (
    r"<\|channel\|>\s*final\b(?:[^{\n]{0,80}?<\|message\|>)?"
    r"|(?-i:assistantfinal|assistant\s*\n\s*final\b)"
)

# What any mark begins with but the names at the beginning of a text: looked for first, as most characters are no mark.
_FIRST = r"[<\uff1c\u25c1\u27e8\u3008`~]|(?-i:[\[\u3010][\s/A-Z_\u601d]|assistant)"

_PREFACE = re.compile(
    r"[\s\ufeff]*(?:<\|(?:begin|start)_\w{1,40}\|>\s*)?(?:(?:```|~~~)\s*)?(?:json\w*)?\s*", re.IGNORECASE
)

MAX_REPLY = 500_000  # characters
MAX_STARTS = 400  # opening brackets that are tried
MAX_STRICT = 4 * MAX_REPLY  # characters of strict parsing that came to nothing: bounds the work on hostile replies
MAX_DEPTH = 64
MAX_TOKENS = 12_000  # of lenient parsing, over all starts
MAX_LINES = 300
MAX_LINE = 4_000  # characters

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<string>"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')
      | (?P<mark>[{}\[\]:,])
      | (?P<word>[^\s{}\[\]:,"'/]+)""",
    re.VERBOSE | re.DOTALL,
)
_LABEL = re.compile(r"[\s>*_#`-]*([A-Za-z][A-Za-z _-]{0,24}?)[\s*_`]*[:=](.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_HALF = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"} | {mark: mark for mark in "\"'/\\"}
_WORDS = {"true": True, "false": False, "null": None, "none": None, "nan": None, "infinity": None, "-infinity": None}
_JSON_NUMBER = re.compile(r"[-+]?\d{1,18}(?:\.\d{0,18})?(?:[eE][-+]?\d{1,2})?")

MOST_WATCHED = 100_000  # characters: a reply that is longer, thoughts included, is shown when it is there


def text(value: Any, limit: int = MAX_TEXT) -> str:
    """Return a string or a number as clean text of at most `limit` characters, anything else as an empty string."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    if isinstance(value, int) and abs(value) >= 10**18:
        return ""
    return visible(str(value)[: 2 * limit]).strip()[:limit]


def stated(value: Any, limit: int = MAX_TEXT) -> str:
    """Return a text as `text` does, but an empty one for a word such as "none." or "N/A"."""
    clean = text(value, limit)
    return "" if clean.strip(" .!-*_\"'").lower() in _NOTHING else clean


def confidence(value: Any) -> float | None:
    """Return a number in 0..1, read from 0.95, "0.95 (high)", 95 or "95%"; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        match = _NUMBER.search(value[:80])
        if match is None:
            return None
        number = float(match[0].rstrip("% ")) / (100 if "%" in match[0] else 1)
    elif isinstance(value, float) or (isinstance(value, int) and abs(value) <= 100):
        number = float(value)
    else:
        return None
    if 1 < number <= 100:
        number /= 100
    return number if math.isfinite(number) and 0 <= number <= 1 else None


def flag(value: Any) -> bool | None:
    """Return a yes or no as a boolean, None for neither."""
    if isinstance(value, bool):
        return value
    word = re.match(r"\W*(\w+)", text(value, 40).lower())
    if word is None:
        return None
    return {"yes": True, "true": True, "y": True, "no": False, "false": False, "n": False}.get(word[1])


def choice(value: Any, allowed: Collection[str]) -> str | None:
    """Return the allowed word that a field holds, ignoring case and punctuation; None for another."""
    word = re.sub(r"[\s-]+", "_", text(value, 80).strip(" .!*_`\"'").lower())
    return word if word in allowed else None


def items(value: Any) -> list[Any]:
    """Return at most MAX_ITEMS items: of a list, or of a string split at commas, semicolons and line breaks."""
    if isinstance(value, list):
        return value[:MAX_ITEMS]
    if not isinstance(value, str):
        return []
    parts = re.split(r"[,;\n]", stated(value).strip("[](){} "))
    return [part.strip(" \"'*-[]()") for part in parts if part.strip(" \"'*-[]()")][:MAX_ITEMS]


def sentences(value: Any, limit: int) -> tuple[str, ...]:
    """Return the non-empty texts among the first `limit` items of a list, or lines of a string."""
    parts = value.split("\n") if isinstance(value, str) else items(value)
    return tuple(clean for sentence in parts[:limit] if (clean := stated(sentence)))


_LEFT, _RIGHT, _PIPE = r"[<\uff1c\u25c1\u27e8\u3008]\s*[|\uff5c]?\s*", r"[>\uff1e\u25b7\u27e9\u3009]", r"[|\uff5c]?"
_CLOSED = rf"{_LEFT}{_ENDED}\s*{_PIPE}\s*{_RIGHT}|[\[\u3010]\s*/\s*{_SQUARE}|<channel\|>"
# What opens a thought, by the kind of what ends it.
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


# A bracket is what a value may begin with; "closed" ends a thought that began in the prompt, and "final" may do so.
MARK, MARK_OR_OBJECT = _marks(r"[{\[]"), _marks(r"\{")


def end_of(thought: re.Match[str]) -> int:
    """Return where the thought ends that a mark opens: at the end of the text where nothing closes it."""
    end = _END[str(thought.lastgroup)].search(thought.string, thought.end())
    return end.end() if end else len(thought.string)


def begun(text: str) -> str:
    """Return what a reply that is arriving holds from its first bracket on; empty while it may still be thought.

    Prose before the bracket is thought that nobody marked, or that a later mark closes.
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


def read(
    text: str, role: str, wanted: Collection[str], *, bare: str | None = None, form: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the reply's last object that has one of the wanted fields, or its labelled lines, after all thoughts.

    With `bare`, a reply that is only a list of objects is taken as the value of that field. An object equal to `form`,
    the prompt's example, is passed over. Raise ReplyError when there is nothing of this, when there are two that
    differ, or when one gives a field twice: which of them is meant is the model's to say.
    """
    if len(text) > MAX_REPLY:
        raise ReplyError(role, f"it has {len(text)} characters, at most {MAX_REPLY} are read", text)
    scan = _Scan(text, MARK if bare else MARK_OR_OBJECT)
    try:
        scan.run()
    except _Unreadable as error:
        raise ReplyError(role, str(error), text) from None
    if not scan.spoken:
        raise ReplyError(role, "it is empty" if not text.strip() else "it is all thought", text)
    fitting = [one for one in scan.values if _fits(one.value, wanted, bare) and one.value != form]
    if any(one.repeats for one in fitting):
        raise ReplyError(role, "it gives a field twice", text)
    if any(one.value != fitting[-1].value for one in fitting):
        raise ReplyError(role, "it holds two replies that differ", text)
    if fitting:
        value = fitting[-1].value
        return value if isinstance(value, dict) else {str(bare): value}
    lines = _lines(scan.spoken)
    if not any(name in lines for name in wanted):
        raise ReplyError(role, f"it has neither a JSON object nor labelled lines with any of {sorted(wanted)!r}", text)
    if any(len(set(lines[name])) > 1 for name in wanted if name in lines):
        raise ReplyError(role, "it holds two replies that differ", text)
    return {name: values[-1] for name, values in lines.items()}


def partial_field(text: str, name: str) -> str:
    """Return the part of a string field that an incomplete JSON reply already holds."""
    opening = re.search(rf'"{re.escape(name)}"\s*:\s*"', text)
    if opening is None:
        return ""
    body = re.compile(r'(?:[^"\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*', re.DOTALL).match(text, opening.end())
    return _unescaped(_HALF.sub("", body.group())) if body else ""


def _fits(value: Any, wanted: Collection[str], bare: str | None) -> bool:
    if isinstance(value, dict):
        return any(name in value for name in wanted)
    return bare is not None and isinstance(value, list) and all(isinstance(item, dict) for item in value)


@dataclass(frozen=True, slots=True)
class _Value:
    """A JSON value of a reply; `repeats` where an object in it gives a field twice."""

    value: Any
    repeats: bool


class _Scan:
    """One pass over a reply: the values that stand outside thoughts, and the text that does."""

    def __init__(self, text: str, marks: re.Pattern[str]) -> None:
        self.values: list[_Value] = []
        self.spoken = ""
        self._text = text
        self._marks = marks
        self._left = [MAX_TOKENS]
        self._starts, self._strict = MAX_STARTS, MAX_STRICT

    def run(self) -> None:
        """Read it to its end. Raise _Unreadable where that takes more work than a reply is worth."""
        at, spoken, final = 0, [""], False
        while (mark := self._marks.search(self._text, at)) is not None:
            spoken.append(self._text[at : mark.start()])
            if mark.lastgroup == "bracket":
                end = self._value(mark.start())
                spoken.append(self._text[mark.start() : end])
            elif mark.lastgroup in {"closed", "final"}:
                if mark.lastgroup == "closed" or not final:  # what it closes began in the prompt
                    self.values, spoken = [], [""]
                final, end = final or mark.lastgroup == "final", mark.end()
            else:
                end = end_of(mark)
            at = end
        self.spoken = "".join((*spoken, self._text[at:])).strip("\ufeff \t\r\n")

    def _value(self, start: int) -> int:
        """Read the value that starts here, strictly, else leniently; return its end."""
        self._starts -= 1
        repeats: list[str] = []
        decoder = json.JSONDecoder(
            strict=False, parse_constant=lambda name: None, object_pairs_hook=lambda pairs: _members(pairs, repeats)
        )
        try:
            value, end = decoder.raw_decode(self._text, start)
        except RecursionError:
            return len(self._text)  # nested too deep to be a reply
        except ValueError as error:  # not strict JSON, or an integer of thousands of digits
            self._strict -= getattr(error, "pos", len(self._text)) - start
            if self._starts < 0 or self._strict < 0:
                raise _Unreadable("it has too many brackets that are no JSON") from None
            lenient = _Lenient(self._text, start, self._left, repeats)
            try:
                value, end = lenient.value(), lenient.at
            except _Unreadable:
                return start + 1  # what is nested in an object that is read was read with it
        self.values.append(_Value(value, bool(repeats)))
        return end


def _members(pairs: Sequence[tuple[str, Any]], repeats: list[str]) -> dict[str, Any]:
    """Return the members of an object, and note that one is given twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        repeats.append("")
    return members


class _Unreadable(Exception):
    """The text is not even lenient JSON, or costs too much to read."""


class _Lenient:
    """JSON with apostrophes, bare words, comments, trailing and missing commas; bounded in depth and work."""

    def __init__(self, text: str, start: int, left: list[int], repeats: list[str]) -> None:
        self._text = text
        self.at = start
        self._left = left
        self._repeats = repeats

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
        pairs: list[tuple[str, Any]] = []
        while True:
            kind, token = self._next()
            if token == "}" and kind == "mark":
                return _members(pairs, self._repeats)
            if token == "," and kind == "mark":
                continue
            if kind == "mark" or self._next() != ("mark", ":"):
                raise _Unreadable
            pairs.append((_unescaped(token[1:-1]) if kind == "string" else token, self.value(depth + 1)))

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
    return float(token) if _JSON_NUMBER.fullmatch(token) else token


def _unescaped(body: str) -> str:
    def character(match: re.Match[str]) -> str:
        code, plain = match.groups()
        return chr(int(code, 16)) if code else _ESCAPES.get(plain, match[0])  # what is none is text: a formula, a path

    plain = _ESCAPE.sub(character, body) if "\\" in body else body
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins surrogate pairs


def _lines(text: str) -> dict[str, list[str]]:
    """Return what labelled lines say by their labels; a line without a label continues the one before it."""
    fields: dict[str, list[str]] = {}
    name = ""
    for line in text.split("\n", MAX_LINES)[:MAX_LINES]:
        label = _LABEL.match(line[:MAX_LINE])
        if label:
            name = re.sub(r"[ -]+", "_", label[1].strip().lower())
            fields.setdefault(name, []).append(label[2].strip(" \t\r*_`"))
        elif name and line.strip():
            fields[name][-1] = f"{fields[name][-1]}\n{line[:MAX_LINE].strip()}".strip()
    return fields


class AnswerStream:
    """Extracts the answer's text from the pieces of a JSON reply as they arrive, after what the model thinks."""

    def __init__(self) -> None:
        self._reply = ""
        self._sent = ""

    def add(self, piece: str) -> str:
        """Add a piece of the reply; return the characters by which it extends the answer, often none."""
        if len(self._reply) > MOST_WATCHED:
            return ""
        self._reply += piece
        answer = partial_field(begun(self._reply), "answer")
        if not answer.startswith(self._sent):  # what was sent was thought after all
            return ""
        new = answer[len(self._sent) :]
        self._sent = answer
        return new
