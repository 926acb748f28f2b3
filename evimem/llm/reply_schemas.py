"""JSON schemas of the replies, in the strict form of structured outputs: every field required, no other allowed."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
TIERS = ("exact", "inferrable", "partial", "none")
STATUSES = ("supported", "open", "waived")
GAPS = ("entity", "attribute", "time", "attribution", "granularity", "conflict")
KINDS = ("event", "state", "opinion", "plan", "image")


def _object(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}


def _one_of(names: tuple[str, ...]) -> Schema:
    return {"type": "string", "enum": list(names)}


JUDGE = _object(
    tier=_one_of(TIERS),
    confidence=NUMBER,
    requirements=_list(_object(id=TEXT, status=_one_of(STATUSES), evidence=_list(TEXT), why=TEXT)),
    gaps=_list(_object(kind=_one_of(GAPS), about=TEXT, text=TEXT)),
    next_query=TEXT,
    reason=TEXT,
)
ANSWER = _object(steps=_list(TEXT), answer=TEXT, citations=_list(_object(id=TEXT, quote=TEXT)))
EXTRACT = _object(
    facts=_list(_object(subject=TEXT, predicate=TEXT, object=TEXT, when=TEXT, quote=TEXT, kind=_one_of(KINDS)))
)
ENTITIES = _object(names=_list(TEXT))
REFINE = _object(query=TEXT)
CHAIN = _object(type=_one_of(("multi_hop", "direct")), steps=_list(TEXT), used=_list(TEXT))
