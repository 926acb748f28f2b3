"""The OpenAPI document of a server, generated from its endpoints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..types.results import Answer
from ..types.version import __version__
from .endpoints import EVENT_STREAM, Endpoint, ListOf
from .json_schema import Schema, schema_of_type
from .problems import PROBLEM_TYPE, status_phrase
from .request_schemas import CONDITION

_PROBLEM: Schema = {
    "type": "object",
    "properties": {
        **{name: {"type": "string"} for name in ("type", "title", "detail")}, "status": {"type": "integer"},
    },
    "required": ["title", "status", "detail"],
}  # fmt: skip
_PROBLEM_REFERENCE: Schema = {"$ref": "#/components/schemas/Problem"}
_EVENT: Schema = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
_ERROR_STATUSES = (400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 501, 502, 503, 504, 507)
_PROBE_ERROR_STATUSES = (422, 500, 503)


def openapi_document(endpoints: Iterable[Endpoint], *, tokens: bool = False) -> dict[str, Any]:
    """Return the document; with `tokens` it says that each request to a memory needs one."""
    classes: dict[str, Schema] = {"Problem": _PROBLEM, "Condition": CONDITION}
    paths: dict[str, dict[str, Any]] = {}
    for one in endpoints:
        paths.setdefault(one.path.replace(":path}", "}"), {})[one.method.lower()] = _describe_operation(
            one, classes, tokens=tokens
        )
    document = {
        "openapi": "3.1.0",
        "info": {"title": "evimem", "version": __version__, "description": "A memory for conversations."},
        "paths": paths,
        "components": {"schemas": dict(sorted(classes.items()))},
    }
    if tokens:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}  # type: ignore[index]
    return document


def _describe_operation(one: Endpoint, classes: dict[str, Schema], *, tokens: bool) -> dict[str, Any]:
    errors = _PROBE_ERROR_STATUSES if one.scope is None else _ERROR_STATUSES
    said = one.gives is not None and "application/json" in one.media
    others = [kind for kind in one.media if kind != "application/json"]
    special = {EVENT_STREAM: _EVENT, PROBLEM_TYPE: _PROBLEM_REFERENCE}
    content: dict[str, Any] = {kind: {"schema": special.get(kind, {"type": "string"})} for kind in others}
    if said:
        content = {"application/json": {"schema": _result_schema(one.gives, classes)}, **content}
    responses = {str(one.status): {"description": status_phrase(one.status), "content": content}}
    problem = {PROBLEM_TYPE: {"schema": _PROBLEM_REFERENCE}}
    responses |= {str(status): {"description": status_phrase(status), "content": problem} for status in errors}
    operation: dict[str, Any] = {"operationId": one.name, "summary": one.summary, "responses": responses}
    if parameters := [*_path_parameters(one.path), *_query_parameters(one.query, one.needs)]:
        operation["parameters"] = parameters
    if one.takes is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": one.takes}}}
    elif one.reads is not None:
        lines = {"schema": {"type": "string", "minLength": 1}}
        operation["requestBody"] = {"required": True, "content": {one.reads: lines}}
    if tokens and one.scope is not None:
        operation["security"] = [{"token": []}]
    return operation


def _result_schema(gives: Any, classes: dict[str, Schema]) -> Schema:
    if isinstance(gives, ListOf):
        items = {"type": "array", "items": _result_schema(gives.kind, classes)}
        also: dict[str, Schema] = {"cursor": {"type": ["string", "null"]}} if gives.paged else {}
        properties = {gives.name: items, **also}
        return {"type": "object", "properties": properties, "required": list(properties)}
    if isinstance(gives, dict):
        return gives
    found = schema_of_type(gives, classes)
    if gives is Answer:  # `to_dict` adds the first two, and the route leaves the trace out unless it is asked for
        answer = classes["Answer"]["properties"]
        answer |= {"abstained": {"type": "boolean"}, "fell_back": {"type": "boolean"}}
        answer |= {"trace": {"type": ["object", "null"]}, "trace_number": {"type": ["integer", "null"]}}
    return found


def _path_parameters(path: str) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)(?::\w+)?}", path)
    schemas: Mapping[str, Schema] = {"number": {"type": "integer", "minimum": 0, "maximum": 999_999_999}}
    text: Schema = {"type": "string", "minLength": 1}
    return [{"name": name, "in": "path", "required": True, "schema": schemas.get(name, text)} for name in names]


def _query_parameters(query: Mapping[str, Schema], needs: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "query", "required": name in needs, "schema": schema} for name, schema in query.items()
    ]
