"""A tagged sentence read as statements: each clause that asserts, as subject, predicate and object in plain words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .bounds import Range, object_range, predicate_end, whole_range, with_time
from .fact_text import Voice
from .grammar import Clause, find_clauses
from .links import EMBEDDED, Link, links, opening
from .tagging import Tagged
from .verb_senses import HOPE, KNOW, LIKE, SAY, THINK, Kind, head, kind_of
from .verbs import lemma

MAX_OBJECT = 28  # tokens

_BARE = frozenset(
    "know see mean guess think bet agree hope suppose thank remember imagine understand hear believe say".split()
)
_DROPPED = (LIKE | HOPE | THINK) - {"imagine", "consider", "find", "enjoy", "recommend"}
_PROPOSAL = re.compile(r"..[vwk](?=.*[NMUJw~])")
_PHRASES = frozenset("way note fact course sure least honest addition case speaking".split())
_LEAD = re.compile(r"[R!,C]*[PQ][DS]?[NMUJwg']{1,5},?[R,]*$")


class Statement(NamedTuple):
    """One fact before it has an identity: plain words, its characters, and the characters that may hold its time."""

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
    if not clauses or (clauses[0].role == "dropped" and not _speaks(sentence, clauses[0])):
        return []
    return told(sentence, tags, clauses, links(sentence, tags, clauses), voice)


def told(sentence: Tagged, tags: str, clauses: Sequence[Clause], how: Sequence[Link], voice: Voice) -> list[Statement]:
    """Return what clauses that hang together `how` state, whoever found them."""
    return _Reading(sentence, tags, clauses, how, voice).statements()


def _speaks(sentence: Tagged, clause: Clause) -> bool:
    """Return whether a verb without a subject is said of the speaker ("Went home", "Hope it works"), not an order."""
    tags = sentence.tags
    if "T" in tags[clause.verb : clause.end] or tags[clause.verb] in "mhbngd":
        return tags[clause.verb] != "b" or sentence.words[clause.verb] in ("been", "was")
    verb = head(sentence, clause)
    return verb in _DROPPED or verb != sentence.words[clause.end - 1]


def _proposed(sentence: Tagged, tags: str, voice: Voice) -> list[Statement]:
    """Return what "Let's meet at the station on Friday" proposes, when it says more than "Let's go!"."""
    found = _PROPOSAL.match(tags)
    if found is None:
        return []
    made = told(sentence, tags, [Clause("dropped", 0, 2, found.end())], ["main"], voice)
    return [
        statement._replace(predicate=_suggested(statement.predicate), kind="plan")
        for statement in made
        if statement.object
    ]


def _suggested(predicate: str) -> str:
    verb, *rest = predicate.split(" ")
    return " ".join(["suggests to", lemma(verb), *rest])


class _Reading:
    """The clauses of one sentence, walked from left to right."""

    def __init__(
        self, sentence: Tagged, tags: str, clauses: Sequence[Clause], how: Sequence[Link], voice: Voice
    ) -> None:
        self._sentence = sentence
        self._tags = tags
        self._voice = voice
        self._clauses = clauses
        self._links = how
        self._condition: Range | None = None
        self._subject: _Subject | None = None
        self._auxiliary: Range | None = None

    def statements(self) -> list[Statement]:
        """Return one statement a clause that asserts."""
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
                found += self._known(index, extent.end)
        return found

    def _is_content(self, index: int) -> bool:
        return index < len(self._links) and self._links[index] == "content"

    def _end(self, index: int) -> int:
        """Return where clause `index` ends: at the next one that is not a part of it."""
        after = index + 1
        while after < len(self._links) and self._links[after] in EMBEDDED:
            after += 1
        return opening(self._tags, self._clauses, after) if after < len(self._links) else len(self._tags)

    def _subject_of(self, clause: Clause) -> _Subject | None:
        if clause.role == "shared":
            return self._subject
        if clause.role == "dropped":
            return _Subject(self._voice.name, "i")
        tag = self._tags[clause.subject] if clause.verb == clause.subject + 1 else ""
        return _Subject(self._voice.subject(self._sentence, clause.subject, clause.verb), tag)

    def _stated(self, index: int, subject: _Subject, extent: Range) -> Statement | None:
        clause, sentence = self._clauses[index], self._sentence
        verb = head(sentence, clause)
        kind = kind_of(sentence, clause, verb)
        nested = self._is_content(index + 1)
        stop = clause.end if nested else predicate_end(sentence, self._tags, clause, verb, extent.end)
        predicate = self._voice.predicate(sentence, clause.verb, stop, first=subject.tag == "i")
        if not predicate or not subject.text:
            return None
        if clause.role == "shared":
            predicate, kind = self._shared(predicate, kind, clause, first=subject.tag == "i")
        else:
            self._auxiliary = _auxiliary(self._tags, clause)
        if nested:
            predicate, text = self._reported(index + 1, predicate, extent.end, verb)
            kind = "report" if verb in SAY else kind
            place = object_range(sentence, self._tags, stop, extent.end)
        else:
            place = object_range(sentence, self._tags, stop, extent.end)
            if place.start >= place.end:
                if "~" not in self._tags[stop : extent.end] and self._is_phrase(subject, verb, clause):
                    return None
                place = whole_range(sentence, self._tags, stop, extent.end)
            text = self._phrase(place)
        made = Statement(subject.text, predicate, text, (0, 0), (0, 0), kind)
        return self._placed(made, clause, extent, max(place.end, stop))

    def _placed(self, made: Statement, clause: Clause, extent: Range, finish: int) -> Statement:
        """Add to a statement what leads it in, and find its characters."""
        sentence, tags = self._sentence, self._tags
        text, first = made.object, clause.subject
        if clause.role != "shared" and _leads(sentence, tags, extent.start, first):
            lead = object_range(sentence, tags, extent.start, first)
            text, first = f"{text} {self._lower(lead)}".strip(), lead.start
        if self._condition is not None:
            condition = whole_range(sentence, tags, *self._condition)
            text, first = f"{text} {self._lower(condition)}".strip(), min(first, condition.start)
            self._condition = None
        last = with_time(tags, finish, extent.end)
        while first < clause.verb and tags[first] in "R!_,":
            first += 1
        ranges = sentence.ranges
        span = (ranges[first][0], ranges[last - 1][1])
        scope = (ranges[extent.start][0], ranges[max(extent.end, last) - 1][1])
        return Statement(made.subject, made.predicate, text, span, scope, made.kind)

    def _phrase(self, place: Range) -> str:
        return self._voice.phrase(self._sentence, place.start, min(place.end, place.start + MAX_OBJECT))

    def _lower(self, place: Range) -> str:
        phrase = self._phrase(place)
        return phrase if self._tags[place.start] == "M" else phrase[:1].lower() + phrase[1:]

    def _shared(self, predicate: str, kind: Kind, clause: Clause, *, first: bool) -> tuple[str, Kind]:
        """Give "join" in "wants to learn guitar and join a band" what it shares: "wants to join"."""
        if self._auxiliary is None or self._tags[clause.verb] not in "vwLb":
            return predicate, kind
        start, end = self._auxiliary
        shared = self._voice.predicate(self._sentence, start, end, first=first)
        verb, *rest = predicate.split(" ")
        base = "be" if verb == "is" else lemma(verb)
        return " ".join([shared, base, *rest]), kind_of(self._sentence, Clause("main", start, start, end), verb)

    def _reported(self, nested: int, predicate: str, end: int, verb: str) -> tuple[str, str]:
        """Return predicate and object where the object is a clause: (said he lost, his job), (thinks, it works)."""
        sentence, tags, inner = self._sentence, self._tags, self._clauses[nested]
        listener = self._phrase(object_range(sentence, tags, self._clauses[nested - 1].end, inner.subject))
        predicate = f"{predicate} {listener.removesuffix('that').strip()}".strip()
        stop = predicate_end(sentence, tags, inner, head(sentence, inner), end)
        who = self._voice.subject(sentence, inner.subject, inner.verb)
        whose = tags[inner.subject : inner.verb]
        said = self._voice.predicate(sentence, inner.verb, stop, first=whose == "i")
        place = object_range(sentence, tags, stop, end)
        rest = self._phrase(place if place.start < place.end else whole_range(sentence, tags, stop, end))
        if verb in SAY and rest and whose in ("e", "i", "y"):
            return f"{predicate} {who} {said}", rest
        return predicate, f"{who} {said} {rest}".strip()

    def _known(self, index: int, end: int) -> list[Statement]:
        """Return what "I heard that Ana moved" states besides the hearing: that Ana moved."""
        if not self._is_content(index + 1):
            return []
        clause, inner = self._clauses[index], self._clauses[index + 1]
        verb = head(self._sentence, clause)
        doubted = not (verb in KNOW or verb == "be") or "n" in self._tags[clause.verb : clause.end]
        if doubted or self._tags[inner.subject] in "tqxyie":
            return []
        subject = _Subject(self._voice.subject(self._sentence, inner.subject, inner.verb), "")
        known = self._stated(index + 1, subject, Range(inner.subject, end))
        return [] if known is None else [known]

    def _is_phrase(self, subject: _Subject, verb: str, clause: Clause) -> bool:
        """Return whether a clause without an object says nothing: "I know", "you see", "that is", "I will"."""
        hollow = verb in _BARE or self._tags[clause.end - 1] in "mdhb"
        return hollow or subject.tag in ("y", "x") or (subject.tag in ("t", "q") and verb == "be")


def _leads(sentence: Tagged, tags: str, start: int, end: int) -> bool:
    """Return whether tokens [start, end) say where or why, before the subject: "In Porto," but not "By the way,"."""
    found = _LEAD.match(tags[start:end])
    return found is not None and _PHRASES.isdisjoint(sentence.words[start:end])


def _auxiliary(tags: str, clause: Clause) -> Range | None:
    """Return the tokens before the last verb of a group, which a conjoined verb shares."""
    infinitive = tags.find("T", clause.verb, clause.end)
    last = min(infinitive + 1 if infinitive >= 0 else clause.end, clause.end - 1)
    return Range(clause.verb, last) if tags[last] in "vwL" and tags[clause.verb : last].strip("Rs~") else None
