"""The schemas of the bodies and parameters of requests: checked as they stand, and published as they stand."""

from __future__ import annotations

from typing import get_args

from ..loops import LOOPS, VARIANTS
from ..raw.validate import MAX_NAME, MAX_TEXT
from ..types.results import Style
from ..types.values import ROLES, Over
from .json_schema import Schema, object_schema

MAX_REQUEST_TURNS = 1_000  # of one request
MAX_HITS = 100  # of one search
MAX_TOKENS = 100_000  # of one block
MAX_QUESTION_CHARACTERS = 100_000  # characters
MAX_NEIGHBOURS = 100  # turns
MIN_LABELLED = 50  # questions of a calibration
CURSOR_PATTERN = r"^[0-9]{1,18}\.[0-9]{1,6}$"  # microseconds since the year 1, and turns of that time that were given
# A pattern of texts that are not blank; regular expressions of some languages count these controls as white space.
NOT_BLANK = r"[^\s\x1c-\x1f]"

NAME: Schema = {"type": "string", "minLength": 1, "maxLength": MAX_NAME}
TEXT: Schema = {"type": "string", "maxLength": MAX_TEXT}
TIME: Schema = {"type": "string", "format": "date-time", "maxLength": 64, "description": "ISO 8601, or now"}
FLAG: Schema = {"type": "boolean"}
LOOP: Schema = {"type": "string", "enum": [*LOOPS, *VARIANTS], "description": "see listLoops"}
IDS: Schema = {"type": "array", "items": NAME, "maxItems": MAX_REQUEST_TURNS}
ROLE: Schema = {"type": "string", "enum": list(ROLES)}
ORDERED: Schema = {"type": ["string", "number"]}
_NO_OPERATOR: Schema = {"type": "object", "minProperties": 1, "propertyNames": {"pattern": r"^([^$]|$)"}}
CONDITION: Schema = {  # of the document's components: a value, operators, or conditions on the values of a mapping
    "anyOf": [
        {"type": ["string", "number", "boolean", "null", "array"]},
        {
            "type": "object", "minProperties": 1, "additionalProperties": False,
            "properties": {
                "$eq": {}, "$ne": {}, "$gt": ORDERED, "$gte": ORDERED, "$lt": ORDERED, "$lte": ORDERED,
                "$in": {"type": "array"}, "$prefix": {"type": ["string", "array"]},
            },
        },
        {**_NO_OPERATOR, "additionalProperties": {"$ref": "#/components/schemas/Condition"}},
    ]
}  # fmt: skip
WHERE: Schema = {
    **_NO_OPERATOR, "additionalProperties": {"$ref": "#/components/schemas/Condition"},
    "description": "conditions on metadata, all of which hold",
}  # fmt: skip
METADATA: Schema = {"type": "object", "description": "JSON values by name"}
QUESTION: Schema = {
    "type": "string", "minLength": 1, "maxLength": MAX_QUESTION_CHARACTERS, "pattern": NOT_BLANK,
    "description": "text that is not blank",
}  # fmt: skip
MESSAGE: Schema = {
    "type": "object",
    "description": "a message as a chat API takes it",
    "properties": {"role": {"type": "string", "minLength": 1}, "content": {"type": ["string", "array", "null"]}},
    "required": ["role", "content"],
}
_OF_THE_USER: Schema = {
    "properties": {"role": {"const": "user"}, "content": {"type": "string", "pattern": NOT_BLANK, "minLength": 1}},
    "required": ["role", "content"],
}
MESSAGES: Schema = {"type": "array", "items": MESSAGE, "minItems": 1, "maxItems": MAX_REQUEST_TURNS}

FILTERS: dict[str, Schema] = {"session": NAME, "speaker": NAME, "role": ROLE, "where": WHERE}
ASKED: dict[str, Schema] = {"asked_at": TIME, "query_timestamp": {**TIME, "description": "the same as asked_at"}}
TOKENS: Schema = {"type": "integer", "minimum": 0, "maximum": MAX_TOKENS}


def _at_most_one_of(name: str, other: str) -> Schema:
    """Return the part of a schema by which an object has at most one of two names for the same; it is not checked."""
    return {name: {"properties": {other: False}}}


TURN = object_schema(
    {
        "speaker": NAME, "text": TEXT, "time": {"type": "string", "description": "ISO 8601; by default now"},
        "session": NAME,
        "id": NAME, "caption": TEXT, "role": ROLE, "metadata": METADATA,
    },
    "speaker", "text",
)  # fmt: skip
ADD_TURNS = object_schema(
    {"turns": {"type": "array", "items": TURN, "minItems": 1, "maxItems": MAX_REQUEST_TURNS}, "replace": FLAG},
    "turns",
    examples=[
        {"turns": [{"speaker": "Mira", "text": "We moved to Porto.", "time": "2024-03-12T18:20:00Z", "session": "s1"}]}
    ],
)
ADD_MESSAGES = object_schema(
    {"messages": MESSAGES, "session": NAME, "time": TIME, "again": FLAG},
    "messages",
    examples=[{"messages": [{"role": "user", "content": "We moved to Porto."}], "session": "s1"}],
)
UPDATE_TURN = object_schema(
    {"id": NAME, "text": {**TEXT, "minLength": 1}},
    "id", "text",
    examples=[{"id": "s1:4", "text": "We moved to Lisbon."}],
)  # fmt: skip
SEARCH = object_schema(
    {
        "query": QUESTION, "k": {"type": "integer", "minimum": 1, "maximum": MAX_HITS}, **FILTERS, **ASKED,
        "before": TIME, "after": TIME, "exclude": IDS, "over": {"type": "string", "enum": list(get_args(Over))},
        "explain": {**FLAG, "description": "give the summands of each score"},
    },
    "query",
    dependentSchemas=_at_most_one_of(*ASKED),
    examples=[{"query": "When did we move?", "k": 5, "speaker": "Mira", "explain": True}],
)  # fmt: skip
BLOCK = object_schema(
    {
        "message": QUESTION, "messages": {**MESSAGES, "contains": _OF_THE_USER}, "tokens": TOKENS,
        "max_tokens": {**TOKENS, "description": "the same as tokens"},
        "style": {"type": "string", "enum": list(get_args(Style))}, "gate": FLAG, "check": FLAG, "profile": FLAG,
        **FILTERS, **ASKED, "exclude": IDS,
    },
    oneOf=[{"required": ["message"]}, {"required": ["messages"]}],
    dependentSchemas={**_at_most_one_of(*ASKED), **_at_most_one_of("tokens", "max_tokens")},
    examples=[{"message": "What should I cook tonight?", "tokens": 800}],
)  # fmt: skip
BUDGET = object_schema(
    {
        "iterations": {"type": "integer", "minimum": 1, "maximum": 20},
        "k": {"type": "integer", "minimum": 1, "maximum": MAX_HITS},
        "tokens": {"type": "integer", "minimum": 1, "maximum": MAX_TOKENS},
        "seconds": {"type": "number", "minimum": 0, "maximum": 600},
        "abstain_below": {"type": "number", "minimum": 0, "maximum": 1},
        "format": {"type": "string", "maxLength": 1_000},
    }
)
ASK = object_schema(
    {
        "question": QUESTION, "loop": LOOP, **FILTERS, **ASKED, "budget": BUDGET,
        "explain": {**FLAG, "description": "give the trace"},
        "keep": {**FLAG, "description": "keep the trace in the memory; trace_number tells where"},
        "stream": {**FLAG, "description": "answer as server-sent events: trace, text, then answer or error"},
    },
    "question",
    dependentSchemas=_at_most_one_of(*ASKED),
    examples=[{"question": "When did Mira move to Porto?", "loop": "iris", "budget": {"seconds": 20}}],
)  # fmt: skip
FORGET: Schema = {
    "oneOf": [
        object_schema({"turns": {**IDS, "minItems": 1}}, "turns", description="turns: ids"),
        object_schema({"session": NAME}, "session", description="session: its name"),
        object_schema({"speaker": NAME}, "speaker", description="speaker: a name"),
        object_schema({"before": TIME}, "before", description="before: a time"),
        object_schema({"where": WHERE}, "where", description="where: conditions on metadata"),
        object_schema(
            {"everything": {"type": "boolean", "enum": [True]}}, "everything", description="everything: true"
        ),
    ]
}
ENRICH = object_schema({"retry_now": FLAG})
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
CALIBRATE = object_schema(
    {
        "questions": {
            "type": "array", "minItems": MIN_LABELLED, "maxItems": MAX_REQUEST_TURNS,
            "items": object_schema(
                {"question": QUESTION, "answerable": FLAG, "asked_at": TIME}, "question", "answerable"
            ),
        },
        "false_abstention": {**_SHARE, "description": "the share of answerable questions that may be refused"},
        "precision": {**_SHARE, "description": "instead: the share of answers that are to be answerable"},
        "keep": {**FLAG, "description": "false: report, and change nothing"},
    },
    "questions",
)  # fmt: skip
LISTING: dict[str, Schema] = {
    "id": {**IDS, "description": "ids of turns, in place of a page"},
    "session": NAME, "speaker": NAME, "role": ROLE, "before": TIME, "after": TIME,
    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_REQUEST_TURNS},
    "newest": {**FLAG, "description": "the last turns in place of the first"},
    "cursor": {"type": "string", "pattern": CURSOR_PATTERN, "description": "that of the page before"},
}  # fmt: skip
