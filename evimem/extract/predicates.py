"""What a predicate means apart from its tense and wording: "moved to", "relocated to" and "lives in" are all "live"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ..lang import ENGLISH
from .tag_letters import Tag, TagSet, letters
from .verb_senses import HOPE, LIKE, SAY
from .verbs import lemma
from .word_tags import TAGS, guess

_CLASS_BY_VERB = {verb: name for name, verbs in ENGLISH.lists("predicates.class_by_verb").items() for verb in verbs}
_CLASS_BY_PHRASE = {
    phrase: name for name, phrases in ENGLISH.lists("predicates.class_by_phrase").items() for phrase in phrases
}


class _Cue(NamedTuple):
    """The class of a colourless verb with one of these words in its object: "started a new job"."""

    name: str
    verbs: frozenset[str]
    words: frozenset[str]


def _cue(name: str) -> _Cue:
    lists = ENGLISH.lists(f"predicates.cues.{name}")
    return _Cue(name, frozenset(lists["verbs"]), frozenset(lists["words"]))


_CUES = tuple(map(_cue, ENGLISH.table("predicates.cues")))

_AGE_WORDS = frozenset(ENGLISH.words("predicates.age_words"))
_LIKED = LIKE.difference(ENGLISH.words("predicates.senses.not_liked"))
_INTENDED = HOPE.union(ENGLISH.words("predicates.senses.intended"))
_STOPS = frozenset(ENGLISH.words("predicates.senses.stop"))
_STARTS = frozenset(ENGLISH.words("predicates.senses.start"))
_VERBS = frozenset(letters("FULL_VERBS BE HAVE DO"))
_LIGHT_AUXILIARIES = letters("BE HAVE DO")
_AFTER_VERB = letters("PREPOSITION TO PARTICLE PREPOSITION_OR_CONJUNCTION")
_PERFECT = frozenset(("has", "have", "'s", "'ve"))
_PAST_AUXILIARIES = frozenset(("was", "were", "did", "had"))


class Sense(NamedTuple):
    """A predicate parsed: the lemma of its last verb, the word after that verb, tense, mood and polarity.

    `past` is a simple past, `used` a "used to", `modal` something possible, intended or suggested, `begun` a change
    ("started drinking"). A predicate that says that something stopped is negative.
    """

    verb: str
    particle: str
    negative: bool
    past: bool
    used: bool
    modal: bool
    begun: bool


@lru_cache(maxsize=8192)
def sense(predicate: str) -> Sense:
    """Return a predicate parsed."""
    words = predicate.casefold().replace("\u2019", "'").replace("n't", " not").split()
    tags = [TAGS.get(word) or guess(word) for word in words]
    verbs = [index for index, tag in enumerate(tags) if tag in _VERBS]
    if not verbs:
        return Sense(words[0] if words else "", "", False, False, False, Tag.MODAL in tags, False)  # noqa: FBT003
    if lemma(words[verbs[0]]) in SAY and len(verbs) > 1:  # "said he lost": only what was said counts
        return sense(" ".join(words[verbs[0] + 2 :]))
    full = [index for index in verbs if tags[index] not in _LIGHT_AUXILIARIES] or verbs[-1:]
    chain = [lemma(words[index]) for index in full]
    verb = "like" if chain[0] in _LIKED else "be" if tags[full[-1]] == Tag.BE else chain[-1]
    first = words[verbs[0]]
    used = "used to" in predicate
    stopped, begun = (len(chain) > 1 and chain[0] in steps for steps in (_STOPS, _STARTS))
    return Sense(
        verb=verb,
        particle=_particle(words, tags, full[-1]),
        negative=stopped != ("not" in words or "never" in words or "no longer" in predicate),
        past=first not in _PERFECT and (tags[verbs[0]] in TagSet.PASTS or first in _PAST_AUXILIARIES),
        used=used,
        modal=Tag.MODAL in tags or (len(full) > 1 and not used and chain[0] in _INTENDED),
        begun=stopped or begun,
    )


def _particle(words: Sequence[str], tags: Sequence[str], verb: int) -> str:
    """Return the first particle or preposition after a verb, "" without one."""
    after = range(verb + 1, len(words))
    return next((words[index] for index in after if tags[index] in _AFTER_VERB), "")


def predicate_class(predicate: str, obj: str = "", subject: str = "") -> str:
    """Return the class of a predicate, or the lemma of its verb; object and subject decide what it leaves open.

    Classes: live, origin, work, study, own, sell, like, dislike, relationship, feel, name, age; "be" for other copulas.
    """
    verb, particle, *_ = sense(predicate)
    by_phrase = _CLASS_BY_PHRASE.get(f"{verb} {particle}")
    if by_phrase is not None:
        return by_phrase
    words = frozenset(obj.casefold().replace(",", " ").split())
    for cue in _CUES:
        if verb in cue.verbs and not cue.words.isdisjoint(words):
            return cue.name
    if verb in ("be", "turn") and (obj.isdigit() or not _AGE_WORDS.isdisjoint(words)):
        return "age"
    if verb == "be" and subject.casefold().endswith("name"):
        return "name"
    return _CLASS_BY_VERB.get(verb, verb)
