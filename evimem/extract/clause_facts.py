"""The statements of a tagged sentence: each clause that asserts something as subject, predicate and object."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..lang import ENGLISH
from .bounds import Range, object_range, predicate_end, whole_range, with_time
from .fact_text import Voice
from .grammar import ClauseSpan, find_clauses
from .links import EMBEDDED, Link, links, opening
from .tag_letters import Tag, TagSet, letters, tag_pattern
from .tagging import Tagged
from .verb_senses import HOPE, KNOW, LIKE, SAY, THINK, Kind, head, kind_of
from .verbs import lemma

MAX_OBJECT = 28  # tokens

_WITHOUT_OBJECT = frozenset(ENGLISH.words("predicates.senses.without_object"))
_DROPPED = (LIKE | HOPE | THINK).difference(ENGLISH.words("predicates.senses.not_dropped"))
_PHRASE_WORDS = frozenset(ENGLISH.words("grammar.phrase_words"))
# after "let's": a verb, and later something it is about
_PROPOSAL = re.compile(
    tag_pattern(".. [BASE BASE_OR_NOUN PAST_OR_PARTICIPLE] (?= .* [NOUNS ADJECTIVE BASE_OR_NOUN TIME])")
)
# "In Porto,", "After my holiday,"
_LEADING_PHRASE = re.compile(
    tag_pattern(
        """
        [ADVERB INTERJECTION COMMA AND]* [PREPOSITION PREPOSITION_OR_CONJUNCTION] DETERMINERS?
        [NOUNS ADJECTIVE BASE_OR_NOUN GERUND APOSTROPHE]{1,5} COMMA? [ADVERB COMMA]* $
        """
    )
)
_FINITE = letters("AUXILIARIES NOT GERUND")
_LEADING_FILLERS = letters("ADVERB INTERJECTION SYMBOL COMMA")
_SHARING = letters("BASES BE")
_UNCLEAR = letters("IT THAT THERE SECOND_PERSON FIRST_PERSON THIRD_PERSON")
_PERSONS = tuple(TagSet.PERSONS)
_BEFORE_VERB = letters("ADVERB SO TIME")


class Statement(NamedTuple):
    """A fact before it has an id: its texts, its characters (`span`), and those that may hold its time (`scope`)."""

    subject: str
    predicate: str
    object: str
    span: tuple[int, int]
    scope: tuple[int, int]
    kind: Kind


class _Subject(NamedTuple):
    """Who a clause is about, and the tag of a subject that is one word."""

    text: str
    tag: str


def read(sentence: Tagged, voice: Voice, limit: int | None = None) -> list[Statement]:
    """Return what the sentence (its first `limit` tokens) states, in order."""
    tags = sentence.tags if limit is None else sentence.tags[:limit]
    if sentence.words[:2] == ["let", "'s"]:
        return _proposed(sentence, tags, voice)
    clauses = find_clauses(tags)
    if not clauses or (clauses[0].role == "dropped" and not _is_about_speaker(sentence, clauses[0])):
        return []
    return statements_from(sentence, tags, clauses, links(sentence, tags, clauses), voice)


def statements_from(
    sentence: Tagged, tags: str, clauses: Sequence[ClauseSpan], connections: Sequence[Link], voice: Voice
) -> list[Statement]:
    """Return what clauses state, given how each is connected to what precedes it."""
    return _SentenceReader(sentence, tags, clauses, connections, voice).statements()


def _is_about_speaker(sentence: Tagged, clause: ClauseSpan) -> bool:
    """Return whether a verb without a subject is the speaker's ("Went home", "Hope it works") and not a request."""
    tags = sentence.tags
    if Tag.TO in tags[clause.verb : clause.end] or tags[clause.verb] in _FINITE:
        return tags[clause.verb] != Tag.BE or sentence.words[clause.verb] in ("been", "was")
    verb = head(sentence, clause)
    return verb in _DROPPED or verb != sentence.words[clause.end - 1]


def _proposed(sentence: Tagged, tags: str, voice: Voice) -> list[Statement]:
    """Return what "Let's meet at the station on Friday" proposes; nothing for one without an object: "Let's go!"."""
    found = _PROPOSAL.match(tags)
    if found is None:
        return []
    made = statements_from(sentence, tags, [ClauseSpan("dropped", 0, 2, found.end())], ["main"], voice)
    return [
        statement._replace(predicate=_suggested(statement.predicate), kind="plan")
        for statement in made
        if statement.object
    ]


def _suggested(predicate: str) -> str:
    verb, *rest = predicate.split(" ")
    return " ".join(["suggests to", lemma(verb), *rest])


class _SentenceReader:
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

    def statements(self) -> list[Statement]:
        """Return a statement for each clause that asserts something."""
        found: list[Statement] = []
        for index, link in enumerate(self._links):
            if link in EMBEDDED or link == "aside":
                continue
            extent = Range(opening(self._tags, self._clauses, index), self._end(index))
            if link == "condition":
                self._condition = extent
                continue
            self._subject = self._subject_of(self._clauses[index])
            statement = None if self._subject is None else self._stated(index, self._subject, extent)
            if statement is not None:
                found.append(statement)
                found += self._presupposed(index, extent.end)
        return found

    def _is_content(self, index: int) -> bool:
        return index < len(self._links) and self._links[index] == "content"

    def _end(self, index: int) -> int:
        """Return where clause `index` ends: at the next clause that is not embedded in it."""
        after = index + 1
        while after < len(self._links) and self._links[after] in EMBEDDED:
            after += 1
        return opening(self._tags, self._clauses, after) if after < len(self._links) else len(self._tags)

    def _subject_of(self, clause: ClauseSpan) -> _Subject | None:
        if clause.role == "shared":
            return self._subject
        if clause.role == "dropped":
            return _Subject(self._voice.name, Tag.FIRST_PERSON)
        tag = self._tags[clause.subject] if clause.verb == clause.subject + 1 else ""
        return _Subject(self._voice.subject(self._sentence, clause.subject, clause.verb), tag)

    def _stated(self, index: int, subject: _Subject, extent: Range) -> Statement | None:
        clause, sentence = self._clauses[index], self._sentence
        verb = head(sentence, clause)
        kind = kind_of(sentence, clause, verb)
        nested = self._is_content(index + 1)
        stop = clause.end if nested else predicate_end(sentence, self._tags, clause, verb, extent.end)
        first_person = subject.tag == Tag.FIRST_PERSON
        predicate = self._voice.predicate(sentence, clause.verb, stop, first=first_person)
        if not predicate or not subject.text:
            return None
        if clause.role == "shared":
            predicate, kind = self._with_auxiliary(predicate, kind, clause, first=first_person)
        else:
            self._auxiliary = _auxiliary(self._tags, clause)
        place = object_range(sentence, self._tags, stop, extent.end)
        if nested:
            predicate, text = self._with_clause(index + 1, predicate, extent.end, verb)
            kind = "report" if verb in SAY else kind
        else:
            if place.start >= place.end:
                if Tag.TIME not in self._tags[stop : extent.end] and self._is_empty(subject, verb, clause):
                    return None
                place = whole_range(sentence, self._tags, stop, extent.end)
            text = self._phrase(place)
        made = Statement(subject.text, predicate, text, (0, 0), (0, 0), kind)
        return self._placed(made, clause, extent, max(place.end, stop))

    def _placed(self, made: Statement, clause: ClauseSpan, extent: Range, finish: int) -> Statement:
        """Add a leading phrase and condition to the object of a statement, and find its characters."""
        sentence, tags = self._sentence, self._tags
        text, first = made.object, clause.subject
        if clause.role != "shared" and _has_leading_phrase(sentence, tags, extent.start, first):
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
        return Statement(made.subject, made.predicate, text, span, scope, made.kind)

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

    def _with_clause(self, nested: int, predicate: str, end: int, verb: str) -> tuple[str, str]:
        """Return predicate and object for an object that is a clause: (said he lost, his job), (thinks, it works)."""
        sentence, tags, inner = self._sentence, self._tags, self._clauses[nested]
        listener = self._phrase(object_range(sentence, tags, self._clauses[nested - 1].end, inner.subject))
        predicate = f"{predicate} {listener.removesuffix('that').strip()}".strip()
        stop = predicate_end(sentence, tags, inner, head(sentence, inner), end)
        who = self._voice.subject(sentence, inner.subject, inner.verb)
        whose = tags[inner.subject : inner.verb]
        said = self._voice.predicate(sentence, inner.verb, stop, first=whose == Tag.FIRST_PERSON)
        place = object_range(sentence, tags, stop, end)
        rest = self._phrase(place if place.start < place.end else whole_range(sentence, tags, stop, end))
        if verb in SAY and rest and whose in _PERSONS:
            return f"{predicate} {who} {said}", rest
        return predicate, f"{who} {said} {rest}".strip()

    def _presupposed(self, index: int, end: int) -> list[Statement]:
        """Return what "I heard that Ana moved" states besides the hearing: that Ana moved."""
        if not self._is_content(index + 1):
            return []
        clause, inner = self._clauses[index], self._clauses[index + 1]
        verb = head(self._sentence, clause)
        certain = (verb in KNOW or verb == "be") and Tag.NOT not in self._tags[clause.verb : clause.end]
        if not certain or self._tags[inner.subject] in _UNCLEAR:
            return []
        subject = _Subject(self._voice.subject(self._sentence, inner.subject, inner.verb), "")
        statement = self._stated(index + 1, subject, Range(inner.subject, end))
        return [] if statement is None else [statement]

    def _is_empty(self, subject: _Subject, verb: str, clause: ClauseSpan) -> bool:
        """Return whether a clause without an object states nothing: "I know", "you see", "that is", "I will"."""
        if verb in _WITHOUT_OBJECT or self._tags[clause.end - 1] in TagSet.AUXILIARIES:
            return True
        return subject.tag in (Tag.SECOND_PERSON, Tag.THERE) or (subject.tag in (Tag.IT, Tag.THAT) and verb == "be")


def _has_leading_phrase(sentence: Tagged, tags: str, start: int, end: int) -> bool:
    """Return whether tokens [start, end) say where or why, before the subject: "In Porto," but not "By the way,"."""
    found = _LEADING_PHRASE.match(tags[start:end])
    return found is not None and _PHRASE_WORDS.isdisjoint(sentence.words[start:end])


def _auxiliary(tags: str, clause: ClauseSpan) -> Range | None:
    """Return the tokens before the last verb of a group, which a conjoined verb shares."""
    infinitive = tags.find(Tag.TO, clause.verb, clause.end)
    last = min(infinitive + 1 if infinitive >= 0 else clause.end, clause.end - 1)
    shared = tags[last] in TagSet.BASES and tags[clause.verb : last].strip(_BEFORE_VERB) != ""
    return Range(clause.verb, last) if shared else None
