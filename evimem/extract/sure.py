"""What of a clause was understood for sure: unsure subjects and verbs state nothing, objects end where doubt begins."""

from __future__ import annotations

import re

from ..lang import ENGLISH
from .bounds import Range
from .grammar import ClauseSpan
from .tag_letters import Tag, TagSet, letters, tag_pattern
from .tagging import Tagged

_SEPARATORS = frozenset(ENGLISH.words("grammar.separators"))
_ABSOLUTE = frozenset(ENGLISH.words("grammar.absolute_possessives"))
_CLOSED_DETERMINERS = frozenset(ENGLISH.words("grammar.closed_determiners"))
_DANGLING_WORDS = frozenset(ENGLISH.words("grammar.dangling_words"))
_DIRECTIONS = frozenset(ENGLISH.words("grammar.directions"))
_NEEDS_OBJECT = frozenset(ENGLISH.words("predicates.senses.needs_object"))

_STATIVE = frozenset(ENGLISH.words("grammar.stative_participles"))
_INTRANSITIVE = frozenset(ENGLISH.words("grammar.intransitive_participles"))

_DIVIDERS = frozenset(letters("COMMA BREAK AND END"))
_MOSTLY_VERB = frozenset(ENGLISH.words("verbs.mostly_verb"))
_PLURAL_PRONOUNS = frozenset(ENGLISH.words("grammar.plural_pronouns"))
_NEVER_ALONE = frozenset(ENGLISH.words("grammar.participles_of_phrases"))
_AFTER_DEGREE = frozenset(("", *letters("ADJECTIVE ADVERB END COMMA PAST_OR_PARTICIPLE GERUND")))
_NOT_FINITE = frozenset(("be", "been", "being"))
_ECHOES = frozenset(("nor", "neither", "so"))
_BRACKETS = frozenset("()[]{}")
_PLURAL_FORMS = frozenset(ENGLISH.words("grammar.plural_auxiliaries"))
_FEELINGS = frozenset(ENGLISH.words("grammar.feelings_without_verb"))
_JOINS = frozenset(letters("COMMA AND"))
_FINITE = frozenset(letters("AUXILIARIES PAST S_FORM"))
_VERBS = frozenset(letters("AUXILIARIES PAST S_FORM BASE"))
_BASES = frozenset(letters("BASE"))
_RELATIVES = frozenset(letters("QUESTION_WORD THAT PERSONS"))
_NEVER_IN_SUBJECT = frozenset(letters("BREAK QUOTE END SUBORDINATOR"))
_NEVER_LAST = frozenset(letters("APOSTROPHE PREPOSITION AND ADVERB COMMA TO"))
_DANGLING = frozenset(letters("PREPOSITION PREPOSITION_OR_CONJUNCTION TO AND COMMA"))
_PRONOUNS = frozenset(letters("PERSONS IT THAT THERE"))
_QUANTIFIERS = frozenset(letters("DETERMINER IT ADVERB POSSESSIVE"))
_NEVER_BEFORE_S = frozenset(letters("GERUND ADJECTIVE DETERMINERS"))
_TRANSITIVE_SIGNS = frozenset(letters("DETERMINERS IT NAME THAT TO PARTICLE"))
_ENDS = frozenset(("", *letters("END COMMA BREAK AND")))
_AFTER_PARTICIPLE = frozenset(letters("DETERMINERS IT NAME TO PARTICLE"))

# A finite verb within an object belongs there in a relative clause, a question or a complement: "a man who left".
_GROUP = "[QUALIFIERS AUXILIARIES PARTICIPLES TO]*"
_LICENSED = re.compile(
    tag_pattern(
        f"""
        (?: [QUESTION_WORD THAT SUBORDINATOR PREPOSITION_OR_CONJUNCTION] QUALIFIERS*
            (?: PERSONS | THERE | [DETERMINERS NOUN_PHRASE APOSTROPHE IT PARTICIPLES]{{1,5}}
                (?: PREPOSITION [DETERMINERS NOUN_PHRASE APOSTROPHE]{{1,4}} )? )?
          | [NOUNS BASE_OR_NOUN S_FORM_OR_PLURAL GERUND IT FULL_VERBS] [PERSONS]
          | [FULL_VERBS] [IT THAT]
        ) {_GROUP} $
        """
    )
)
# an object that is a clause: "it turns out the letter was late"
_COMPLEMENT = re.compile(
    tag_pattern(f"(?: [PERSONS IT THAT THERE] | [DETERMINERS NAME] [NOUN_PHRASE APOSTROPHE]{{0,4}} ) {_GROUP} $")
)
_LOOK_BACK = 14  # tokens before a finite verb in which its relative or complement begins
# "apples, pears and bread"; other commas begin what may not belong to the object
_LIST = re.compile(tag_pattern("[^ COMMA]{1,8} (?: COMMA [^ COMMA AND]{1,6} ){1,6} COMMA? AND [^ COMMA AND]{1,6} $"))
_OPEN_THAT = re.compile(tag_pattern("THAT [^ FULL_VERBS AUXILIARIES]{0,12} $"))
_INSERTED = re.compile(tag_pattern("COMMA QUESTION_WORD [^ COMMA]* COMMA DETERMINERS"))
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
    if end - start == 1:
        return (
            last != "neither"
            and first != Tag.OBJECT
            and (first != Tag.POSSESSIVE or last in _ABSOLUTE)
            and first != Tag.QUESTION_WORD
        )
    word = sentence.words[start]
    opens_wrong = first == Tag.QUESTION_WORD or word == "whose" or word in _FEELINGS  # "Glad work is going well"
    opens_wrong = opens_wrong or not _BRACKETS.isdisjoint(sentence.words[start:end])
    if opens_wrong or (first == Tag.NOT and found[1] not in _QUANTIFIERS) or not _NEVER_IN_SUBJECT.isdisjoint(found):
        return False
    has_relative = not _RELATIVES.isdisjoint(found[1:])
    if (found[-1] in _NEVER_LAST and not (has_relative and found[-1] == Tag.ADVERB)) or last in _CLOSED_DETERMINERS:
        return found[-1] == Tag.COMMA and found.count(Tag.COMMA) == 2
    if found.count(Tag.COMMA) == 1 or (Tag.COMMA in found and Tag.AND not in found):
        return False
    return has_relative or _VERBS.isdisjoint(found)


def is_sure_verb(sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    """Return whether the verb of a clause is no noun or adjective: not "night shifts mostly", "two doors dented"."""
    group, following = tags[clause.verb : clause.end], tags[clause.end : clause.end + 1]
    is_inverted = following in (Tag.FIRST_PERSON, Tag.THIRD_PERSON) and group[-1] in TagSet.AUXILIARIES  # "no way am I"
    is_modal_alone = group.strip(TagSet.QUALIFIERS) == Tag.MODAL  # "we'd all get comfy"
    word = sentence.words[clause.verb]
    is_echo = clause.role == "shared" and sentence.words[clause.verb - 1] in _ECHOES  # "nor is Ana"
    if is_inverted or is_modal_alone or is_echo or (word == "'s" and _is_fixed(sentence, group, following, clause)):
        return False
    if tags[clause.subject] == Tag.GERUND and word in _PLURAL_FORMS:
        return False  # "friendship and chasing dreams were explored"
    if group.lstrip(TagSet.QUALIFIERS) != group[-1] or clause.role == "shared":
        return True
    if clause.role == "dropped":
        return _is_sure_without_subject(sentence, tags, clause)
    check = _SURE_BY_TAG.get(group[-1])
    return check is None or check(sentence, tags, clause)


def _is_sure_s_form(sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    """Return whether a word like "shifts" is a verb after its subject: not "night shifts mostly"."""
    before, following = tags[clause.verb - 1], tags[clause.end : clause.end + 1]
    if before in _PRONOUNS:
        return sentence.words[clause.verb - 1] not in _PLURAL_PRONOUNS
    if before == Tag.PLURAL or before in _NEVER_BEFORE_S:
        return False
    is_noun_phrase = tags[clause.subject] in TagSet.DETERMINERS + Tag.IT or before == Tag.NAME
    is_noun_phrase = is_noun_phrase or Tag.APOSTROPHE in tags[clause.subject : clause.verb]
    return is_noun_phrase or following in _TRANSITIVE_SIGNS


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
    is_named = sentence.words[clause.end - 1] in _STATIVE and following in (Tag.NAME, Tag.PREPOSITION)
    if is_named and sentence.words[clause.subject] in ("a", "an"):
        return False  # "a rabbit called Clover"
    if first in TagSet.DETERMINERS + Tag.IT or before in (Tag.NAME, Tag.TIME):
        return True
    return following not in _ENDS and not is_named


def _is_sure_like(_sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    """Return whether "like" is a verb after its subject: not "themes like friendship"."""
    return tags[clause.subject : clause.verb] not in (Tag.PLURAL, Tag.S_FORM_OR_PLURAL, Tag.NOUN)


_SURE_BY_TAG = {
    Tag.LIKE: _is_sure_like,
    Tag.S_FORM_OR_PLURAL: _is_sure_s_form,
    Tag.BASE_OR_NOUN: _is_sure_base,
    Tag.PAST_OR_PARTICIPLE: _is_sure_past,
}


def _is_fixed(sentence: Tagged, group: str, following: str, clause: ClauseSpan) -> bool:
    """Return whether "'s" may be "is" or "has": "he's fixed", but not "he's moved", "he's married", "he's fixed it"."""
    word = sentence.words[clause.end - 1]
    unclear = group[0] == Tag.BE and group[-1] == Tag.PAST_OR_PARTICIPLE and following in _ENDS
    return unclear and word not in _STATIVE and word not in _INTRANSITIVE


def _is_sure_without_subject(sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    """Return whether a verb at the start has the form of a statement: "sold the car", not "gutted and happy"."""
    verb, following = tags[clause.end - 1], tags[clause.end : clause.end + 1]
    after = sentence.words[clause.end] if following else ""
    is_directed = after in _DIRECTIONS or following in _AFTER_PARTICIPLE
    if verb == Tag.GERUND:
        return (is_directed or following in (Tag.PREPOSITION, Tag.OBJECT)) and sentence.words[
            clause.verb
        ] not in _NEVER_ALONE
    return is_directed if verb in TagSet.PARTICIPLES else True


def is_divided(tags: str, at: int) -> bool:
    """Return whether the object of a verb cannot start at this token: "came through, so make that signed"."""
    divides_after = tags[at + 1 : at + 2] in (*TagSet.BASES, *TagSet.PERSONS)
    return tags[at] in _DIVIDERS or (tags[at] == Tag.SO and divides_after)


def sure_object(sentence: Tagged, tags: str, place: Range, longest: int) -> Range | None:
    """Return the part of an object before the first doubt, None where nothing sure is left of it."""
    start, end = place
    if tags[start : start + 1] in (Tag.FIRST_PERSON, Tag.THIRD_PERSON):
        return None  # "I move we take it"
    cut = _first_doubt(sentence, tags, start, end)
    if cut is None:
        return None
    comma = tags.find(Tag.COMMA, start, cut)
    if comma > start and _LIST.match(tags[start:cut]) is None:
        if _INSERTED.match(tags, comma, cut) is not None:
            return None  # "my mother, who turned seventy, a camera"
        cut = comma
    is_cut = cut < end or tags[end : end + 1] == Tag.TIME  # else "the same as being looked after" is whole
    if is_cut and _OPEN_THAT.search(tags, start, cut) is not None:
        return None
    while cut > start and (
        tags[cut - 1] in (_DANGLING if cut == end and is_cut else _JOINS)
        or sentence.words[cut - 1] in _CLOSED_DETERMINERS
        or sentence.words[cut - 1] in _DANGLING_WORDS
    ):
        cut -= 1
    return None if (cut <= start < end) or cut - start > longest else Range(start, cut)


def _first_doubt(sentence: Tagged, tags: str, start: int, end: int) -> int | None:
    """Return the end of what is sure: a mark that divides, or the conjunction before a verb that does not belong."""
    join = -1
    for index in range(start, end):
        tag = tags[index]
        if sentence.words[index] in _SEPARATORS and tag != Tag.QUOTE:
            return index if index > start else None
        if tag in _JOINS:
            join = index
        elif tag == Tag.SO and tags[index + 1 : index + 2] not in _AFTER_DEGREE:
            return index if index > start else None
        elif (tag in _FINITE and sentence.words[index] not in _NOT_FINITE) or (
            join == index - 1 >= start and _is_conjoined_verb(sentence, tag, index)
        ):
            before = tags[max(start, index - _LOOK_BACK) : index]
            if _LICENSED.search(before) is None and (index - start > _LOOK_BACK or _COMPLEMENT.match(before) is None):
                return join if join > start else None
    return end


def _is_conjoined_verb(sentence: Tagged, tag: str, index: int) -> bool:
    """Return whether a word after a conjunction is a verb without a subject: "from Leeds but live in York"."""
    return tag in _BASES or (tag == Tag.BASE_OR_NOUN and sentence.words[index] in _MOSTLY_VERB)


def needs_object(verb: str) -> bool:
    """Return whether a verb states nothing sure without an object: "he is", "they have"."""
    return verb in _NEEDS_OBJECT
