"""A request for a page with its memory, and the page: values for a template and for its JSON twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..api.memory import Memory
from ..errors import InvalidQuery, UnknownTurn
from ..text.terms import terms
from ..types.values import Turn
from .sources import Source
from .visitors import Visitor

MAX_NAMED = 8  # turns that have the words by which a page was asked for one
_MAX_NAMED_SEARCHED = 100  # best turns of a search in which those words are looked for
MAX_RANK = 400  # best turns of a search in which the rank of a named turn is looked for
MAX_TURNS_WAITED_FOR = 256  # to be read for facts before a page is shown


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page.

    Attributes:
        memory: The memory that it shows.
        source: Where the memory comes from.
        visitor: Who asks.
        query: The parameters of its address; of several of one name the last.
        form: The fields of a form that was sent; a file is its name and its bytes.
        labels: The file of corrections; None where corrections are not kept.
    """

    memory: Memory
    source: Source
    visitor: Visitor
    query: Mapping[str, str]
    form: Mapping[str, Any] = field(default_factory=dict)
    labels: Path | None = None

    def text_parameter(self, name: str) -> str:
        """Return a parameter without the spaces around it; empty where it is missing."""
        return self.query.get(name, "").strip()

    def optional_parameter(self, name: str) -> str | None:
        """Return a parameter, None where it is missing or empty."""
        return self.query.get(name) or None

    def number_parameter(self, name: str, default: int, least: int, most: int) -> int:
        """Return a parameter as a whole number within bounds.

        Raises:
            InvalidQuery: It is no whole number, or out of bounds.
        """
        given = self.text_parameter(name)
        if not given:
            return default
        if not given.isascii() or not given.isdigit() or not least <= int(given[:12]) <= most:
            raise InvalidQuery(f"{name} is {given[:20]!r}; expected a whole number from {least} to {most}")
        return int(given)

    def count_waiting_turns(self) -> int:
        """Return how many turns wait to be read for facts, where they are so many that a page does not wait for them.

        The first call that needs facts reads them all, at some 2 ms each: a page shows those there are, and says so.
        """
        waiting = self.memory.health().pending.get("facts", 0)
        return waiting if waiting > MAX_TURNS_WAITED_FOR else 0

    def find_named_turns(self, name: str) -> list[Turn]:
        """Return the turn whose id a parameter is, else the turns that have its words: those of the user first."""
        given = self.text_parameter(name)
        if not given:
            return []
        try:
            return [self.memory.turn(given)]
        except UnknownTurn:
            found = [
                hit.turn
                for hit in self.memory.search(given, k=_MAX_NAMED_SEARCHED)
                if _contains_all_words(hit.turn, given)
            ]
            return sorted(found, key=lambda turn: turn.role != "user")[:MAX_NAMED]


def _contains_all_words(turn: Turn, words: str) -> bool:
    """Whether a turn has words, in any order and with any suffix."""
    said = f"{turn.text} {turn.caption or ''}"
    wanted = set(terms(words))
    return wanted <= set(terms(said)) if wanted else words.casefold() in said.casefold()


@dataclass(frozen=True, slots=True)
class Page:
    """A page to show.

    Attributes:
        template: The name of its template, without ending.
        title: The text of the title bar.
        values: The values that its JSON twin returns and its template shows.
        shown: Values that only the template needs, such as pictures.
        status: The status of HTTP.
        go_to: The address to show instead, after a change.
        problem: An error, as a sentence that stands above the page.
    """

    template: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)
    shown: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    go_to: str | None = None
    problem: str = ""
