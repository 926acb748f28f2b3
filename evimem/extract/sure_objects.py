"""The part of an object that was understood for sure: it ends where doubt begins."""

from __future__ import annotations

import re

from ..lang import ENGLISH
from .bounds import Range
from .tag_letters import Tag, TagSet, letters, tag_pattern
from .tagging import Tagged

_SEPARATORS = frozenset(ENGLISH.words("grammar.separators"))
_CLOSED_DETERMINERS = frozenset(ENGLISH.words("grammar.closed_determiners"))
_DANGLING_WORDS = frozenset(ENGLISH.words("grammar.dangling_words"))
_DIVIDERS = frozenset(letters("COMMA BREAK AND END"))
_MOSTLY_VERB = frozenset(ENGLISH.words("verbs.mostly_verb"))
_AFTER_DEGREE = frozenset(("", *letters("ADJECTIVE ADVERB END COMMA PAST_OR_PARTICIPLE GERUND")))
_NOT_FINITE = frozenset(("be", "been", "being"))
_OPENING_BRACKETS = ("(", "[")
_BEFORE_EMPHASIS = frozenset(letters("IT OBJECT NOUNS"))
_ANOTHER_SUBJECT = frozenset(letters("PERSONS IT THERE DETERMINERS NAME"))
_THERE_IS = Tag.THERE + Tag.BE
_NOMINATIVES = (Tag.FIRST_PERSON, Tag.THIRD_PERSON)
_AFTER_DIVIDING_SO = (*TagSet.BASES, *TagSet.PERSONS)
_JOINS = frozenset(letters("COMMA AND"))
_FINITE = frozenset(letters("AUXILIARIES PAST S_FORM"))
_BASES = frozenset(letters("BASE"))
_DANGLING = frozenset(letters("PREPOSITION PREPOSITION_OR_CONJUNCTION TO AND COMMA"))
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


def is_divided(tags: str, at: int) -> bool:
    """Return whether the object of a verb cannot start at this token: "came through, so make that signed"."""
    return tags[at] in _DIVIDERS or (tags[at] == Tag.SO and tags[at + 1 : at + 2] in _AFTER_DIVIDING_SO)


def sure_object(sentence: Tagged, tags: str, place: Range, longest: int) -> Range | None:
    """Return the part of an object before the first doubt, None where nothing sure is left of it."""
    start, end = place
    if tags[start : start + 1] in _NOMINATIVES or tags.startswith(_THERE_IS, start, end):
        return None  # "I move we take it", "Everywhere you go there's music"
    if start < end and tags[end - 1] == Tag.PREPOSITION and tags[end : end + 1] == Tag.QUESTION_WORD:
        return None  # "typing with what"
    cut = _first_doubt(sentence, tags, start, end)
    if cut is None:
        return None
    comma = tags.find(Tag.COMMA, start, cut)
    if comma > start and _LIST.match(tags[start:cut]) is None:
        if _INSERTED.match(tags, comma, cut) is not None:
            return None  # "my mother, who turned seventy, a camera"
        cut = comma
    return _trimmed(sentence, tags, place, cut, longest)


def _trimmed(sentence: Tagged, tags: str, place: Range, cut: int, longest: int) -> Range | None:
    """Return an object up to `cut` without the words at its end that belong to what was cut off."""
    start, end = place
    is_cut = cut < end or tags[end : end + 1] == Tag.TIME  # else "the same as being looked after" is whole
    is_broken_off = is_cut and (cut == end or sentence.words[cut] in _OPENING_BRACKETS)
    if is_cut and _OPEN_THAT.search(tags, start, cut) is not None:
        return None
    while cut > start and (
        tags[cut - 1] in (_DANGLING if is_broken_off else _JOINS)
        or sentence.words[cut - 1] in _CLOSED_DETERMINERS
        or sentence.words[cut - 1] in _DANGLING_WORDS
    ):
        cut -= 1
    is_reflexive = tags[cut - 1] == Tag.OBJECT and sentence.words[cut - 1].endswith(("self", "selves"))
    if cut - start > 1 and is_reflexive and tags[cut - 2] in _BEFORE_EMPHASIS:
        cut -= 1  # "bought it myself"
    return None if (cut <= start < end) or cut - start > longest else Range(start, cut)


def _first_doubt(sentence: Tagged, tags: str, start: int, end: int) -> int | None:
    """Return the end of what is sure: a mark that divides, or the conjunction before a verb that does not belong."""
    join = -1
    for index in range(start, end):
        tag = tags[index]
        if (sentence.words[index] in _SEPARATORS and tag != Tag.QUOTE) or _opens_another(sentence, tags, index):
            return index if index > start else None
        if tag in _JOINS:
            join = index
        elif tag == Tag.SO and tags[index + 1 : index + 2] not in _AFTER_DEGREE:
            return index if index > start else None
        elif tag == Tag.PAST_OR_PARTICIPLE and join == index - 2 >= start and tags[index - 1] == Tag.NAME:
            return join if join > start else None  # "but Priit looked"
        elif (tag in _FINITE and sentence.words[index] not in _NOT_FINITE) or (
            join == index - 1 >= start and _is_conjoined_verb(sentence, tag, index)
        ):
            before = tags[max(start, index - _LOOK_BACK) : index]
            if _LICENSED.search(before) is None and (index - start > _LOOK_BACK or _COMPLEMENT.match(before) is None):
                return join if join > start else None
    return end


def _opens_another(sentence: Tagged, tags: str, index: int) -> bool:
    """Return whether something else begins here: "14k wtf", "no meat and that I drink tea", "late gonna run"."""
    if tags[index] == Tag.INTERJECTION:
        return True
    if sentence.words[index] == "gon":  # of "gonna"
        return tags[index - 1] != Tag.BE
    return tags[index : index + 2] == Tag.AND + Tag.THAT and tags[index + 2 : index + 3] in _ANOTHER_SUBJECT


def _is_conjoined_verb(sentence: Tagged, tag: str, index: int) -> bool:
    """Return whether a word after a conjunction is a verb without a subject: "from Leeds but live in York"."""
    return tag in _BASES or (tag == Tag.BASE_OR_NOUN and sentence.words[index] in _MOSTLY_VERB)
