"""The id of a fact: a digest of what it says and where, so that extracting again finds the same fact."""

from __future__ import annotations

from hashlib import blake2b


def fact_id(turn_id: str, extractor: str, span: tuple[int, int], subject: str, predicate: str, obj: str) -> str:
    """Return 32 hex digits that name a fact."""
    content = "\x1f".join((turn_id, extractor, str(span[0]), str(span[1]), subject, predicate, obj))
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
