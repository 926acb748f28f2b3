"""JSON schemas: those of requests are checked and published as they stand, those of results follow from their types."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..errors import InvalidQuery, shown
from ..types.values import Turn

Schema = dict[str, Any]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
_NAMES: Mapping[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_ORDERS = ("minimum", "maximum")
_LENGTHS = {"minLength": "characters", "maxLength": "characters", "minItems": "items", "maxItems": "items"}


def check_value(value: Any, schema: Schema, name: str) -> None:
    """Check a JSON value against a schema of this package.

    Types are exact: True is no integer and 1 no boolean; but 17.0 is one, as in JSON schemas, and becomes 17 where it
    stands. Of a schema's keywords `type`, `enum`, `minimum`, `maximum`, `minLength`, `maxLength`, `pattern`,
    `minItems`, `maxItems`, `items`, `properties`, `required`, `additionalProperties: false` and, where it stands alone,
    `oneOf` or `anyOf` are checked; all other keywords are descriptions.

    Raises:
        InvalidQuery: The value is another; the message names the place, `name` at the top.
    """
    for fault in _find_faults(value, schema, name):
        raise InvalidQuery(fault)


def _find_faults(value: Any, schema: Schema, name: str) -> Iterator[str]:
    if "type" not in schema and (choices := schema.get("oneOf") or schema.get("anyOf")):
        fitting = [one for one in choices if next(_find_faults(value, one, name), None) is None]
        if not fitting or (len(fitting) > 1 and "oneOf" in schema):
            expected = "; or ".join(str(one.get("description") or one.get("type")) for one in choices)
            yield f"{name} is {shown(value)}; expected one of: {expected}"
        return
    kind = schema.get("type")
    if kind is not None and not _is_json_type(value, kind):
        yield f"{name} is {shown(value)}; expected {' or '.join([kind] if isinstance(kind, str) else kind)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{name} is {shown(value)}; expected one of {', '.join(map(str, schema['enum']))}"
    yield from _find_bound_faults(value, schema, name)
    if isinstance(value, list) and "items" in schema:
        for number, one in enumerate(value):
            yield from _find_faults(one, schema["items"], f"{name}[{number}]")
    if isinstance(value, dict):
        yield from _find_object_faults(value, schema, name)


def _is_json_type(value: Any, kind: str | list[str]) -> bool:
    kinds = [kind] if isinstance(kind, str) else kind
    if isinstance(value, bool):
        return "boolean" in kinds
    return any(isinstance(value, _TYPES[one]) for one in kinds if one != "boolean")


def _find_bound_faults(value: Any, schema: Schema, name: str) -> Iterator[str]:
    least, most = (schema.get(bound) for bound in _ORDERS)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if least is not None and value < least:
            yield f"{name} is {shown(value)}; expected at least {least}"
        if most is not None and value > most:
            yield f"{name} is {shown(value)}; expected at most {most}"
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        wanted = schema.get("description") or f"text that matches {schema['pattern']}"
        yield f"{name} is {shown(value)}; expected {wanted}"
    for bound, unit in _LENGTHS.items():
        if bound not in schema or not isinstance(value, str if unit == "characters" else list):
            continue
        if len(value) < schema[bound] if bound.startswith("min") else len(value) > schema[bound]:
            few = "at least" if bound.startswith("min") else "at most"
            yield f"{name} has {len(value)} {unit}; expected {few} {schema[bound]}"


def _find_object_faults(value: dict[str, Any], schema: Schema, name: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{name} has no {key!r}; expected it"
    if schema.get("additionalProperties", True) is False and (unknown := sorted(set(value) - set(properties))):
        yield f"{name} has {', '.join(map(shown, unknown))}; expected only {', '.join(properties) or 'nothing'}"
    for key, one in properties.items():
        if key in value:
            if isinstance(value[key], float) and "integer" in one.get("type", ()) and value[key].is_integer():
                value[key] = int(value[key])
            yield from _find_faults(value[key], one, f"{name}.{key}")


def object_schema(properties: Mapping[str, Schema], *required: str, **also: Any) -> Schema:
    """Return the schema of an object with exactly these properties."""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": dict(properties), **needed, "additionalProperties": False, **also}


def schema_of_type(kind: Any, found: dict[str, Schema]) -> Schema:
    """Return the schema of the JSON that `to_dict` makes of a type; classes go into `found` and are referred to."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        return _union_schema([schema_of_type(one, found) for one in inner])
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin is tuple and (len(inner) != 2 or inner[1] is not Ellipsis):
        return {
            "type": "array",
            "items": schema_of_type(inner[0], found),
            "minItems": len(inner),
            "maxItems": len(inner),
        }
    if origin in {tuple, list}:
        return {"type": "array", "items": schema_of_type(inner[0], found)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": {} if inner[1] is Any else schema_of_type(inner[1], found)}
    return _class_schema(kind, found)


def _union_schema(schemas: list[Schema]) -> Schema:
    plain = [one["type"] for one in schemas if set(one) == {"type"}]
    return {"type": plain} if len(plain) == len(schemas) else {"anyOf": schemas}


def _class_schema(kind: Any, found: dict[str, Schema]) -> Schema:
    if kind in _NAMES:
        return {"type": _NAMES[kind]}
    if kind is datetime:
        return {"type": "string", "description": "ISO 8601"}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"type": "string", "enum": [one.value for one in kind]}
    if not is_dataclass(kind):
        return {}
    name = getattr(kind, "__name__", "")
    if name not in found:
        found[name] = {}  # holds the place where a class refers to itself
        hints = get_type_hints(kind)
        properties = {one.name: schema_of_type(hints[one.name], found) for one in fields(kind)}
        if isinstance(named := getattr(kind, "kind", None), str):  # of an event: a field of its JSON only
            properties = {"kind": {"type": "string", "enum": [named]}, **properties}
        found[name] = {"type": "object", "properties": properties, "required": list(properties)}
        if kind is Turn:  # as stored: the memory has set these
            properties["role"] = {"type": "string", "enum": ["user", "assistant", "system", "tool"]}
    return {"$ref": f"#/components/schemas/{name}"}
