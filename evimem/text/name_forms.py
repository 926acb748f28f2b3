"""Other forms of a name: of a family or several of a kind, and of what comes from a place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..lang import ENGLISH

_SEVERAL = 4  # letters of a name whose last "s" may be that of several, or of a possessive that is written twice
_SHORTEST = 5  # letters of a name whose last "n" may make an adjective of it: "Anna" comes from no "Ann"


def other_forms(name: str) -> tuple[str, ...]:
    """Return what else the same name may be written as, in lower case: "Corkums" is Corkum, "Welsh" is of Wales.

    Only of single words; forms that no language has are harmless, as no text has them.
    """
    low = name.casefold().strip()
    if not low.isalpha():
        return ()
    return tuple(dict.fromkeys(form for form in _forms(low) if form != low))


def _forms(low: str) -> Iterator[str]:
    yield from _places().get(low, ())
    if len(low) >= _SHORTEST and low.endswith("an"):
        yield low[:-1]
        yield f"{low[:-1]}s"
    elif len(low) >= _SHORTEST and low.endswith("a"):
        yield f"{low}n"
    if low.endswith("s"):
        if len(low) >= _SEVERAL and not low.endswith("ss"):
            yield low[:-1]
    else:
        yield f"{low}s"


@cache
def _places() -> dict[str, tuple[str, ...]]:
    """Return the adjectives of each place, and the place of each adjective."""
    adjectives = ENGLISH.lists("places.adjectives")
    back = {adjective: (place,) for place, found in adjectives.items() for adjective in found}
    return {**back, **adjectives}
