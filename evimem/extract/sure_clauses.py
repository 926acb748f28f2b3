"""Whether the subject and the verb of a clause were understood for sure; a clause with a doubt states nothing."""

from __future__ import annotations

import re

from ..lang import ENGLISH
from .grammar import ClauseSpan
from .tag_letters import Tag, TagSet, letters, tag_pattern
from .tagging import Tagged
from .verbs import lemma

_ABSOLUTE = frozenset(ENGLISH.words("grammar.absolute_possessives"))
_CLOSED_DETERMINERS = frozenset(ENGLISH.words("grammar.closed_determiners"))
_DIRECTIONS = frozenset(ENGLISH.words("grammar.directions"))
_STATIVE = frozenset(ENGLISH.words("grammar.stative_participles"))
_INTRANSITIVE = frozenset(ENGLISH.words("grammar.intransitive_participles"))
_PLURAL_PRONOUNS = frozenset(ENGLISH.words("grammar.plural_pronouns"))
_NEVER_ALONE = frozenset(ENGLISH.words("grammar.participles_of_phrases"))
_ECHOES = frozenset(("nor", "neither", "so"))
_REQUESTING = frozenset(ENGLISH.words("grammar.requesting"))
_WAYS_OF_THINGS = frozenset(ENGLISH.words("grammar.ways_of_things"))
_BRACKETS = frozenset("()[]{}")
_LISTS_GO_ON = frozenset(("", *letters("END COMMA AND")))
_ENDS = _LISTS_GO_ON | frozenset(letters("BREAK"))
_NO_SUBJECTS = frozenset(("neither", "no"))
_NEVER_ALONE_TAGS = frozenset(letters("OBJECT ADJECTIVE QUESTION_WORD"))
_AFTER_UNCLEAR = _ENDS | frozenset(letters("PREPOSITION"))
_BEFORE_INFINITIVE = frozenset(ENGLISH.words("predicates.senses.before_infinitive"))
_PLURAL_FORMS = frozenset(ENGLISH.words("grammar.plural_auxiliaries"))
_FEELINGS = frozenset(ENGLISH.words("grammar.feelings_without_verb"))
_VERBS = frozenset(letters("AUXILIARIES PAST S_FORM BASE"))
_DETERMINERS = TagSet.DETERMINERS + Tag.IT
_NOMINATIVES = (Tag.FIRST_PERSON, Tag.THIRD_PERSON)
_LONE_NOUNS = frozenset(letters("NOUN BASE_OR_NOUN ADJECTIVE"))
_RELATIVES = frozenset(letters("QUESTION_WORD THAT PERSONS"))
_NEVER_IN_SUBJECT = frozenset(letters("BREAK QUOTE END SUBORDINATOR"))
_NEVER_LAST = frozenset(letters("APOSTROPHE PREPOSITION AND ADVERB COMMA TO THAT QUESTION_WORD"))
_PRONOUNS = frozenset(letters("PERSONS IT THAT THERE"))
_QUANTIFIERS = frozenset(letters("DETERMINER IT ADVERB POSSESSIVE"))
_NEVER_BEFORE_S = frozenset(letters("GERUND ADJECTIVE DETERMINERS"))
_TRANSITIVE_SIGNS = frozenset(letters("DETERMINERS IT NAME THAT TO PARTICLE"))
_AFTER_PARTICIPLE = frozenset(letters("DETERMINERS IT NAME TO PARTICLE"))

# what may stand before the subject of the first clause
_LED_IN = re.compile(
    tag_pattern(
        """
        (?: ^ | [COMMA BREAK SUBORDINATOR PREPOSITION_OR_CONJUNCTION QUOTE THAT END INTERJECTION]
          | ^ [INTERJECTION ADVERB SO COMMA]* AND | INTERJECTION NAME
          | ^ [AND INTERJECTION ADVERB SO COMMA]* [PREPOSITION PREPOSITION_OR_CONJUNCTION TO] [DETERMINERS IT]{0,2}
              [NOUN_PHRASE APOSTROPHE TIME DETERMINERS PREPOSITION]{1,8} )
        [ADVERBS SO TIME SYMBOL]* $
        """
    )
)


def is_led_in(tags: str, clause: ClauseSpan) -> bool:
    """Return whether the first clause of a sentence begins at its subject: not "I met" in "The friend I met"."""
    return not clause.subject or _LED_IN.search(tags[: clause.subject]) is not None


def is_sure_subject(sentence: Tagged, tags: str, start: int, end: int) -> bool:
    """Return whether tokens [start, end) are one whole noun phrase."""
    found, last = tags[start:end], sentence.words[end - 1]
    first = found[:1]
    if start and sentence.words[start - 1] == ")":
        return False  # "Mia (4) and Theo (7) both have asthma"
    if found[-2:-1] == Tag.AND and found[-1] in TagSet.PERSONS and _ends_a_phrase(sentence, tags, start):
        return False  # "after 22 years and I've quit"
    return _is_sure_word(first, last) if end - start == 1 else _is_sure_phrase(sentence, found, start, end)


def _ends_a_phrase(sentence: Tagged, tags: str, start: int) -> bool:
    """Return whether the first of two joined nouns may belong to what stands before it, or counts something."""
    is_governed = tags[start - 1 : start] in (Tag.PREPOSITION_OR_CONJUNCTION, Tag.PREPOSITION)
    return is_governed or sentence.words[start][0].isdigit()


def _is_sure_word(tag: str, word: str) -> bool:
    if word in _NO_SUBJECTS or word in _CLOSED_DETERMINERS or tag in _NEVER_ALONE_TAGS:
        return False
    return tag != Tag.POSSESSIVE or word in _ABSOLUTE


def _is_sure_phrase(sentence: Tagged, found: str, start: int, end: int) -> bool:
    first, last = found[:1], sentence.words[end - 1]
    word = sentence.words[start]
    opens_wrong = first == Tag.QUESTION_WORD or word == "whose" or word in _FEELINGS  # "Glad work is going well"
    opens_wrong = opens_wrong or not _BRACKETS.isdisjoint(sentence.words[start:end])
    if opens_wrong or (first == Tag.NOT and found[1] not in _QUANTIFIERS) or not _NEVER_IN_SUBJECT.isdisjoint(found):
        return False
    if found == Tag.THAT + Tag.IT or (found[-1] in TagSet.PERSONS and found[-2] != Tag.AND):
        return False  # "After that it went wrong", "no way you did it"
    has_relative = not _RELATIVES.isdisjoint(found[1:])
    ends_relative = has_relative and found[-1] in (Tag.ADVERB, Tag.PREPOSITION)  # "the company I work for"
    if (found[-1] in _NEVER_LAST and not ends_relative) or last in _CLOSED_DETERMINERS:
        return found[-1] == Tag.COMMA and found.count(Tag.COMMA) == 2
    if found.count(Tag.COMMA) == 1 or (Tag.COMMA in found and Tag.AND not in found):
        return False
    return has_relative or _VERBS.isdisjoint(found)


def is_sure_verb(sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    """Return whether the verb of a clause is no noun or adjective: not "night shifts mostly", "two doors dented"."""
    group, following = tags[clause.verb : clause.end], tags[clause.end : clause.end + 1]
    is_inverted = following in _NOMINATIVES and group[-1] in TagSet.AUXILIARIES  # "nor did he"
    is_parted = group.strip(TagSet.QUALIFIERS) == Tag.HAVE and Tag.NOT in group and following == Tag.PREPOSITION
    is_first_person = sentence.words[clause.verb] in ("'m", "am") and clause.verb - clause.subject > 1  # "her hen n im"
    is_modal_alone = group.strip(TagSet.QUALIFIERS) == Tag.MODAL  # "we'd all get comfy"
    word = sentence.words[clause.verb]
    is_echo = clause.role == "shared" and sentence.words[clause.verb - 1] in _ECHOES  # "nor is Ana"
    is_request = clause.role == "shared" and not _REQUESTING.isdisjoint(sentence.words[clause.subject : clause.end])
    is_step = sentence.words[clause.end - 1] == "gone" and following == Tag.AND  # "I've gone and told them"
    if (
        is_inverted
        or is_parted
        or is_first_person
        or is_modal_alone
        or is_echo
        or is_request
        or is_step
        or (word == "'s" and _is_fixed(sentence, group, following, clause))
    ):
        return False
    is_cut_by_time = tags[clause.verb] == Tag.TIME and tags[clause.verb - 1] in _NEVER_BEFORE_S  # "the third Sunday is"
    if is_cut_by_time or (tags[clause.subject] == Tag.GERUND and word in _PLURAL_FORMS):
        return False  # "friendship and chasing dreams were explored"
    if clause.role == "dropped":
        return _is_sure_without_subject(sentence, tags, clause)
    if group.lstrip(TagSet.QUALIFIERS) != group[-1] or clause.role == "shared":
        return True
    check = _SURE_BY_TAG.get(group[-1])
    return check is None or check(sentence, tags, clause)


def _is_sure_s_form(sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    """Return whether a word like "shifts" is a verb after its subject: not "night shifts mostly"."""
    before, following = tags[clause.verb - 1], tags[clause.end : clause.end + 1]
    if before in _PRONOUNS:
        return sentence.words[clause.verb - 1] not in _PLURAL_PRONOUNS
    is_counted = sentence.words[clause.subject][0].isdigit()  # "24 prize bonds in a tin"
    if before == Tag.PLURAL or before in _NEVER_BEFORE_S or is_counted:
        return False
    is_noun_phrase = tags[clause.subject] in _DETERMINERS or before == Tag.NAME
    is_noun_phrase = is_noun_phrase or Tag.APOSTROPHE in tags[clause.subject : clause.verb]
    return is_noun_phrase or following in _TRANSITIVE_SIGNS


def _is_sure_singular(_sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    """Return whether a form like "calls" is a verb after its subject: not "notes, phone calls and letters"."""
    follows_comma = tags[clause.subject - 1 : clause.subject] == Tag.COMMA
    is_listed = follows_comma and tags[clause.end : clause.end + 1] in _LISTS_GO_ON
    return not (is_listed and tags[clause.subject : clause.verb] in _LONE_NOUNS)


def _is_sure_base(_sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    """Return whether a word like "code" is a verb after its subject: not "500 cards with a qr code"."""
    if Tag.PREPOSITION not in tags[clause.subject : clause.verb]:
        return True
    following = tags[clause.end : clause.end + 1]
    return following not in _ENDS and following != Tag.PREPOSITION


def _is_sure_past(sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    """Return whether a word like "called" is no participle: not "project manager called Hannah", "tin delivered"."""
    first, before, following = tags[clause.subject], tags[clause.verb - 1], tags[clause.end : clause.end + 1]
    if first in TagSet.PERSONS:
        return True
    if tags[clause.subject : clause.verb] == Tag.GERUND:
        return False  # "Having lost my keys"
    if sentence.words[clause.subject][0].isdigit() and following in _ENDS:
        return False  # "0 double sold"
    is_named = sentence.words[clause.end - 1] in _STATIVE and following in (Tag.NAME, Tag.PREPOSITION)
    if is_named and sentence.words[clause.subject] in ("a", "an"):
        return False  # "a rabbit called Clover"
    is_phrase = first in _DETERMINERS and before != Tag.DETERMINER  # unlike the 17 of "17 sold"
    if is_phrase or before in (Tag.NAME, Tag.TIME):
        return True
    return following not in _ENDS and not is_named


def _is_sure_like(_sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    """Return whether "like" is a verb after its subject: not "themes like friendship"."""
    return tags[clause.subject : clause.verb] not in (Tag.PLURAL, Tag.S_FORM_OR_PLURAL, Tag.NOUN)


_SURE_BY_TAG = {
    Tag.LIKE: _is_sure_like,
    Tag.S_FORM: _is_sure_singular,
    Tag.S_FORM_OR_PLURAL: _is_sure_s_form,
    Tag.BASE_OR_NOUN: _is_sure_base,
    Tag.PAST_OR_PARTICIPLE: _is_sure_past,
}


def _is_fixed(sentence: Tagged, group: str, following: str, clause: ClauseSpan) -> bool:
    """Return whether "'s" may be "is" or "has": "he's fixed", but not "he's moved", "he's married", "he's fixed it"."""
    word = sentence.words[clause.end - 1]
    unclear = group[0] == Tag.BE and group[-1] == Tag.PAST_OR_PARTICIPLE and following in _AFTER_UNCLEAR
    return unclear and word not in _STATIVE and word not in _INTRANSITIVE


def _is_sure_without_subject(sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    """Return whether a verb at the start has the form of a statement: "sold the car", not "gutted and happy"."""
    group = tags[clause.verb : clause.end].lstrip(TagSet.QUALIFIERS)
    verb, following = group[-1], tags[clause.end : clause.end + 1]
    if len(group) > 1:  # "Decided to sell it", but "Cleared to run"
        first = sentence.words[clause.end - len(group)]
        return group[0] != Tag.PAST_OR_PARTICIPLE or lemma(first) in _BEFORE_INFINITIVE
    after = sentence.words[clause.end] if following else ""
    if after in _WAYS_OF_THINGS and lemma(sentence.words[clause.end - 1]) == "go":
        return False
    is_directed = after in _DIRECTIONS or following in _AFTER_PARTICIPLE
    if verb == Tag.GERUND:
        is_phrase = sentence.words[clause.verb] in _NEVER_ALONE
        return not is_phrase and (is_directed or following in (Tag.PREPOSITION, Tag.OBJECT))
    return is_directed if verb in TagSet.PARTICIPLES else True
