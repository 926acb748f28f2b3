"""Which facts make a profile: what one would show the person it is about, few rather than wrong."""

from __future__ import annotations

import re

from ..lang import ENGLISH
from ..types.stored import BY_RULE
from ..types.values import Fact
from .predicates import predicate_class, sense
from .slots import PEOPLE_AND_PETS, owner_of, slots_of
from .verbs import lemma

_CLASSES = frozenset(ENGLISH.words("slots.nouns.profile_classes"))
_ACQUIRING = frozenset(ENGLISH.words("slots.nouns.acquiring"))
_OWNED = PEOPLE_AND_PETS.union(ENGLISH.words("predicates.topics.things"))
_KINDS = frozenset(("state", "event", "opinion"))
# "it" and "the card" are of the moment, and nobody else knows which
_VAGUE = re.compile(rf"^(?:the|this|that)\b|\b{ENGLISH.any_of('slots.nouns.points_back')}\b", re.IGNORECASE)
_ONGOING = ("is ", "are ", "was ", "were ")  # a gerund follows: "is moving to the moon" is not so yet
_MOST = 6  # words of an object; a longer one tells a story


def is_of_profile(fact: Fact) -> bool:
    """Return whether a fact is one of a profile. What another extractor than the rules found is: it chose it."""
    if fact.extractor != BY_RULE:
        return True
    told = [slot for slot in slots_of(fact) if slot.value in fact.object]  # not "my sister Ruth phoned"
    if told:
        return not any(slot.name in ("like", "dislike") and _VAGUE.search(slot.value) for slot in told)
    parsed = sense(fact.predicate)
    if fact.kind not in _KINDS or parsed.negative or parsed.modal or owner_of(fact.subject) is None:
        return False
    words = fact.object.split()
    if not 0 < len(words) <= _MOST or _VAGUE.search(fact.object) or fact.predicate.startswith(_ONGOING):
        return False
    of = predicate_class(fact.predicate, fact.object, fact.subject)
    if of == "own":
        return parsed.verb in _ACQUIRING or not _OWNED.isdisjoint(lemma(word.casefold().rstrip(",")) for word in words)
    return of in _CLASSES
