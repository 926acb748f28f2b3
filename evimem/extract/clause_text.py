"""The words of a clause: its object as far as it is sure, and an object that is a clause itself."""

from __future__ import annotations

from ..lang import ENGLISH
from .bounds import Range, object_range, predicate_end, whole_range
from .fact_text import Voice
from .grammar import ClauseSpan
from .sure_clauses import is_sure_subject, is_sure_verb
from .sure_objects import is_divided, sure_object
from .tag_letters import Tag, TagSet
from .tagging import Tagged
from .verb_senses import SAY, head

MAX_OBJECT = 28  # tokens

_NEEDS_OBJECT = frozenset(ENGLISH.words("predicates.senses.needs_object"))
_WITHOUT_OBJECT = frozenset(ENGLISH.words("predicates.senses.without_object"))
_SHARED_STATES = frozenset(ENGLISH.words("grammar.shared_states"))
_PERSONS = tuple(TagSet.PERSONS)
_NOUN_PHRASE = tuple(TagSet.NOUN_PHRASE)


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
        if stop < end and is_divided(tags, stop):
            place = Range(stop, stop)
        else:
            place = object_range(sentence, tags, stop, end)
            if place.start >= place.end:
                if Tag.TIME not in tags[stop:end] and self._is_empty(subject, verb, clause):
                    return None
                place = whole_range(sentence, tags, stop, end)
        sure = sure_object(sentence, tags, place, MAX_OBJECT)
        if sure is None:
            return None
        is_bare = sure.start >= sure.end and stop <= clause.end  # unlike "got engaged"
        if is_bare and (verb in _NEEDS_OBJECT or verb in SAY or self._is_empty(subject, verb, clause)):
            return None
        return sure

    def is_shared_state(self, clause: ClauseSpan, place: Range) -> bool:
        """Return whether "we" are something together that no one of them is: "we are friends"."""
        words = self._sentence.words
        return words[clause.subject] == "we" and not _SHARED_STATES.isdisjoint(words[place.start : place.start + 3])

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
        if not (stop < end and is_divided(tags, stop)):
            place = object_range(sentence, tags, stop, end)
            place = place if place.start < place.end else whole_range(sentence, tags, stop, end)
        sure = sure_object(sentence, tags, place, MAX_OBJECT)
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
        return subject in (Tag.SECOND_PERSON, Tag.THERE) or (subject in (Tag.IT, Tag.THAT) and verb == "be")
