"""English verbs: which words are forms of one, and the lemma of each form; a lexicon and rules of our own making."""

from __future__ import annotations

from functools import lru_cache

from .verb_list import IRREGULAR, IRREGULAR_NOUNS, MOSTLY_VERB, NOUN_TOO, REGULAR

_BE_DO_HAVE = {
    **dict.fromkeys("be am is are was were been being 'm 're".split(), "be"),
    **dict.fromkeys("have has had having 've".split(), "have"),
    **dict.fromkeys("do does did done doing".split(), "do"),
}
_VOWELS = frozenset("aeiou")
_NOT_DOUBLED = frozenset("wxy")
# final consonants of these longer verbs double, because their last syllable is stressed
_DOUBLED = frozenset(
    "admit begin commit control occur prefer refer regret upset forget compel permit submit transfer patrol".split()
)
_SIBILANT = ("s", "x", "z", "ch", "sh", "o")


def _doubles(base: str) -> bool:
    if len(base) < 3 or base[-1] in _VOWELS or base[-1] in _NOT_DOUBLED or base[-2] not in _VOWELS:
        return False
    if base in _DOUBLED:
        return True
    return base[-3] not in _VOWELS and sum(letter in _VOWELS for letter in base) == 1


def third_person(base: str) -> str:
    """Return the form that "she" takes: go -> goes, try -> tries."""
    if base in ("be", "have"):
        return "is" if base == "be" else "has"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(_SIBILANT) else "s")


def _past(base: str) -> str:
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


# A form's tag, read by evimem.extract.tagging: v base, w base or noun, Z third person, z third person or plural noun,
# f past, k past or participle, p participle only, g -ing, L like.
TAGS: dict[str, str] = {}
LEMMAS: dict[str, str] = {}


def _enter(form: str, base: str, tag: str) -> None:
    LEMMAS.setdefault(form, base)
    TAGS.setdefault(form, tag)


def _inflect(base: str, past: str, participle: str, *, noun: bool, mostly: bool) -> None:
    _enter(base, base, "k" if base == past else "w" if noun else "v")
    _enter(third_person(base), base, "Z" if mostly or not noun else "z")
    _enter(gerund(base), base, "g")
    _enter(past, base, "k" if past == participle else "f")
    _enter(participle, base, "p")


def _build() -> None:
    mostly = frozenset(MOSTLY_VERB.split())
    nouns = frozenset((MOSTLY_VERB + NOUN_TOO + IRREGULAR_NOUNS).split())
    for entry in IRREGULAR.replace("\n", "").split(","):
        base, past, *participle = entry.split()
        _inflect(base, past, participle[0] if participle else past, noun=base in nouns, mostly=base in mostly)
    for base in (MOSTLY_VERB + NOUN_TOO + REGULAR).split():
        _inflect(base, _past(base), _past(base), noun=base in nouns, mostly=base in mostly)
    LEMMAS.update(_BE_DO_HAVE)
    # forms that two verbs share go to the commoner one
    LEMMAS.update({"found": "find", "saw": "see", "left": "leave", "felt": "feel", "gon": "go", "wan": "want"})
    TAGS.update({"found": "k", "saw": "f", "left": "k", "felt": "k", "lay": "f", "gon": "g", "wan": "v", "like": "L"})


_build()


@lru_cache(maxsize=4096)
def lemma(word: str) -> str:
    """Return the base of a verb form in lower case: relocated -> relocate, tries -> try; other words are kept."""
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
    """Undo what -ed and -ing do to an unknown base: stopp -> stop, upcycl -> upcycle."""
    last, before = stem[-1], stem[-2:-1]
    if last == before and last not in "lsz" and last not in _VOWELS:
        return stem[:-1]
    mute = stem.endswith(("at", "iz", "is", "ur", "v", "c", "s", "z", "u")) and not stem.endswith("ss")
    cluster = len(stem) > 2 and last in "lr" and before not in _VOWELS and before not in "lr"
    short = (
        len(stem) == 3 and before in _VOWELS and last not in _VOWELS and last not in _NOT_DOUBLED
    )  # would have doubled
    return stem + "e" if mute or cluster or short else stem
