"""Prompts are files, one per model call: prompts/<name>.md, instructions above a line `---`, $field templates below.

Untrusted text in them is marked on every line, or stands between quotes that it cannot close. A reply has a schema in
the strict form of structured outputs: every field required, no other allowed. Its lists and texts are bounded, so that
a model that does not end by itself is ended by the schema; a server that knows no `maxItems` or `maxLength` is asked
again without them (see `evimem.openai`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any, get_args

from ..judging.judge import TOOLS, Action, Tool
from ..text.memory_fence import QUOTED
from ..types.trace import Complete, ModelRole
from .shown_words import escape, escape_attribute, visible

SEPARATOR = "\n---\n"
# Of a reply with a model's thoughts. Replies have about 150 tokens; what is cut is asked for once more with more room.
MOST_TOKENS = {
    "judge": 2_000,
    "decide": 2_000,
    "keywords": 1_000,
    "consider": 2_000,
    "explore": 2_000,
    "answer": 2_000,
    "extract": 4_000,
    "entities": 500,
    "refine": 500,
    "chain": 1_500,
}
MAX_QUOTE = 1_000  # characters
_MARKS = " \t\r\n\"'.,;:!?\u2026\u201c\u201d\u2018\u2019"

MARK = QUOTED  # opens each line that somebody wrote; no line of ours begins with it

Schema = dict[str, Any]
TIERS = ("exact", "inferrable", "partial", "none")
STATUSES = ("supported", "open", "waived")
GAPS = ("entity", "attribute", "time", "attribution", "granularity", "conflict", "contradicted")
ACTIONS: tuple[Action, ...] = get_args(Action)
KINDS = ("event", "state", "opinion", "plan", "image")
LABEL = 40  # characters
SENTENCE = 400  # characters
LONG = 4_000  # characters of an answer, which may be a list or a summary

NUMBER: Schema = {"type": "number"}
YES_NO: Schema = {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class PromptParts:
    """A prompt file's instructions for the system role, and its template for the user role."""

    system: str
    user: Template


def prompt_request(role: ModelRole, prompt: str, schema: Mapping[str, Any], **values: object) -> Complete:
    """Return the request that a prompt file makes with these values. Raise KeyError for a missing one.

    Values are filled into the user part only: retrieved text must never reach the instructions.
    """
    parts = _parts(prompt)
    return Complete(role, parts.system, parts.user.substitute(values), schema, MOST_TOKENS[prompt])


@cache
def reply_form(prompt: str) -> Mapping[str, Any]:
    """Return the example of a reply that a prompt ends with; a model that repeats it has not replied."""
    form: dict[str, Any] = json.loads(load(prompt).template.strip().rpartition("\n")[2])
    return MappingProxyType(form)


@cache
def load(name: str) -> Template:
    """Return a prompt's template: from the wheel, or from prompts/ next to the package in a checkout."""
    packed = files("evimem") / "_prompts" / f"{name}.md"
    path = packed if packed.is_file() else Path(__file__).parents[2] / "prompts" / f"{name}.md"
    return Template(path.read_text(encoding="utf-8"))


@cache
def _parts(prompt: str) -> PromptParts:
    system, line, user = load(prompt).template.partition(SEPARATOR)
    if not line:
        raise ValueError(f"prompt {prompt!r} has no line '---' between its instructions and its data")
    return PromptParts(system.strip(), Template(user.strip()))


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


def marked(text: str) -> str:
    """Return untrusted text with the mark before each of its lines, whatever ends them."""
    return "\n".join(f"{MARK}{line}" for line in escape(text).splitlines() or [""])


def named(name: str) -> str:
    """Return a name between quotes."""
    return f'"{escape_attribute(name)}"'


def bullets(texts: Iterable[str]) -> str:
    """Return untrusted texts as a bulleted list, each between quotes."""
    return "\n".join(f'- "{escape_attribute(text, 300)}"' for text in texts) or "- none"


def format_time(time: datetime | None) -> str:
    """Return a time with its weekday, which the model needs to resolve relative dates."""
    return f"{time:%a} {time.day} {time:%B} {time.year} {time:%H:%M}" if time else "unknown"


def _object(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _list(of: Schema, most: int) -> Schema:
    return {"type": "array", "items": of, "maxItems": most}


def _text(most: int) -> Schema:
    return {"type": "string", "maxLength": most}


def _one_of(names: tuple[str, ...]) -> Schema:
    return {"type": "string", "enum": list(names)}


def with_entries(schema: Schema, requirements: int) -> Schema:
    """Return a schema with no more entries than there are requirements: a weak model fills a list to its end."""
    needs = {**schema["properties"]["requirements"], "maxItems": max(1, requirements)}
    return {**schema, "properties": {**schema["properties"], "requirements": needs}}


def explore_with(tools: tuple[Tool, ...]) -> Schema:
    """Return the schema of a reply that calls none but these tools."""
    if tools == TOOLS:
        return EXPLORE
    calls = EXPLORE["properties"]["calls"]
    call = {**calls["items"], "properties": {**calls["items"]["properties"], "tool": _one_of(tools)}}
    return {**EXPLORE, "properties": {**EXPLORE["properties"], "calls": {**calls, "items": call}}}


NAME, LINE = _text(LABEL), _text(SENTENCE)

_NEEDS = _list(_object(id=NAME, status=_one_of(STATUSES), evidence=_list(NAME, 12), why=LINE), 12)
_MISSING = _list(_object(kind=_one_of(GAPS), about=_text(80), text=LINE, evidence=_list(NAME, 4)), 8)
JUDGE = _object(
    requirements=_NEEDS,
    gaps=_MISSING,
    reason=LINE,
    tier=_one_of(TIERS),
    confidence=NUMBER,
    next_query=LINE,
)
DECIDE = _object(
    requirements=_NEEDS,
    claims=_list(_object(text=LINE, evidence=_list(NAME, 12)), 12),
    withdrawn=_list(_object(id=NAME, why=LINE), 12),
    gaps=_MISSING,
    reason=LINE,
    tier=_one_of(TIERS),
    confidence=NUMBER,
    action=_one_of(ACTIONS),
    query=LINE,
    draft=_text(LONG),
)
KEYWORDS = _object(keywords=_list(NAME, 8))
CONSIDER = _object(
    critical=_list(NAME, 20),
    gaps=_MISSING,
    reason=LINE,
    tier=_one_of(TIERS),
    confidence=NUMBER,
    answer=_text(LONG),
    accepted=YES_NO,
)
EXPLORE = _object(
    keep=_list(_text(300), 40),
    reason=LINE,
    calls=_list(_object(tool=_one_of(TOOLS), of=_text(300), part=_text(300), page=NUMBER), 5),
    gaps=_MISSING,
    tier=_one_of(TIERS),
    confidence=NUMBER,
    answer=_text(LONG),
    supports=_list(NAME, 20),
)
ANSWER = _object(
    steps=_list(LINE, 5),
    answerable=YES_NO,
    answer=_text(LONG),
    citations=_list(_object(id=NAME, quote=_text(1_000)), 20),
)
EXTRACT = _object(
    facts=_list(
        _object(
            subject=_text(300), predicate=_text(300), object=_text(300), when=_text(120), quote=_text(1_000),
            kind=_one_of(KINDS),
        ),
        32,
    ),
    keywords=_list(NAME, 8),
    tag=NAME,
    topic=NAME,
)  # fmt: skip
ENTITIES = _object(names=_list(_text(80), 10))
REFINE = _object(query=LINE)
CHAIN = _object(type=_one_of(("multi_hop", "direct")), steps=_list(LINE, 12), used=_list(NAME, 20))
