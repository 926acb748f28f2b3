"""Teaches schemathesis to send the body of an import, which is lines and no JSON."""

from __future__ import annotations

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def send_lines(_: object, value: object) -> bytes:
    """Return a generated text as a body."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
