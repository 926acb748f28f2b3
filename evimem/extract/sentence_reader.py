"""The clauses of one sentence as statements: who each is about, its predicate, and the sure part of its object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..lang import ENGLISH
from .bounds import Range, object_range, predicate_end, whole_range, with_time
from .fact_draft import Statement
from .fact_text import Voice
from .grammar import ClauseSpan
from .lead_in import Hedge, has_leading_phrase, hedge_before, hedge_in, is_hedged
from .links import EMBEDDED, Link, opening
from .sure import is_divided, is_led_in, is_sure_subject, is_sure_verb, needs_object, sure_object
from .tag_letters import Tag, TagSet, letters
from .tagging import Tagged
from .verb_senses import FACTIVE, SAY, Kind, head, kind_of
from .verbs import lemma

MAX_OBJECT = 28  # tokens

_WITHOUT_OBJECT = frozenset(ENGLISH.words("predicates.senses.without_object"))
_LEADING_FILLERS = letters("ADVERB INTERJECTION SYMBOL COMMA")
_SHARING = letters("BASES BE")
_UNCLEAR = letters("IT THAT THERE SECOND_PERSON FIRST_PERSON THIRD_PERSON")
_PERSONS = tuple(TagSet.PERSONS)
_BEFORE_VERB = letters("ADVERB SO TIME")
_JOINED = frozenset(letters("QUESTION_WORD THAT SUBORDINATOR PREPOSITION_OR_CONJUNCTION AND"))
_SHARED_STATES = frozenset(ENGLISH.words("grammar.shared_states"))
_ABOUT_SPEAKER = frozenset(("me", "us"))
_FACTIVE_FEELINGS = frozenset(ENGLISH.words("predicates.senses.factive_feelings"))
_QUANTIFYING = frozenset(ENGLISH.words("grammar.before_quantifier"))
_QUANTIFIED = frozenset(letters("DETERMINER IT NAME PERSONS POSSESSIVE PLURAL"))


class _Subject(NamedTuple):
    """Who a clause is about, and the tag of a subject that is one word."""

    text: str
    tag: str


class SentenceReader:
    """Reads the clauses of one sentence from left to right."""

    def __init__(
        self, sentence: Tagged, tags: str, clauses: Sequence[ClauseSpan], connections: Sequence[Link], voice: Voice
    ) -> None:
        self._sentence = sentence
        self._tags = tags
        self._voice = voice
        self._clauses = clauses
        self._links = connections
        self._condition: Range | None = None
        self._subject: _Subject | None = None
        self._auxiliary: Range | None = None
        self._hedge: Hedge | None = None
        self._is_hedged = is_hedged(sentence)

    def statements(self) -> list[Statement]:
        """Return a statement for each clause that asserts something and is understood for sure."""
        found: list[Statement] = []
        unsure = False
        for index, link in enumerate(self._links):
            if link in EMBEDDED or link in ("aside", "unsure"):
                continue
            extent = Range(opening(self._tags, self._clauses, index), self._end(index))
            if link == "condition":
                self._condition, unsure = extent, self._holds_a_clause(index)
                continue
            if unsure:  # "While I'm gone you call Cheryl, she's in Dartmouth"
                self._condition, unsure = None, False
                continue
            self._subject = self._subject_of(index, extent.start)
            statement = None if self._subject is None else self._stated(index, self._subject, extent)
            if statement is not None:
                found.append(statement)
                found += self._presupposed(index, extent.end)
        return found

    def _holds_a_clause(self, condition: int) -> bool:
        """Return whether a clause follows that nothing joins to this condition: it may be what the condition is of."""
        after = condition + 1
        while after < len(self._links) and self._links[after] in EMBEDDED:
            gap = self._tags[self._clauses[after - 1].end : self._clauses[after].subject]
            if self._links[after] == "part" and _JOINED.isdisjoint(gap):
                return True
            after += 1
        return False

    def _is_content(self, index: int) -> bool:
        return index < len(self._links) and self._links[index] == "content"

    def _end(self, index: int) -> int:
        """Return where clause `index` ends: at the next clause that is not embedded in it."""
        after = index + 1
        while after < len(self._links) and self._links[after] in EMBEDDED:
            after += 1
        return opening(self._tags, self._clauses, after) if after < len(self._links) else len(self._tags)

    def _subject_of(self, index: int, start: int) -> _Subject | None:
        """Return the subject of a clause; None where it, or its verb, is unsure."""
        clause, tags = self._clauses[index], self._tags
        if not is_sure_verb(self._sentence, tags, clause):
            return None
        if clause.role == "shared":
            return self._subject
        self._hedge = hedge_before(self._sentence, start, clause) if self._is_hedged else None
        if clause.role == "dropped":
            return _Subject(self._voice.name, Tag.FIRST_PERSON)
        if not index and not is_led_in(tags, clause):
            return None
        start = clause.subject
        while start < clause.verb - 1 and tags[start] in _LEADING_FILLERS:
            start += 1
        if not is_sure_subject(self._sentence, tags, start, clause.verb):
            return None
        quantified = start and self._sentence.words[start - 1] in _QUANTIFYING and tags[start] in _QUANTIFIED
        tag = tags[start] if clause.verb == start + 1 and not quantified else ""
        text = self._voice.subject(self._sentence, start, clause.verb)
        if quantified:  # "hardly anyone", "not all of us"
            text = f"{self._sentence.words[start - 1]} {text}"
        return _Subject(text, tag)

    def _stated(self, index: int, subject: _Subject, extent: Range) -> Statement | None:
        clause, sentence, tags = self._clauses[index], self._sentence, self._tags
        verb = head(sentence, clause)
        kind = kind_of(sentence, clause, verb)
        nested = self._is_content(index + 1)
        stop = clause.end if nested else predicate_end(sentence, tags, clause, verb, extent.end)
        first_person = subject.tag == Tag.FIRST_PERSON
        predicate = self._voice.predicate(sentence, clause.verb, stop, first=first_person)
        if not predicate or not subject.text:
            return None
        if clause.role == "shared":
            predicate, kind = self._with_auxiliary(predicate, kind, clause, first=first_person)
        else:
            self._auxiliary = _auxiliary(tags, clause)
        if nested:
            place = object_range(sentence, tags, stop, extent.end)
            said = self._with_clause(index + 1, predicate, extent.end, verb)
            if said is None:
                return None
            predicate, text = said
            kind = "report" if verb in SAY else kind
        else:
            found = self._object(subject, clause, verb, stop, extent.end)
            if found is None or (verb == "be" and self._is_shared_state(clause, found)):
                return None
            place, text = found, self._phrase(found)
        is_elliptic = clause.role == "dropped"
        if is_elliptic and not _ABOUT_SPEAKER.isdisjoint(sentence.words[place.start : place.end]):
            return None  # "rang me": somebody else did
        made = Statement(subject.text, predicate, text, (0, 0), (0, 0), kind, is_elliptic)
        return self._placed(made, clause, extent, max(place.end, stop))

    def _object(self, subject: _Subject, clause: ClauseSpan, verb: str, stop: int, end: int) -> Range | None:
        """Return the sure part of the object, empty for a verb without one; None where the clause states nothing."""
        sentence, tags = self._sentence, self._tags
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
        if is_bare and (needs_object(verb) or verb in SAY or self._is_empty(subject, verb, clause)):
            return None
        return sure

    def _is_shared_state(self, clause: ClauseSpan, place: Range) -> bool:
        """Return whether "we" are something together that no one of them is: "we are friends"."""
        words = self._sentence.words
        return words[clause.subject] == "we" and not _SHARED_STATES.isdisjoint(words[place.start : place.start + 3])

    def _placed(self, made: Statement, clause: ClauseSpan, extent: Range, finish: int) -> Statement:
        """Add a leading phrase, condition and hedge to a statement, and find its characters."""
        sentence, tags = self._sentence, self._tags
        text, first = made.object, clause.subject
        if clause.role != "shared" and has_leading_phrase(sentence, tags, extent.start, first):
            lead = object_range(sentence, tags, extent.start, first)
            text, first = f"{text} {self._lower(lead)}".strip(), lead.start
        if self._condition is not None:
            condition = whole_range(sentence, tags, *self._condition)
            text, first = f"{text} {self._lower(condition)}".strip(), min(first, condition.start)
            self._condition = None
        last = with_time(tags, finish, extent.end)
        while first < clause.verb and tags[first] in _LEADING_FILLERS:
            first += 1
        ranges = sentence.ranges
        span = (ranges[first][0], ranges[last - 1][1])
        scope = (ranges[extent.start][0], ranges[max(extent.end, last) - 1][1])
        predicate, kind = made.predicate, made.kind
        if self._hedge is not None:
            predicate, kind = f"{self._hedge.word} {predicate}", self._hedge.kind
        inside = hedge_in(predicate) if self._is_hedged else None
        kind = inside.kind if inside is not None else kind
        return Statement(made.subject, predicate, text, span, scope, kind, made.elliptic)

    def _phrase(self, place: Range) -> str:
        return self._voice.phrase(self._sentence, place.start, min(place.end, place.start + MAX_OBJECT))

    def _lower(self, place: Range) -> str:
        phrase = self._phrase(place)
        return phrase if self._tags[place.start] == Tag.NAME else phrase[:1].lower() + phrase[1:]

    def _with_auxiliary(self, predicate: str, kind: Kind, clause: ClauseSpan, *, first: bool) -> tuple[str, Kind]:
        """Complete "join" in "wants to learn guitar and join a band" by what it shares: "wants to join"."""
        if self._auxiliary is None or self._tags[clause.verb] not in _SHARING:
            return predicate, kind
        start, end = self._auxiliary
        shared = self._voice.predicate(self._sentence, start, end, first=first)
        verb, *rest = predicate.split(" ")
        base = "be" if verb == "is" else lemma(verb)
        return " ".join([shared, base, *rest]), kind_of(self._sentence, ClauseSpan("main", start, start, end), verb)

    def _with_clause(self, nested: int, predicate: str, end: int, verb: str) -> tuple[str, str] | None:
        """Return predicate and object for an object that is a clause: (said he lost, his job), (thinks, it works)."""
        sentence, tags, inner = self._sentence, self._tags, self._clauses[nested]
        if not is_sure_subject(sentence, tags, inner.subject, inner.verb):
            return None
        listener = self._phrase(object_range(sentence, tags, self._clauses[nested - 1].end, inner.subject))
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
        rest = self._phrase(sure)
        if verb in SAY and rest and whose in _PERSONS:
            return f"{predicate} {who} {said}", rest
        return predicate, f"{who} {said} {rest}".strip()

    def _presupposed(self, index: int, end: int) -> list[Statement]:
        """Return what "I realized that Ana moved" states besides the learning: that Ana moved."""
        if not self._is_content(index + 1):
            return []
        clause, inner = self._clauses[index], self._clauses[index + 1]
        verb = head(self._sentence, clause)
        feels = verb == "be" and not _FACTIVE_FEELINGS.isdisjoint(self._sentence.words[clause.end : inner.subject])
        certain = (verb in FACTIVE or feels) and Tag.NOT not in self._tags[clause.verb : clause.end]
        if not certain or Tag.MODAL in self._tags[clause.verb : clause.end] or self._tags[inner.subject] in _UNCLEAR:
            return []
        subject = _Subject(self._voice.subject(self._sentence, inner.subject, inner.verb), "")
        statement = self._stated(index + 1, subject, Range(inner.subject, end))
        return [] if statement is None else [statement]

    def _is_empty(self, subject: _Subject, verb: str, clause: ClauseSpan) -> bool:
        """Return whether a clause without an object states nothing: "I know", "you see", "that is", "I will"."""
        if verb in _WITHOUT_OBJECT or self._tags[clause.end - 1] in TagSet.AUXILIARIES:
            return True
        return subject.tag in (Tag.SECOND_PERSON, Tag.THERE) or (subject.tag in (Tag.IT, Tag.THAT) and verb == "be")


def _auxiliary(tags: str, clause: ClauseSpan) -> Range | None:
    """Return the tokens before the last verb of a group, which a conjoined verb shares."""
    infinitive = tags.find(Tag.TO, clause.verb, clause.end)
    last = min(infinitive + 1 if infinitive >= 0 else clause.end, clause.end - 1)
    shared = tags[last] in TagSet.BASES and tags[clause.verb : last].strip(_BEFORE_VERB) != ""
    return Range(clause.verb, last) if shared else None
