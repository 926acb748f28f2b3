"""A fact before it has an id."""

from __future__ import annotations

from typing import NamedTuple

from .verb_senses import Kind


class Statement(NamedTuple):
    """The texts of a fact, its characters (`span`), and those that may hold its time (`scope`).

    `elliptic` is a fact whose subject was left out: "Sold the car".
    """

    subject: str
    predicate: str
    object: str
    span: tuple[int, int]
    scope: tuple[int, int]
    kind: Kind
    elliptic: bool = False
