"""English forms that no suffix rule connects: "bought" and "buy", "children" and "child"."""

from __future__ import annotations

from typing import NamedTuple

from ..lang import ENGLISH


class IrregularVerb(NamedTuple):
    """The forms of a verb that -ed does not make."""

    base: str
    past: str
    participle: str


def _irregular_verb(base: str, past: str, participle: str = "") -> IrregularVerb:
    return IrregularVerb(base, past, participle or past)


IRREGULAR_VERBS = tuple(_irregular_verb(*entry.split("/")) for entry in ENGLISH.words("verbs.irregular"))


def _base_forms() -> dict[str, str]:
    unmapped = frozenset(ENGLISH.words("terms.unmapped_verb_forms"))
    bases = {form: verb.base for verb in IRREGULAR_VERBS for form in verb[1:] if form not in {verb.base, *unmapped}}
    for entry in (*ENGLISH.words("terms.more_verb_forms"), *ENGLISH.words("terms.irregular_nouns")):
        base, form = entry.split("/")
        bases[form] = base
    return bases


BASE = _base_forms()
"""The base of each irregular form that shares its stem."""
