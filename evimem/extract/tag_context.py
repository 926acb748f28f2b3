"""Tags that depend on the words around: names that are words, 's, quotations, "no longer", "his back"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..lang import ENGLISH
from .tag_letters import Tag, TagSet, letters, tag_pattern
from .verbs import lemma

_APOSTROPHE = re.compile(Tag.APOSTROPHE)
_QUOTED = re.compile(tag_pattern("QUOTE [^QUOTE]* QUOTE"))
_OWNED = re.compile(tag_pattern("(?<=[DETERMINERS APOSTROPHE]) S_FORM"))  # "their lives": a plural noun
_OWNED_NOUN = re.compile(tag_pattern("(?<=POSSESSIVE) [PARTICLE BASE]"))  # "his back hurts"
_GOVERNED_NOUN = re.compile(tag_pattern("(?<=PREPOSITION) BASE"))  # "my request for leave"
# the tags without which a pattern cannot match, the pattern, and what it becomes
_SIMPLE = (
    (Tag.POSSESSIVE, _OWNED_NOUN, Tag.NOUN),
    (Tag.PREPOSITION + Tag.BASE, _GOVERNED_NOUN, Tag.NOUN),
)
_AS_A = re.compile(tag_pattern("PREPOSITION_OR_CONJUNCTION (?=DETERMINER)"))
_NOT_ONCE = re.compile(tag_pattern("NOT PREPOSITION_OR_CONJUNCTION"))
_NOUN_NOT = re.compile(tag_pattern("NOUN NOT"))  # "ai n't"
_NO_LONGER = re.compile(tag_pattern("DETERMINER ADVERB"))
_NOT_ONLY = re.compile(tag_pattern("NOT [ADVERB]"))
_TOO = re.compile(tag_pattern("ADVERB (?=[ADJECTIVE NOUN ADVERB PARTICIPLES])"))  # "too hot to think", like "so hot"
_CLITIC_NOUN = re.compile(tag_pattern("^ [BASE BASE_OR_NOUN PAST LIKE] (?=[BE APOSTROPHE] DETERMINERS)"))

_NAMES = frozenset(ENGLISH.words("people.names_that_are_words"))
_MONTH_NAMES = frozenset(ENGLISH.words("people.names_that_are_months"))
_PHRASES = frozenset(tuple(phrase.split(" ")) for phrase in ENGLISH.words("grammar.adverb_phrases"))
_PHRASE_ENDS = frozenset(phrase[-1] for phrase in _PHRASES)
_PRONOMINAL = frozenset(("one", "each", "either", "neither"))  # "one hates mushrooms"
_ONLY = frozenset(ENGLISH.words("grammar.after_not_only"))
_STATIVE = frozenset(ENGLISH.words("grammar.stative_participles"))
_NAMING = frozenset(ENGLISH.words("grammar.naming_participles"))
_GOT = frozenset(ENGLISH.words("grammar.after_has"))
_FINITE_FORMS = frozenset(ENGLISH.words("grammar.singular_auxiliaries"))

_BEFORE_CLAUSE = frozenset(("", *letters("AND COMMA BREAK INTERJECTION SUBORDINATOR QUOTE")))
_FINITE = frozenset(letters("PAST S_FORM PAST_OR_PARTICIPLE"))
_NAMED = letters("NAME NOUN")
_ONE_OF_A_KIND = frozenset(letters("POSSESSIVE DETERMINER"))
_NAMEABLE = frozenset(letters("MODAL PAST PAST_OR_PARTICIPLE BASE BASE_OR_NOUN TIME ADJECTIVE"))
# "'s" is a verb after these, and before these
_BEFORE_IS = letters("THIRD_PERSON THAT THERE SECOND_PERSON QUESTION_WORD")
_PRONOUNS_BEFORE_IS = frozenset(ENGLISH.words("grammar.clitic_pronouns"))
_AFTER_IS = letters("DETERMINERS ADVERB PREPOSITION NOT SO TO BE IT")
_ADJECTIVAL = frozenset(letters("ADJECTIVE PARTICIPLES"))
_AFTER_ADJECTIVE = frozenset(("", *letters("END COMMA AND PREPOSITION TO")))
_AFTER_SUBJECT_GERUND = frozenset(letters("S_FORM BE PASTS"))
_PAST_ENDINGS = ("ed", "ade", "old", "ought")
_OBJECTS = frozenset(letters("DETERMINERS OBJECT IT NAME PLURAL TO"))


def in_context(tags: str, words: Sequence[str]) -> str:
    """Return the tags of a sentence, each as the words around it ask."""
    if not _NAMES.isdisjoint(words):
        tags = _with_names(tags, words)
    if Tag.APOSTROPHE in tags:
        tags = _CLITIC_NOUN.sub(Tag.NOUN, tags)
        tags = _APOSTROPHE.sub(lambda found: _clitic(tags, words, found.start()), tags)
    if "'d" in words:
        tags = _with_had(tags, words)
    if Tag.S_FORM in tags:
        tags = _OWNED.sub(lambda found: found.group() if words[found.start() - 1] in _PRONOMINAL else Tag.PLURAL, tags)
    for signs, pattern, changed in _SIMPLE:
        if signs in tags:
            tags = pattern.sub(changed, tags)
    if not _PHRASE_ENDS.isdisjoint(words):
        tags = _with_phrases(tags, words)
    if Tag.QUOTE in tags:
        tags = _QUOTED.sub(lambda found: Tag.QUOTE * len(found.group()), tags)
    if "too" in words:
        tags = _TOO.sub(lambda found: Tag.SO if words[found.start()] == "too" else found.group(), tags)
    return _with_negations(tags, words)


def _with_negations(tags: str, words: Sequence[str]) -> str:
    """Resolve negations and what looks like one: "ai n't", "no longer", "never once", "not only"; and "as a"."""
    if Tag.NOUN + Tag.NOT in tags and "ai" in words:
        tags = _NOUN_NOT.sub(lambda found: Tag.BE + Tag.NOT if words[found.start()] == "ai" else found.group(), tags)
    if Tag.DETERMINER + Tag.ADVERB in tags and "longer" in words:
        tags = _NO_LONGER.sub(
            lambda found: Tag.NOT + Tag.ADVERB if words[found.start() + 1] == "longer" else found.group(), tags
        )
    if Tag.PREPOSITION_OR_CONJUNCTION + Tag.DETERMINER in tags and "as" in words:
        tags = _AS_A.sub(lambda found: _as(words, found.start()), tags)
    if Tag.NOT + Tag.PREPOSITION_OR_CONJUNCTION in tags and "once" in words:
        tags = _NOT_ONCE.sub(Tag.NOT + Tag.ADVERB, tags)
    if Tag.NOT + Tag.ADVERB in tags and not _ONLY.isdisjoint(words):
        tags = _NOT_ONLY.sub(lambda found: Tag.ADVERB * 2 if words[found.start() + 1] in _ONLY else found.group(), tags)
    return tags


def _with_phrases(tags: str, words: Sequence[str]) -> str:
    """Change to adverbs the two words of a phrase like "of course"."""
    found = list(tags)
    for index in range(1, len(words)):
        if (words[index - 1], words[index]) in _PHRASES:
            found[index - 1 : index + 1] = Tag.ADVERB, Tag.ADVERB
    return "".join(found)


def _as(words: Sequence[str], index: int) -> str:
    """Return the tag of "as" and its like before a determiner: a preposition in "works as a nurse"."""
    is_role = words[index] == "as" and words[index + 1] in ("a", "an")
    return Tag.PREPOSITION if is_role else Tag.PREPOSITION_OR_CONJUNCTION


def _with_names(tags: str, words: Sequence[str]) -> str:
    """Change to names the words that are one here: "Will is late", "May got the job", "will and rose came"."""
    found = list(tags)
    for index in range(len(words) - 1, -1, -1):
        if words[index] in _NAMES and found[index] in _NAMEABLE and _is_name(found, words, index):
            found[index] = Tag.NAME
    return "".join(found)


def _is_name(tags: Sequence[str], words: Sequence[str], index: int) -> bool:
    """Return whether a word at the start of a clause is a name: a verb that fits no other reading follows."""
    if index and tags[index - 1] not in _BEFORE_CLAUSE:
        return False
    after = index + 1
    while after < len(words) and tags[after] == Tag.ADVERB:
        after += 1
    following, word = ("", "") if after >= len(words) else (tags[after], words[after])
    if following == Tag.AND:
        is_joined = after + 1 < len(words) and tags[after + 1] in _NAMED + TagSet.PERSONS
        return is_joined and words[after + 1] != words[index]
    if words[index] in _MONTH_NAMES:  # "May is busy", but "May is my sister", "May got the job"
        is_one = tags[after + 1 : after + 2] and tags[after + 1] in _ONE_OF_A_KIND
        return following in _FINITE or following == Tag.HAVE or (word in _FINITE_FORMS and bool(is_one))
    return following in _FINITE or word in _FINITE_FORMS


def _clitic(tags: str, words: Sequence[str], index: int) -> str:
    """Return the tag of "'s": `BE` or `HAVE` where it is short for "is" or "has", else `APOSTROPHE`."""
    if words[index + 1 : index + 2] and words[index + 1] in _FINITE_FORMS:
        return Tag.APOSTROPHE  # "April's is on the 27th"
    before, after, second = tags[index - 1 : index], tags[index + 1 : index + 2], tags[index + 2 : index + 3]
    if before and (before in _BEFORE_IS or words[index - 1] in _PRONOUNS_BEFORE_IS):
        return _is_or_has(tags, words, index + 1)
    if second == Tag.NAME and words[index + 1] in _NAMING:
        return Tag.BE  # "my son's called Leo"
    if after and after in _AFTER_IS:
        return _is_or_has(tags, words, index + 1)
    if after in _ADJECTIVAL and second in _AFTER_ADJECTIVE:
        return _is_or_has(tags, words, index + 1)
    return Tag.BE if after == Tag.GERUND and second not in _AFTER_SUBJECT_GERUND else Tag.APOSTROPHE


def _with_had(tags: str, words: Sequence[str]) -> str:
    """Change the tag of "'d" to `HAVE` where a participle follows: "I'd forgotten", but "I'd put"."""
    found = list(tags)
    for index, word in enumerate(words):
        at = index + 1
        while word == "'d" and at < len(tags) and tags[at] in TagSet.ADVERBS:
            at += 1
        if word == "'d" and at < len(tags):
            is_participle = tags[at] in TagSet.PARTICIPLES and lemma(words[at]) != words[at]
            found[index] = Tag.HAVE if is_participle or words[at] in ("been", "had") else found[index]
    return "".join(found)


def _is_or_has(tags: str, words: Sequence[str], start: int) -> str:
    """Return whether "'s" is short for "has", by the verb after it: "he's had", "she's got", "it's eaten it"."""
    at = start
    while at < len(tags) and tags[at] in TagSet.ADVERBS:
        at += 1
    if at >= len(tags):
        return Tag.BE
    if words[at] in _GOT or tags[at] == Tag.PAST:
        return Tag.HAVE
    following = tags[at + 1 : at + 2]
    is_active = tags[at] in TagSet.PARTICIPLES and following in _OBJECTS and words[at] not in _STATIVE
    is_active = is_active or (words[at].endswith(_PAST_ENDINGS) and following == Tag.OBJECT)  # "she's made me toast"
    return Tag.HAVE if is_active else Tag.BE
