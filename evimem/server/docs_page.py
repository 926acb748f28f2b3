"""The page at /docs: the routes of a server, written from its OpenAPI document. It loads nothing and runs no script."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from ..pages.render_html import make_environment, read_stylesheet

_GROUPS = (("/v1/users/", "A user's memory"), ("/memories", "For clients of mem0"), ("/search", "For clients of mem0"))


def render_docs(document: Mapping[str, Any]) -> Response:
    """Return the page of an OpenAPI document: each route with its parameters, body, example and result."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in document["paths"].items():
        name = next((name for start, name in _GROUPS if path.startswith(start)), "The server")
        groups.setdefault(name, []).extend(_operation_parts(method, path, one) for method, one in methods.items())
    style = read_stylesheet()
    digest = b64encode(sha256(style.encode()).digest()).decode()
    values = {"groups": groups, "version": document["info"]["version"], "style": Markup(style)}
    text = make_environment().get_template("docs.html").render(values)
    nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    policy = f"{nothing}; style-src 'sha256-{digest}'"
    headers = {"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
    return Response(text.encode(), headers=headers, media_type="text/html")


def _operation_parts(method: str, path: str, operation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of an operation that the page shows."""
    ((status, _), *_) = operation["responses"].items()
    body = operation.get("requestBody", {}).get("content", {})
    schema = body.get("application/json", {}).get("schema", {})
    shapes = [one for one in schema.get("oneOf", [schema]) if "properties" in one]
    fields = {
        name: (
            describe_type(one),
            one.get("description", ""),
            any(name in shape.get("required", ()) for shape in shapes),
        )
        for shape in shapes
        for name, one in shape["properties"].items()
    }
    parameters = [
        (one["name"], one["in"], describe_type(one["schema"]), one["schema"].get("description", ""), one["required"])
        for one in operation.get("parameters", ())
    ]
    return {
        "method": method.upper(), "path": path, "name": operation["operationId"], "summary": operation["summary"],
        "parameters": parameters, "fields": fields, "one_of": "oneOf" in schema and len(shapes) > 1,
        "example": json.dumps(schema["examples"][0], indent=1) if "examples" in schema else None,
        "reads": next((kind for kind in body if kind != "application/json"), None),
        "status": status, "gives": ", ".join(operation["responses"][status]["content"]),
        "needs_token": "security" in operation,
    }  # fmt: skip


def describe_type(schema: Mapping[str, Any]) -> str:
    """Return the type of a schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        few = [str(one) for one in schema["enum"][:6]]
        return " | ".join(few) + (" | ..." if len(schema["enum"]) > len(few) else "")
    for name in ("anyOf", "oneOf"):
        if name in schema and "type" not in schema:
            return " or ".join(dict.fromkeys(describe_type(one) for one in schema[name]))
    kind = schema.get("type", "any")
    words = kind if isinstance(kind, str) else " or ".join(kind)
    if words == "array":
        return f"list of {describe_type(schema.get('items', {}))}"
    bounds = [f"{sign} {schema[name]:,}" for name, sign in (("minimum", "from"), ("maximum", "to")) if name in schema]
    return " ".join([words, *bounds])
