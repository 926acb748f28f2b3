"""Whether what a model says of a turn stands in it: the place of its words, and words that came from nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..text.terms import terms, words

MAX_QUOTE = 1_000
ANCHORED = 0.5
_MARKS = " \t\r\n\"'.,;:!?\u2026\u201c\u201d\u2018\u2019"


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a text has a quote's words, whatever the spaces, the case and the marks around them."""
    if len(quote) > MAX_QUOTE:
        return None
    for candidate in (quote.split(), quote.strip(_MARKS).split()):
        if candidate:
            pattern = r"\s+".join(re.escape(word) for word in candidate)
            match = re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE)
            if match:
                return match.span()
    return None


def is_anchored(said: str, known: Iterable[str], *, share: float = ANCHORED) -> bool:
    """Whether at least a share of a phrase's terms, and each of its numbers, stand in known texts."""
    sources = tuple(known)
    stems = {term for text in sources for term in terms(text)}
    numbers = {word for text in sources for word in words(text) if any(c.isdigit() for c in word)}
    own = terms(said)
    invented = [word for word in words(said) if any(c.isdigit() for c in word) and word not in numbers]
    return not invented and sum(term in stems for term in own) >= share * len(own)
