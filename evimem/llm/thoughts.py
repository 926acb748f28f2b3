"""Where the thoughts in a model's text begin and end, by the shape of the marks that models put around them.

A mark is a bracketed name that speaks of thinking (`<think>`, `[THINK]`, `◁think▷`, `<|begin_of_thought|>`), a channel
other than the final one (`<|channel|>analysis`, and what is left of it where a server drops the brackets), a code fence
of such a name, or a comment.
"""

from __future__ import annotations

import re

_STEM = (
    r"(?:think|thought|reason|reflect|analy[sz]|scratch|draft|deliberat|monologue|rationale|details"
    r"|\u601d\u8003|\u63a8\u7406)"
)
_LEFT, _RIGHT, _PIPE = r"[<\uff1c\u25c1\u27e8\u3008]\s*[|\uff5c]?\s*", r"[>\uff1e\u25b7\u27e9\u3009]", r"[|\uff5c]?"
_NAME = rf"[\w:.-]{{0,24}}?{_STEM}[\w:.-]{{0,24}}"
_CAPITALS = (
    r"(?-i:(?:[A-Z_]{0,24}(?:THINK|THOUGHT|REASON|REFLECT|ANALY[SZ]|SCRATCH)[A-Z_]{0,24}))"  # "[draft]" is prose
)
_ENDED = rf"(?:[/\\]\s*{_NAME}|end[_:\u2581 -]?{_NAME}|{_NAME}[_:\u2581-]end)"
_SQUARE = rf"(?:{_CAPITALS}|\u601d\u8003)[\]\u3011]"
_CLOSED = rf"{_LEFT}{_ENDED}\s*{_PIPE}\s*{_RIGHT}|[\[\u3010]\s*/\s*{_SQUARE}|<channel\|>"
_STRIPPED = "(?:analysis|commentary)"  # the names of channels, glued to what they hold where a server drops the marks
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
_HOW = re.IGNORECASE | re.MULTILINE
_END = {kind: re.compile(end, _HOW) for kind, end in _ENDS.items()}
_FINAL = (
    r"<\|channel\|>\s*final\b(?:[^{\n]{0,80}?<\|message\|>)?"
    r"|(?-i:assistantfinal|assistant\s*\n\s*final\b)"
)


# What any mark begins with but the names at the beginning of a text: looked for first, as most characters are no mark.
_FIRST = r"[<\uff1c\u25c1\u27e8\u3008`~]|(?-i:[\[\u3010][\s/A-Z_\u601d]|assistant)"


def _marks(bracket: str) -> re.Pattern[str]:
    kinds = {"closed": _CLOSED, "final": _FINAL} | _OPENINGS | {"bracket": bracket}
    marks = "|".join(f"(?P<{kind}>{mark})" for kind, mark in kinds.items())
    return re.compile(rf"(?:\A|(?={_FIRST}|{bracket}))(?:{marks})", _HOW)


# A bracket is what a value may begin with; "closed" ends a thought that began in the prompt, and "final" may do so.
MARK, MARK_OR_OBJECT = _marks(r"[{\[]"), _marks(r"\{")
_OF_PROMPT = {"closed", "final"}
_PREFACE = re.compile(
    r"[\s\ufeff]*(?:<\|(?:begin|start)_\w{1,40}\|>\s*)?(?:(?:```|~~~)\s*)?(?:json\w*)?\s*", re.IGNORECASE
)


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
