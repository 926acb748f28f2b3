"""Other names of people, where they are told: "my sister Ruth", "Mel, short for Melanie", "we all call her Kit".

"My cat is called Moss" tells one in a clause of its own (`predicate_class` "name").
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..lang import ENGLISH
from .fact_draft import Statement
from .fact_text import Voice
from .tagging import Tagged

ALSO_KNOWN_AS = "also_known_as"
"""The predicate of a fact whose object is another name of its subject."""

_NAMED = frozenset(ENGLISH.words("people.named"))
_CUES = frozenset(ENGLISH.words("people.naming_cues"))


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_NAME = "(?:(?:Dr|Mr|Mrs|Ms|Prof)\\. )?[A-Z\u00c0-\u017d][\\w\u2019'-]{1,30}(?<!'s)(?<!\u2019s)"
_END = '(?=[.,;:!?)\u2026\n"]|\\s+(?:and|but|or|is|was|has|had|who)\\b|\\s*$)'
# "my sister Ruth moved", "my boss, Dr. Abara, said"
_RELATIVE = re.compile(
    f"\\b(?i:my|our) (?:(?:[a-z]+(?:est|er)|little|big|old|twin|step|best) )?(?P<who>{_alternatives(_NAMED)}) "
    f"(?P<name>{_NAME})(?!['\u2019-]|\\w| (?:and|or|&) [A-Z]| [A-Z])"
)
# not a list: "my mother, Bea, and her sister"
_APPOSED = re.compile(f"\\b(?i:my|our) (?P<who>{_alternatives(_NAMED)}), (?P<name>{_NAME}),(?! (?:and|or|&)\\b)")
_SHORT_FOR = re.compile(
    f"(?P<who>{_NAME})(?:,| \\(| is) (?:short for|aka|a\\.k\\.a\\.|also known as) (?P<name>{_NAME})"
)
_CALLED_ME = re.compile(
    "\\b(?i:everyone|everybody|people|friends|they|folks|family|parents|colleagues) (?:just |all |usually )?"
    f"calls? me (?P<name>{_NAME}){_END}"
)
# "my niece Katherine started school, everyone calls her Kit"
_CALLED_HER = re.compile(
    f"(?P<who>{_NAME})\\b[^.!?]{{0,60}}[,;(] ?(?:but |and |whom |who )?"
    "(?i:everyone|everybody|we|people|friends|they|all) (?:just |all |usually )?calls? (?:her|him|them) "
    f"(?P<name>{_NAME}){_END}"
)
_CALL_ME = re.compile(f"^(?:(?i:please|just|you can),? )?(?i:call) me (?P<name>{_NAME}){_END}")
_OWN_NAME = re.compile(f"\\b(?i:my) (?:real |full |first )?(?:name|nickname) is (?P<name>{_NAME}){_END}")
_OF_SPEAKER = (_CALLED_ME, _CALL_ME, _OWN_NAME)
_OF_RELATIVE = (_RELATIVE, _APPOSED)


def aliases(sentence: Tagged, start: int, end: int, voice: Voice) -> list[Statement]:
    """Return the other names that a sentence tells, each as (who, `ALSO_KNOWN_AS`, name)."""
    words = sentence.words
    is_owned = ("my" in words or "our" in words) and not _NAMED.isdisjoint(words)
    if not is_owned and _CUES.isdisjoint(words):
        return []
    text = sentence.text[start:end]
    found = []
    if is_owned:
        found += [(match, voice.owned(match["who"].lower())) for form in _OF_RELATIVE for match in form.finditer(text)]
    if not _CUES.isdisjoint(words):
        found += [(match, match["who"]) for form in (_SHORT_FOR, _CALLED_HER) for match in form.finditer(text)]
        found += [(match, voice.name) for form in _OF_SPEAKER for match in form.finditer(text)]
    made = {}
    for match, who in found:
        if match["name"] != who:
            span = (start + match.start(), start + match.end())
            made[who, match["name"]] = Statement(who, ALSO_KNOWN_AS, match["name"], span, span, "state")
    return list(made.values())
