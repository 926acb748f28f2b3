"""Kinds and their instances, by hand: who asks for an instrument is answered by "piano"."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ..text.terms import stem

_LIST = Path(__file__).with_name("data") / "kinds.txt"


def instances(term: str) -> tuple[str, ...]:
    """Return the stems of what is of a kind, or nothing where the term names no kind."""
    return _kinds().get(term, ())


@lru_cache(maxsize=1)
def _kinds() -> dict[str, tuple[str, ...]]:
    kinds: dict[str, tuple[str, ...]] = {}
    for line in _LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        names, _, members = line.partition(":")
        for name in names.split(","):
            known = kinds.get(stem(name.strip()), ())
            kinds[stem(name.strip())] = tuple(dict.fromkeys((*known, *map(stem, members.split()))))
    return kinds
