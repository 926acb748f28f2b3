"""The words of a clause as far as they are sure: its subject and verb, and its object up to where doubt begins."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..lang import ENGLISH
from .clauses import GERUND, SAY, ClauseSpan, head
from .fact_text import Voice
from .tagging import Tag, Tagged, TagSet, lemma, letters, tag_pattern

NOT_ITS_TIME = frozenset(ENGLISH.words("grammar.not_its_time"))
"""Words before a time at which a clause did not happen: "until Friday"."""
_FILLERS = frozenset(ENGLISH.words("grammar.filler_adverbs"))
_PUNCTUATION = frozenset(letters("COMMA BREAK END SYMBOL AND"))
_BEFORE_OBJECT = frozenset(letters("ADVERB INTERJECTION COMMA BREAK END SYMBOL AND SO"))
_AFTER_OBJECT = frozenset(letters("COMMA BREAK END SYMBOL AND INTERJECTION QUESTION_WORD SUBORDINATOR SO"))
_CLOSING_WORDS = frozenset(ENGLISH.words("grammar.closing_words"))
_ADDRESSED = re.compile(tag_pattern("COMMA NAME+ [END INTERJECTION SYMBOL]* $"))  # "That is a good idea, Ben!"
_TIME_AFTER = re.compile(
    tag_pattern(
        """
        [COMMA ADVERB]* (?: [PREPOSITION PREPOSITION_OR_CONJUNCTION TO] [DETERMINER IT]? )? TIME+
        (?: PREPOSITION [DETERMINER IT]? TIME+ )* [ADVERB COMMA END SYMBOL]* $
        """
    )
)
_PREPOSITIONS = letters("PREPOSITION TO")
_GRADED = frozenset(letters("ADJECTIVE ADVERB PARTICIPLES NOUN"))
_NOT_AN_OBJECT = letters("END COMMA BREAK AND SUBORDINATOR QUESTION_WORD GERUND THAT")
_MAX_PREPOSITIONS = 2
_NEGATED_BEFORE = 3  # tokens before an adverb in which a "not" denies it: "is not really happy"
_CLOSED_DETERMINERS = frozenset(ENGLISH.words("grammar.closed_determiners"))
_DIRECTIONS = frozenset(ENGLISH.words("grammar.directions"))
_STATIVE = frozenset(ENGLISH.words("grammar.stative_participles"))
_ECHOES = frozenset(("nor", "neither", "so"))
_REQUESTING = frozenset(ENGLISH.words("grammar.requesting"))
_WAYS_OF_THINGS = frozenset(ENGLISH.words("grammar.ways_of_things"))
_BRACKETS = frozenset("()[]{}")
_LISTS_GO_ON = frozenset(("", *letters("END COMMA AND")))
_ENDS = _LISTS_GO_ON | frozenset(letters("BREAK"))
_NO_SUBJECTS = frozenset(("neither", "no"))
_AFTER_UNCLEAR = _ENDS | frozenset(letters("PREPOSITION"))
_BEFORE_INFINITIVE = frozenset(ENGLISH.words("predicates.senses.before_infinitive"))
_PLURAL_FORMS = frozenset(ENGLISH.words("grammar.plural_auxiliaries"))
_FEELINGS = frozenset(ENGLISH.words("grammar.feelings_without_verb"))
_VERBS = frozenset(letters("AUXILIARIES PAST S_FORM BASE"))
_DETERMINERS = TagSet.DETERMINERS + Tag.IT
_NOMINATIVES = (Tag.FIRST_PERSON, Tag.THIRD_PERSON)
_RELATIVES = frozenset(letters("QUESTION_WORD THAT PERSONS"))
_NEVER_LAST = frozenset(letters("APOSTROPHE PREPOSITION AND ADVERB COMMA TO THAT QUESTION_WORD"))
_PRONOUNS = frozenset(letters("PERSONS IT THAT THERE"))
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

_SEPARATORS = frozenset(ENGLISH.words("grammar.separators"))
_DANGLING_WORDS = frozenset(ENGLISH.words("grammar.dangling_words"))
_DIVIDERS = frozenset(letters("COMMA BREAK AND END"))
_MOSTLY_VERB = frozenset(ENGLISH.words("verbs.mostly_verb"))
_AFTER_DEGREE = frozenset(("", *letters("ADJECTIVE ADVERB END COMMA PAST_OR_PARTICIPLE GERUND")))
_NOT_FINITE = frozenset(("be", "been", "being"))
_BEFORE_EMPHASIS = frozenset(letters("IT OBJECT NOUNS"))
_ANOTHER_SUBJECT = frozenset(letters("PERSONS IT THERE DETERMINERS NAME"))
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

MAX_OBJECT = 28  # tokens

_NEEDS_OBJECT = frozenset(ENGLISH.words("predicates.senses.needs_object"))
_WITHOUT_OBJECT = frozenset(ENGLISH.words("predicates.senses.without_object"))
_PERSONS = tuple(TagSet.PERSONS)
_NOUN_PHRASE = tuple(TagSet.NOUN_PHRASE)


class Range(NamedTuple):
    """A half-open range of tokens."""

    start: int
    end: int


def object_range(sentence: Tagged, tags: str, start: int, end: int) -> Range:
    """Return tokens [start, end) without the fillers, punctuation and time expressions around them."""
    words = sentence.words
    while start < end and _is_before_object(sentence, tags, start, end):
        start += 1
    addressed = _ADDRESSED.search(tags, start, end)
    end = end if addressed is None else addressed.start()
    while end > start and (tags[end - 1] in _AFTER_OBJECT or words[end - 1] in _CLOSING_WORDS):
        end -= 1
    if Tag.TIME not in tags[start:end]:
        return Range(start, end)
    after = _TIME_AFTER.search(tags, start, end)
    if after is not None and not NOT_ITS_TIME.isdisjoint(words[after.start() : after.end()]):
        return Range(start, end)  # "better than yesterday", "away until Friday"
    if after is not None:
        return object_range(sentence, tags, start, after.start())
    while start < end and tags[start] == Tag.TIME:
        start += 1
    if tags[start : start + 1] == Tag.APOSTROPHE:  # "today's workshop"
        start += 1
    return Range(start, start if tags[start : start + 1] == Tag.COMMA else end)


def _is_before_object(sentence: Tagged, tags: str, at: int, end: int) -> bool:
    """Return whether a token stands before the object and is no part of it: "really" in "I am really tired".

    Adverbs of manner and degree are part of it: "well at the launch", "nearly 400 euros", "not very happy".
    """
    if _is_degree(sentence, tags, at, end):
        return False
    if tags[at] != Tag.ADVERB:
        return tags[at] in _BEFORE_OBJECT
    if sentence.words[at] not in _FILLERS or Tag.NOT in tags[max(0, at - _NEGATED_BEFORE) : at]:
        return at + 1 < end and tags[at + 1] == Tag.TIME
    return True


def _is_degree(sentence: Tagged, tags: str, at: int, end: int) -> bool:
    """Return whether "so" or "too" says how far: "never so tired", "too hot to think", "so hard that it broke"."""
    if tags[at] != Tag.SO or tags[at + 1 : at + 2] not in _GRADED:
        return False
    is_measured = Tag.TO in tags[at + 2 : end] or Tag.THAT in tags[at + 2 : end]
    return sentence.words[at] == "too" or is_measured or Tag.NOT in tags[max(0, at - _NEGATED_BEFORE) : at]


def whole_range(sentence: Tagged, tags: str, start: int, end: int) -> Range:
    """Return tokens [start, end) without the punctuation around them; adverbs and times stay: "late", "last week"."""
    while start < end and tags[start] in _PUNCTUATION:
        start += 1
    while end > start and (tags[end - 1] in _PUNCTUATION or sentence.words[end - 1] in _CLOSING_WORDS):
        end -= 1
    return Range(start, end)


def with_time(tags: str, start: int, end: int) -> int:
    """Return the end of the time expression that starts at `start` and reaches to `end`, or else `start`."""
    after = _TIME_AFTER.match(tags, start, end)
    last = after.end() if after is not None else start
    while last > start and tags[last - 1] in _PUNCTUATION:
        last -= 1
    return last


def predicate_end(sentence: Tagged, tags: str, clause: ClauseSpan, verb: str, end: int) -> int:
    """Return where the predicate ends: after a gerund, particles, and the prepositions before the object."""
    at = clause.end
    following = tags[at : at + 1]
    is_gerund = following == Tag.GERUND and verb in GERUND and _has_complement(tags, at + 1, verb)
    is_passive = following in tuple(TagSet.PARTICIPLES) and verb == "get"
    if is_gerund or is_passive:
        at += 1
    if tags[at - 1] != Tag.BE:
        while at < end and tags[at] == Tag.PARTICLE:
            at += 1
        if tags[at - 1] == Tag.PARTICLE and verb == "end" and tags[at : at + 1] == Tag.GERUND:  # "ended up staying"
            at += 1
    after = at  # the prepositions
    last = min(end, at + _MAX_PREPOSITIONS)
    while after < last and (tags[after] in _PREPOSITIONS or sentence.words[after] == "as"):
        after += 1
    if after >= end or _is_time(tags, after) or tags[after] in _NOT_AN_OBJECT:
        return at
    return after


def _is_time(tags: str, at: int) -> bool:
    """Return whether a time expression starts here, with or without a determiner."""
    determiner = tags[at : at + 1] in (Tag.DETERMINER, Tag.IT)
    return tags[at : at + 1] == Tag.TIME or (determiner and tags[at + 1 : at + 2] == Tag.TIME)


def _has_complement(tags: str, at: int, verb: str) -> bool:
    """Return whether something follows a gerund, so that it is not itself the object: "started learning Greek"."""
    following = tags[at : at + 1]
    return following not in ("", Tag.END) and (verb == "go" or following not in (Tag.COMMA, Tag.AND, Tag.TIME))


def is_led_in(tags: str, clause: ClauseSpan) -> bool:
    """Return whether the first clause of a sentence begins at its subject: not "I met" in "The friend I met"."""
    return not clause.subject or _LED_IN.search(tags[: clause.subject]) is not None


def is_sure_subject(sentence: Tagged, tags: str, start: int, end: int) -> bool:
    """Return whether tokens [start, end) are one whole noun phrase."""
    found, last = tags[start:end], sentence.words[end - 1]
    if end - start == 1:
        return last not in _NO_SUBJECTS and last not in _CLOSED_DETERMINERS and found != Tag.POSSESSIVE
    return _is_sure_phrase(sentence, found, start, end)


def _is_sure_phrase(sentence: Tagged, found: str, start: int, end: int) -> bool:
    first, last = found[:1], sentence.words[end - 1]
    word = sentence.words[start]
    opens_wrong = word == "whose" or word in _FEELINGS  # "Glad work is going well"
    if opens_wrong or first == Tag.NOT or not _BRACKETS.isdisjoint(sentence.words[start:end]):
        return False
    if found == Tag.THAT + Tag.IT or (found[-1] in TagSet.PERSONS and found[-2] != Tag.AND):
        return False  # "After that it went wrong", "no way you did it"
    has_relative = not _RELATIVES.isdisjoint(found[1:])
    ends_relative = has_relative and found[-1] in (Tag.ADVERB, Tag.PREPOSITION)  # "the company I work for"
    if (found[-1] in _NEVER_LAST and not ends_relative) or last in _CLOSED_DETERMINERS:
        return found[-1] == Tag.COMMA and found.count(Tag.COMMA) == 2
    if Tag.COMMA in found and Tag.AND not in found:
        return False
    return has_relative or _VERBS.isdisjoint(found)


def is_sure_verb(sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    """Return whether the verb of a clause is no noun or adjective: not "night shifts mostly", "two doors dented"."""
    group, following = tags[clause.verb : clause.end], tags[clause.end : clause.end + 1]
    is_modal_alone = group.strip(TagSet.QUALIFIERS) == Tag.MODAL  # "we'd all get comfy"
    word = sentence.words[clause.verb]
    is_echo = clause.role == "shared" and sentence.words[clause.verb - 1] in _ECHOES  # "nor is Ana"
    is_request = clause.role == "shared" and not _REQUESTING.isdisjoint(sentence.words[clause.subject : clause.end])
    if is_modal_alone or is_echo or is_request or (word == "'s" and _is_fixed(sentence, group, following, clause)):
        return False
    if tags[clause.subject] == Tag.GERUND and word in _PLURAL_FORMS:
        return False  # "friendship and chasing dreams were explored"
    if clause.role == "dropped":
        return _is_sure_without_subject(sentence, tags, clause)
    if group.lstrip(TagSet.QUALIFIERS) != group[-1] or clause.role == "shared":
        return True
    if group[-1] == Tag.S_FORM_OR_PLURAL:
        return _is_sure_s_form(tags, clause)
    return group[-1] != Tag.PAST_OR_PARTICIPLE or _is_sure_past(sentence, tags, clause)


def _is_sure_s_form(tags: str, clause: ClauseSpan) -> bool:
    """Return whether a word like "shifts" is a verb after its subject: not "night shifts mostly"."""
    before, following = tags[clause.verb - 1], tags[clause.end : clause.end + 1]
    if before in _PRONOUNS:
        return True
    is_noun_phrase = tags[clause.subject] in _DETERMINERS or before == Tag.NAME
    return before not in _NEVER_BEFORE_S and (is_noun_phrase or following in _TRANSITIVE_SIGNS)


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
    is_phrase = first in _DETERMINERS and before != Tag.DETERMINER  # unlike the 17 of "17 sold"
    if is_phrase or before in (Tag.NAME, Tag.TIME):
        return True
    return following not in _ENDS and not is_named


def _is_fixed(sentence: Tagged, group: str, following: str, clause: ClauseSpan) -> bool:
    """Return whether "'s" may be "is" or "has": "he's fixed", but not "he's moved", "he's married", "he's fixed it"."""
    word = sentence.words[clause.end - 1]
    unclear = group[0] == Tag.BE and group[-1] == Tag.PAST_OR_PARTICIPLE and following in _AFTER_UNCLEAR
    return unclear and word not in _STATIVE


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
        return is_directed or following in (Tag.PREPOSITION, Tag.OBJECT)
    return is_directed if verb in TagSet.PARTICIPLES else True


def sure_object(sentence: Tagged, tags: str, place: Range) -> Range | None:
    """Return the part of an object before the first doubt, None where nothing sure is left of it."""
    start, end = place
    if tags[start : start + 1] in _NOMINATIVES:
        return None  # "I move we take it"
    cut = _first_doubt(sentence, tags, start, end)
    if cut is None:
        return None
    comma = tags.find(Tag.COMMA, start, cut)
    if comma > start and _LIST.match(tags[start:cut]) is None:
        if _INSERTED.match(tags, comma, cut) is not None:
            return None  # "my mother, who turned seventy, a camera"
        cut = comma
    return _trimmed(sentence, tags, place, cut)


def _trimmed(sentence: Tagged, tags: str, place: Range, cut: int) -> Range | None:
    """Return an object up to `cut` without the words at its end that belong to what was cut off."""
    start, end = place
    is_cut = cut < end or tags[end : end + 1] == Tag.TIME  # else "the same as being looked after" is whole
    dangling = _DANGLING if is_cut and cut == end else _JOINS
    if is_cut and _OPEN_THAT.search(tags, start, cut) is not None:
        return None
    while cut > start and (
        tags[cut - 1] in dangling
        or sentence.words[cut - 1] in _CLOSED_DETERMINERS
        or sentence.words[cut - 1] in _DANGLING_WORDS
    ):
        cut -= 1
    is_reflexive = tags[cut - 1] == Tag.OBJECT and sentence.words[cut - 1].endswith(("self", "selves"))
    if cut - start > 1 and is_reflexive and tags[cut - 2] in _BEFORE_EMPHASIS:
        cut -= 1  # "bought it myself"
    return None if cut <= start < end else Range(start, cut)


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
        elif (tag in _FINITE and sentence.words[index] not in _NOT_FINITE) or (
            join == index - 1 >= start and _is_conjoined_verb(sentence, tag, index)
        ):
            before = tags[max(start, index - _LOOK_BACK) : index]
            if _LICENSED.search(before) is None and _COMPLEMENT.match(before) is None:
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


class ClauseText:
    """Writes ranges of the tokens of one sentence as its speaker's."""

    def __init__(self, sentence: Tagged, tags: str, voice: Voice) -> None:
        self._sentence = sentence
        self._tags = tags
        self._voice = voice

    def phrase(self, place: Range) -> str:
        """Return a range as text."""
        return self._voice.phrase(self._sentence, place.start, min(place.end, place.start + MAX_OBJECT))

    def lower(self, place: Range) -> str:
        """Return a range as text, without the capital that only opens the sentence."""
        phrase = self.phrase(place)
        return phrase if self._tags[place.start] == Tag.NAME else phrase[:1].lower() + phrase[1:]

    def object_of(self, subject: str, clause: ClauseSpan, verb: str, stop: int, end: int) -> Range | None:
        """Return the sure part of the object in [stop, end), empty for a verb without one; `subject` is a tag or "".

        None where the clause states nothing.
        """
        sentence, tags = self._sentence, self._tags
        is_reply = sentence.words[stop : stop + 1] == ["no"] and tags[stop + 1 : stop + 2] not in _NOUN_PHRASE
        if verb in SAY and (tags[stop : stop + 1] == Tag.INTERJECTION or is_reply):
            return None  # "said yes to the plan", "said no for now"
        if stop < end and tags[stop] in _DIVIDERS:
            place = Range(stop, stop)
        else:
            place = object_range(sentence, tags, stop, end)
            if place.start >= place.end:
                if Tag.TIME not in tags[stop:end] and self._is_empty(subject, verb, clause):
                    return None
                place = whole_range(sentence, tags, stop, end)
        sure = sure_object(sentence, tags, place)
        if sure is None:
            return None
        is_bare = sure.start >= sure.end and stop <= clause.end  # unlike "got engaged"
        if is_bare and (verb in _NEEDS_OBJECT or verb in SAY or self._is_empty(subject, verb, clause)):
            return None
        return sure

    def with_clause(
        self, outer: ClauseSpan, inner: ClauseSpan, predicate: str, end: int, verb: str
    ) -> tuple[str, str] | None:
        """Return predicate and object for an object that is a clause: (said he lost, his job), (thinks, it works)."""
        sentence, tags = self._sentence, self._tags
        if not is_sure_subject(sentence, tags, inner.subject, inner.verb) or not is_sure_verb(sentence, tags, inner):
            return None
        listener = self.phrase(object_range(sentence, tags, outer.end, inner.subject))
        predicate = f"{predicate} {listener.removesuffix('that').strip()}".strip()
        stop = predicate_end(sentence, tags, inner, head(sentence, inner), end)
        who = self._voice.subject(sentence, inner.subject, inner.verb)
        whose = tags[inner.subject : inner.verb]
        said = self._voice.predicate(sentence, inner.verb, stop, first=whose == Tag.FIRST_PERSON)
        place = Range(stop, stop)
        if stop >= end or tags[stop] not in _DIVIDERS:
            place = object_range(sentence, tags, stop, end)
            place = place if place.start < place.end else whole_range(sentence, tags, stop, end)
        sure = sure_object(sentence, tags, place)
        if sure is None:
            return None
        rest = self.phrase(sure)
        if verb in SAY and rest and whose in _PERSONS:
            return f"{predicate} {who} {said}", rest
        return predicate, f"{who} {said} {rest}".strip()

    def _is_empty(self, subject: str, verb: str, clause: ClauseSpan) -> bool:
        """Return whether a clause without an object states nothing: "I know", "you see", "that is", "I will"."""
        if verb in _WITHOUT_OBJECT or self._tags[clause.end - 1] in TagSet.AUXILIARIES:
            return True
        return subject in (Tag.SECOND_PERSON, Tag.THERE)
