"""English verbs: the forms of each, the tag of each form, and the lemma of any form."""

from __future__ import annotations

from functools import lru_cache

from ..lang import ENGLISH
from ..text.irregular_forms import IRREGULAR_VERBS
from .tag_letters import Tag, letters

_VOWELS = frozenset("aeiou")
_NOT_DOUBLED = frozenset("wxy")
_DOUBLED = frozenset(ENGLISH.words("verbs.doubled"))
_SIBILANT = ("s", "x", "z", "ch", "sh", "o")


def _doubles(base: str) -> bool:
    """Return whether -ed and -ing double the last letter: stop, stopped."""
    if len(base) < 3 or base[-1] in _VOWELS or base[-1] in _NOT_DOUBLED or base[-2] not in _VOWELS:
        return False
    if base in _DOUBLED:
        return True
    return base[-3] not in _VOWELS and sum(letter in _VOWELS for letter in base) == 1


def third_person(base: str) -> str:
    """Return the third person singular of a base: go -> goes, try -> tries."""
    if base in ("be", "have"):
        return "is" if base == "be" else "has"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(_SIBILANT) else "s")


def _past(base: str) -> str:
    """Return the regular past of a base: try -> tried, stop -> stopped."""
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ied"
    return base + (base[-1] if _doubles(base) else "") + "ed"


def gerund(base: str) -> str:
    """Return the -ing form: make -> making, lie -> lying."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) and base != "be":
        return base[:-1] + "ing"
    return base + (base[-1] if _doubles(base) else "") + "ing"


TAGS: dict[str, str] = {}
"""The tag of each verb form."""
LEMMAS: dict[str, str] = {}
"""The base of each verb form."""


def _add(form: str, base: str, tag: str) -> None:
    LEMMAS.setdefault(form, base)
    TAGS.setdefault(form, tag)


def _inflect(base: str, past: str, participle: str, *, noun: bool, mostly_verb: bool) -> None:
    """Add the forms of a verb; a form that an earlier verb has keeps that verb's tag and lemma."""
    base_tag = Tag.BASE_OR_NOUN if noun else Tag.BASE
    _add(base, base, Tag.PAST_OR_PARTICIPLE if base == past else base_tag)
    _add(third_person(base), base, Tag.S_FORM if mostly_verb or not noun else Tag.S_FORM_OR_PLURAL)
    _add(gerund(base), base, Tag.GERUND)
    _add(past, base, Tag.PAST_OR_PARTICIPLE if past == participle else Tag.PAST)
    _add(participle, base, Tag.PARTICIPLE)


def _build() -> None:
    mostly = ENGLISH.words("verbs.mostly_verb")
    mostly_verb = frozenset(mostly)
    noun_too = ENGLISH.words("verbs.noun_too")
    nouns = frozenset((*mostly, *noun_too, *ENGLISH.words("verbs.irregular_nouns")))
    for base, past, participle in IRREGULAR_VERBS:
        _inflect(base, past, participle, noun=base in nouns, mostly_verb=base in mostly_verb)
    for base in (*mostly, *noun_too, *ENGLISH.words("verbs.regular")):
        _inflect(base, _past(base), _past(base), noun=base in nouns, mostly_verb=base in mostly_verb)
    for base, forms in ENGLISH.lists("verbs.auxiliaries").items():
        LEMMAS.update(dict.fromkeys(forms, base))
    LEMMAS.update(ENGLISH.table("verbs.shared_forms"))
    for name, forms in ENGLISH.lists("verbs.form_tags").items():
        TAGS.update(dict.fromkeys(forms, letters(name.upper())))


_build()


@lru_cache(maxsize=4096)
def lemma(word: str) -> str:
    """Return the base of a lower-case verb form: relocated -> relocate, tries -> try; other words as they are."""
    known = LEMMAS.get(word)
    if known is not None:
        return known
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    for suffix in ("ing", "ed"):
        if word.endswith(suffix) and len(word) > len(suffix) + 2:
            return _restored(word[: -len(suffix)])
    if word.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def _restored(stem: str) -> str:
    """Restore an unknown base from which -ed or -ing was cut: stopp -> stop, upcycl -> upcycle."""
    last, before = stem[-1], stem[-2:-1]
    if last == before and last not in "lsz" and last not in _VOWELS:
        return stem[:-1]
    mute_e = stem.endswith(("at", "iz", "is", "ur", "v", "c", "s", "z", "u")) and not stem.endswith("ss")
    cluster = len(stem) > 2 and last in "lr" and before not in _VOWELS and before not in "lr"
    # without a mute e, a base of this shape would have doubled its last letter
    short = len(stem) == 3 and before in _VOWELS and last not in _VOWELS and last not in _NOT_DOUBLED
    return stem + "e" if mute_e or cluster or short else stem
