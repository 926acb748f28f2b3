"""JSON schemas of the replies, in the strict form of structured outputs: every field required, no other allowed.

Lists and texts are bounded, so that a model that does not end by itself is ended by the schema. A server that knows no
`maxItems` or `maxLength` is asked again without them (see `evimem.openai`).
"""

from __future__ import annotations

from typing import Any, get_args

from ..judging.decision import Action
from ..judging.exploring import TOOLS

Schema = dict[str, Any]
TIERS = ("exact", "inferrable", "partial", "none")
STATUSES = ("supported", "open", "waived")
GAPS = ("entity", "attribute", "time", "attribution", "granularity", "conflict", "contradicted")
ACTIONS: tuple[Action, ...] = get_args(Action)
KINDS = ("event", "state", "opinion", "plan", "image")
LABEL = 40  # characters
SENTENCE = 400  # characters
LONG = 4_000  # characters of an answer, which may be a list or a summary


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


NUMBER: Schema = {"type": "number"}
YES_NO: Schema = {"type": "boolean"}
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
    )
)  # fmt: skip
ENTITIES = _object(names=_list(_text(80), 10))
REFINE = _object(query=LINE)
CHAIN = _object(type=_one_of(("multi_hop", "direct")), steps=_list(LINE, 12), used=_list(NAME, 20))
