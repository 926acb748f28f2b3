"""The routes of mem0's own server, for its clients and plugins: over the calls of `evimem.adapters.mem0`.

A `user_id` is the user of all other routes. An id of a memory holds "/": it may come quoted or not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request

from ..adapters.mem0 import MAX_TIMESTAMP, SCOPES, Mem0Memory, owner_and_turn, owner_of
from ..adapters.user_tokens import Scope
from ..errors import UnknownTurn
from ..raw.validate import MAX_NAME, MAX_TEXT
from . import request_schemas as schemas
from .endpoints import Endpoint, ListOf
from .json_schema import Schema, object_schema
from .problems import PROBLEM_TYPE, Refusal
from .service import ANY_USER, Call, Service

_SCOPE: dict[str, Schema] = {
    name: {"type": ["string", "null"], "minLength": 1, "maxLength": MAX_NAME} for name in SCOPES
}
_MAPPING: Schema = {"type": ["object", "null"]}
_COUNT: Schema = {"type": ["integer", "null"], "minimum": 1, "maximum": schemas.MAX_REQUEST_TURNS}
_CONDITION: Schema = {
    "anyOf": [
        {"type": ["number", "boolean", "null"]},
        {"type": "string", "not": {"const": "*"}},
        object_schema(
            {"eq": {}, "ne": {}, "in": {"type": "array"}, **dict.fromkeys(("gt", "gte", "lt", "lte"), schemas.ORDERED)},
            minProperties=1,
        ),
    ]
}
_FILTERS: Schema = {
    "type": ["object", "null"], "description": "conditions on metadata, all of which hold",
    "properties": {
        **dict.fromkeys(SCOPES, schemas.NAME),
        **{
            name: {"anyOf": [
                schemas.TIME,
                object_schema(dict.fromkeys(("eq", "ne", "gt", "gte", "lt", "lte"), schemas.TIME), minProperties=1),
            ]}
            for name in ("created_at", "updated_at")
        },
        "AND": {
            "type": "array", "maxItems": schemas.MAX_HITS,
            "items": {
                "type": "object", "properties": dict.fromkeys(SCOPES, schemas.NAME), "additionalProperties": _CONDITION,
                "propertyNames": {"not": {"enum": ["OR", "NOT", "AND", "created_at", "updated_at"]}},
            },
        },
    },
    "propertyNames": {"not": {"enum": ["OR", "NOT"]}}, "additionalProperties": _CONDITION,
}  # fmt: skip
_ADD = object_schema(
    {
        "messages": {"anyOf": [{"type": "string", "minLength": 1}, schemas.MESSAGE, schemas.MESSAGES]},
        **_SCOPE, "metadata": _MAPPING, "infer": {"type": ["boolean", "null"]},
        "timestamp": {
            "type": ["integer", "null"], "minimum": 0, "maximum": MAX_TIMESTAMP,
            "description": "when it was said, in seconds since 1970; a message may have a created_at of its own",
        },
    },
    "messages",
    examples=[{"messages": [{"role": "user", "content": "I adopted a puppy called Juno."}], "user_id": "mira"}],
)  # fmt: skip
_SEARCH = object_schema(
    {
        "query": schemas.QUESTION,
        **_SCOPE,
        "filters": _FILTERS,
        "top_k": _COUNT,
        "limit": _COUNT,
        "threshold": {"type": ["number", "null"], "description": "the least score of a result"},
    },
    "query",
)
_UPDATE = object_schema(
    {
        "text": {"type": ["string", "null"], "minLength": 1, "maxLength": MAX_TEXT, "pattern": schemas.NOT_BLANK},
        "metadata": _MAPPING,
    },
)
_LISTING: dict[str, Schema] = {
    **dict.fromkeys(SCOPES, schemas.NAME),
    "top_k": {"type": "integer", "minimum": 1, "maximum": schemas.MAX_REQUEST_TURNS},
}


async def add(call: Call) -> Any:
    """Store messages."""
    scope = _read_scope(call, call.body, "write")
    given = {name: call.body.get(name) for name in ("metadata", "timestamp")}
    return await _run_method(_make_mem0_memory(call).add, call.body["messages"], **given, **scope)


async def search(call: Call) -> Any:
    """Find stored messages."""
    filters = call.body.get("filters")
    scope = _read_scope(call, call.body, "read", filters)
    count = call.body.get("top_k") or call.body.get("limit") or 20
    found = await _run_method(_make_mem0_memory(call).search, call.body["query"], top_k=count, filters=filters, **scope)
    least = call.body.get("threshold")
    return {"results": [one for one in found["results"] if least is None or one["score"] >= least]}


async def list_all(call: Call) -> Any:
    """List the newest turns."""
    scope = _read_scope(call, call.query, "read")
    return await _run_method(_make_mem0_memory(call).get_all, top_k=call.query.get("top_k", 100), **scope)


async def delete_all(call: Call) -> Any:
    """Forget everything of a scope."""
    return await _run_method(_make_mem0_memory(call).delete_all, **_read_scope(call, call.query, "admin"))


async def get(call: Call) -> Any:
    """Show the memory of an id."""
    name = _read_memory_id(call, "read")
    found = await _run_method(_make_mem0_memory(call).get, name)
    if found is None:
        raise UnknownTurn(name)
    return found


async def update(call: Call) -> Any:
    """Replace the words of a memory."""
    return await _run_method(
        _make_mem0_memory(call).update, _read_memory_id(call, "write"), call.body.get("text"), call.body.get("metadata")
    )


async def delete(call: Call) -> Any:
    """Forget a memory."""
    return await _run_method(_make_mem0_memory(call).delete, _read_memory_id(call, "admin"))


async def history(call: Call) -> Any:
    """Say that there is no history."""
    raise Refusal(410, "Gone", "there is no history: a text that is replaced or forgotten is erased")


async def _run_method(method: Callable[..., Any], *args: Any, **given: Any) -> Any:
    return await asyncio.to_thread(partial(method, *args, **given))


def _make_mem0_memory(call: Call) -> Mem0Memory:
    return Mem0Memory(call.service.pool, plain_users=True)


def _read_scope(
    call: Call, given: Mapping[str, Any], needed: Scope, filters: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Read the scope of a call, within that of its token; where the call names no user, the token does."""
    scope = {name: given[name] for name in SCOPES if given.get(name) is not None}
    token = _read_mem0_token(call.request)
    holder = call.service.find_token_holder(call.request, token)
    if (
        holder is not None
        and holder.user != ANY_USER
        and "user_id" not in scope
        and not _filters_name_a_scope(("user_id",), filters)
    ):
        scope = {"user_id": holder.user, **scope}
    if not scope and not _filters_name_a_scope(SCOPES, filters):
        raise Refusal(403, "Forbidden", f"neither a token nor {', '.join(SCOPES)} says whose memory it is; give one")
    _admit_owner(call.service, call.request, owner_of(filters, scope), needed)
    return scope


def _filters_name_a_scope(scopes: Collection[str], filters: Any) -> bool:
    """Return whether one of these scopes stands among filters."""
    if not isinstance(filters, Mapping):
        return False
    also = filters.get("AND", ())
    return not filters.keys().isdisjoint(scopes) or (
        isinstance(also, list) and any(_filters_name_a_scope(scopes, one) for one in also)
    )


def _read_memory_id(call: Call, needed: Scope) -> str:
    name = unquote(call.request.path_params["memory_id"])
    _admit_owner(call.service, call.request, owner_and_turn(name)[0], needed)
    return name


def _admit_owner(service: Service, request: Request, owner: str, needed: Scope) -> None:
    """Let a call to the file of an owner pass: that of a user with their token, any other with one for all users."""
    kind, _, user = owner.partition("=")
    if kind not in SCOPES or not user:
        raise Refusal(404, "UnknownTurn", "no memory of this id; expected one that add or search returned")
    request.scope["evimem"]["user"] = user
    service.check_access(request, user if kind == "user_id" else ANY_USER, needed, _read_mem0_token(request))


def _read_mem0_token(request: Request) -> str:
    """Return the token of a mem0 client, which sends it in one of three ways; empty for none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return request.headers.get("x-api-key") or (token.strip() if scheme.lower() in {"bearer", "token"} else "")


def mem0_endpoints() -> Iterable[Endpoint]:
    """Return the routes of mem0's server."""
    text: Schema = {"type": "string"}
    entry: Schema = {"type": "object", "properties": {"id": text, "memory": text}, "required": ["id", "memory"]}
    results = ListOf("results", entry)
    done = object_schema({"message": text}, "message")
    one = "/memories/{memory_id:path}"
    found = (
        Endpoint("POST", "/memories", "mem0Add", "Store messages.", add, takes=_ADD, gives=results),
        Endpoint("GET", "/memories", "mem0List", "List the newest.", list_all, query=_LISTING, gives=results),
        Endpoint("DELETE", "/memories", "mem0DeleteAll", "Forget a scope.", delete_all,
                 query=dict.fromkeys(SCOPES, schemas.NAME), gives=done),
        Endpoint("POST", "/search", "mem0Search", "Find stored messages.", search, takes=_SEARCH, gives=results),
        Endpoint("GET", f"{one}/history", "mem0History", "There is none.", history, status=410,
                 media=(PROBLEM_TYPE,)),
        Endpoint("GET", one, "mem0Get", "Show one.", get, gives=entry),
        Endpoint("PUT", one, "mem0Update", "Correct one.", update, takes=_UPDATE, gives=done),
        Endpoint("DELETE", one, "mem0Delete", "Forget one.", delete, gives=done),
    )  # fmt: skip
    return [replace(one, token_of=_read_mem0_token) for one in found]
