"""The statements of a tagged sentence: each clause that asserts something as subject, predicate and object."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..lang import ENGLISH
from .clause_text import (
    ClauseText,
    Range,
    is_led_in,
    is_sure_subject,
    is_sure_verb,
    object_range,
    predicate_end,
    whole_range,
    with_time,
)
from .clauses import (
    EMBEDDED,
    FACTIVE,
    SAY,
    THINK,
    ClauseSpan,
    Hedge,
    Link,
    find_clauses,
    has_leading_phrase,
    head,
    hedge_before,
    hedge_in,
    is_hedged,
    kind_of,
    links,
    opening,
    with_hedges,
)
from .fact_text import Statement, Voice
from .tagging import Tag, Tagged, TagSet, lemma, letters, tag_pattern

_LEADING_FILLERS = letters("ADVERB INTERJECTION SYMBOL COMMA")
_SHARING = letters("BASES BE")
_UNCLEAR = letters("IT THAT THERE SECOND_PERSON FIRST_PERSON THIRD_PERSON")
_BEFORE_VERB = letters("ADVERB SO TIME")
_ABOUT_SPEAKER = frozenset(("me", "us"))
_FACTIVE_FEELINGS = frozenset(ENGLISH.words("predicates.senses.factive_feelings"))
_QUANTIFYING = frozenset(ENGLISH.words("grammar.before_quantifier"))
_QUANTIFIED = frozenset(letters("DETERMINER IT NAME PERSONS POSSESSIVE PLURAL"))
# verbs that open a statement of the speaker though they have the form of a request: "Love the new flat"
_OPENING = frozenset(ENGLISH.words("predicates.senses.opening"))
# after "let's": a verb, and later something it is about
_PROPOSAL = re.compile(
    tag_pattern(".. [BASE BASE_OR_NOUN PAST_OR_PARTICIPLE] (?= .* [NOUNS ADJECTIVE BASE_OR_NOUN TIME])")
)
_FINITE = letters("AUXILIARIES NOT GERUND")
_BEFORE_OPENING = letters("ADVERB INTERJECTION SYMBOL COMMA AND SO QUOTE")


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
        self._text = ClauseText(sentence, tags, voice)
        self._clauses = clauses
        self._links = connections
        self._condition: Range | None = None  # of the clause that is read, and of those that share its subject
        self._subject: _Subject | None = None
        self._auxiliary: Range | None = None
        self._hedge: Hedge | None = None
        self._is_hedged = is_hedged(sentence)

    def statements(self) -> list[Statement]:
        """Return a statement for each clause that asserts something and is understood for sure."""
        found: list[Statement] = []
        condition = None
        for index, link in enumerate(self._links):
            if link in EMBEDDED or link in ("aside", "unsure"):
                continue
            extent = Range(opening(self._tags, self._clauses, index), self._end(index))
            if link == "condition":
                condition = extent
                continue
            if self._clauses[index].role != "shared":
                self._condition, condition = condition, None
            self._subject = self._subject_of(index, extent.start)
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
        # "you should try it" is advice or a guess; of "I only wore it because" the reason is what is said
        is_advice = subject.tag == Tag.SECOND_PERSON and Tag.MODAL in tags[clause.verb : clause.end]
        is_for_a_reason = tags[extent.end : extent.end + 1] == Tag.SUBORDINATOR and "only" in predicate.split(" ")
        if not predicate or not subject.text or is_advice or is_for_a_reason:
            return None
        if clause.role == "shared":
            if self._auxiliary is not None and tags[clause.verb] in _SHARING:
                shared = self._voice.predicate(sentence, *self._auxiliary, first=first_person)
                predicate = _completed(predicate, shared)
                kind = kind_of(sentence, ClauseSpan("main", self._auxiliary.start, *self._auxiliary), verb)
        else:
            self._auxiliary = _auxiliary(tags, clause)
        if nested:
            place = object_range(sentence, tags, stop, extent.end)
            said = self._text.with_clause(clause, self._clauses[index + 1], predicate, extent.end, verb)
            if said is None:
                return None
            predicate, text = said
            kind = "report" if verb in SAY else kind
        else:
            found = self._text.object_of(subject.tag, clause, verb, stop, extent.end)
            if found is None:
                return None
            place, text = found, self._text.phrase(found)
            predicate = with_hedges(predicate, sentence.words[clause.verb : place.start])
        is_elliptic = clause.role == "dropped"
        if is_elliptic and not _ABOUT_SPEAKER.isdisjoint(sentence.words[place.start : place.end]):
            return None  # "rang me": somebody else did
        made = Statement(subject.text, predicate, text, (0, 0), (0, 0), kind, is_elliptic)
        return self._placed(made, clause, extent, max(place.end, stop))

    def _placed(self, made: Statement, clause: ClauseSpan, extent: Range, finish: int) -> Statement:
        """Add a leading phrase, condition and hedge to a statement, and find its characters."""
        sentence, tags = self._sentence, self._tags
        text, first = made.object, clause.subject
        if clause.role != "shared" and has_leading_phrase(sentence, tags, extent.start, first):
            lead = object_range(sentence, tags, extent.start, first)
            text, first = f"{text} {self._text.lower(lead)}".strip(), lead.start
        if self._condition is not None:
            condition = whole_range(sentence, tags, *self._condition)
            text, first = f"{text} {self._text.lower(condition)}".strip(), min(first, condition.start)
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

    def _presupposed(self, index: int, end: int) -> list[Statement]:
        """Return what "I realized that Ana moved" states besides the learning: that Ana moved."""
        if not self._is_content(index + 1):
            return []
        clause, inner = self._clauses[index], self._clauses[index + 1]
        certain = _is_certain(self._sentence, self._tags, clause, inner)
        if not certain or self._tags[inner.subject] in _UNCLEAR:
            return []
        subject = _Subject(self._voice.subject(self._sentence, inner.subject, inner.verb), "")
        statement = self._stated(index + 1, subject, Range(inner.subject, end))
        return [] if statement is None else [statement]


def _auxiliary(tags: str, clause: ClauseSpan) -> Range | None:
    """Return the tokens before the last verb of a group, which a conjoined verb shares."""
    infinitive = tags.find(Tag.TO, clause.verb, clause.end)
    last = min(infinitive + 1 if infinitive >= 0 else clause.end, clause.end - 1)
    shared = tags[last] in TagSet.BASES and tags[clause.verb : last].strip(_BEFORE_VERB) != ""
    return Range(clause.verb, last) if shared else None


def _is_certain(sentence: Tagged, tags: str, clause: ClauseSpan, inner: ClauseSpan) -> bool:
    """Return whether what a clause is about is a fact: "I realized that Ana moved", not "I heard that she did"."""
    verb, group = head(sentence, clause), tags[clause.verb : clause.end]
    feels = verb == "be" and not _FACTIVE_FEELINGS.isdisjoint(sentence.words[clause.end : inner.subject])
    return (verb in FACTIVE or feels) and Tag.NOT not in group and Tag.MODAL not in group


def _completed(predicate: str, shared: str) -> str:
    """Complete "join" in "wants to learn guitar and join a band" by what it shares: "wants to join"."""
    verb, *rest = predicate.split(" ")
    return " ".join([shared, "be" if verb == "is" else lemma(verb), *rest])


def read(sentence: Tagged, voice: Voice, limit: int | None = None) -> list[Statement]:
    """Return what the sentence (its first `limit` tokens) states, in order."""
    tags = sentence.tags if limit is None else sentence.tags[:limit]
    if sentence.words[:2] == ["let", "'s"]:
        return _proposed(sentence, tags, voice)
    if tags.lstrip(_BEFORE_OPENING)[:1] == Tag.QUESTION_WORD:  # "where you gonna go"
        return []
    clauses = find_clauses(tags)
    if not clauses:
        return []
    if clauses[0].role == "dropped" and not _is_about_speaker(sentence, clauses[0]):
        return []
    return statements_from(sentence, tags, clauses, links(sentence, tags, clauses), voice)


def statements_from(
    sentence: Tagged, tags: str, clauses: Sequence[ClauseSpan], connections: Sequence[Link], voice: Voice
) -> list[Statement]:
    """Return what clauses state, given how each is connected to what precedes it."""
    return SentenceReader(sentence, tags, clauses, connections, voice).statements()


def _is_about_speaker(sentence: Tagged, clause: ClauseSpan) -> bool:
    """Return whether a verb without a subject is the speaker's ("Went home", "Hope it works") and not a request."""
    tags = sentence.tags
    verb = lemma(sentence.words[clause.verb])
    if tags[clause.verb] in _FINITE:
        return tags[clause.verb] != Tag.BE or sentence.words[clause.verb] in ("been", "was")
    if verb != sentence.words[clause.verb]:
        return True
    is_clause = tags[clause.end : clause.end + 1] in (*TagSet.PERSONS, Tag.IT, Tag.THAT, *TagSet.DETERMINERS)
    return verb in _OPENING and (verb not in THINK or is_clause)


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
