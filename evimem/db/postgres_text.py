"""Texts and numbers as PostgreSQL takes them: it holds no NUL and no lone surrogate, which are escaped."""

from __future__ import annotations

import re
from typing import Any

from ..errors import MissingExtra
from .tables import LoneSurrogates, decode_text

try:
    import psycopg
    from psycopg.adapt import AdaptersMap
    from psycopg.types.numeric import Int8Dumper
    from psycopg.types.string import StrDumper, TextBinaryLoader
except ImportError as _error:
    raise MissingExtra("a memory on PostgreSQL", "postgres") from _error

_ESCAPE = "\x1a"
_SEQUENCE = re.compile(f"{_ESCAPE}(.{{4}})", re.DOTALL)


def escape_nul_and_surrogates(text: str) -> str:
    """Return text as PostgreSQL can hold it: without NUL and lone surrogates. Nothing else is changed."""
    return re.sub(r"[\x00\x1a\ud800-\udfff]", lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def unescape_nul_and_surrogates(text: str) -> str:
    """Return the text that was escaped."""
    return _SEQUENCE.sub(lambda found: chr(int(found[1], 16)), text) if _ESCAPE in text else text


class _TextDumper(StrDumper):
    def dump(self, obj: str) -> Any:
        return super().dump(escape_nul_and_surrogates(obj))


class _SurrogatesDumper(_TextDumper):
    def dump(self, obj: Any) -> Any:
        return super().dump(decode_text(obj))


class _TextLoader(TextBinaryLoader):
    def load(self, data: Any) -> Any:
        return unescape_nul_and_surrogates(super().load(data))


def _make_adapters() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    adapters.register_dumper(str, _TextDumper)
    adapters.register_dumper(LoneSurrogates, _SurrogatesDumper)
    adapters.register_dumper(int, Int8Dumper)  # one type, whatever the number: statements are prepared once
    adapters.register_loader("text", _TextLoader)
    return adapters


class TextContext:
    """Has psycopg convert texts and numbers so."""

    adapters = _make_adapters()
    connection = None
