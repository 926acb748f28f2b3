"""A tagged sentence read as statements: each clause that asserts, as subject, predicate and object in plain words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .grammar import Clause, find_clauses
from .links import EMBEDDED, Link, links, opening
from .plain import Voice
from .senses import GERUND, HOPE, KNOW, LIKE, SAY, THINK, Kind, head, kind_of
from .tags import Tagged
from .verbs import lemma

MAX_OBJECT = 28  # tokens

_BARE = frozenset(
    "know see mean guess think bet agree hope suppose thank remember imagine understand hear believe promise say".split()
)
_DROPPED = (LIKE | HOPE | THINK) - {"imagine", "consider", "find", "enjoy", "recommend"}
_PUNCTUATION = frozenset(",;._C")
_TRIM_LEFT, _TRIM_RIGHT = frozenset('R!,;."_Cs'), frozenset(',;."_C!WBs')
_TIME_AFTER = re.compile(r"[,R]*(?:[PQT][Dt]?)?~+(?:P[Dt]?~+)*[R,._]*$")
_PROPOSAL = re.compile(r"..[vwk](?=.*[NMUJw~])")
_PLACE = re.compile(r"[R!,C]*[PQ][DS]?[NMUJwg']{1,5},?[R,]*$")
_LAST_WORDS = frozenset("too also though anyway now".split())


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
    clauses = find_clauses(tags)
    if sentence.words[:2] == ["let", "'s"]:
        return _proposed(sentence, tags, voice)
    if not clauses or (clauses[0].role == "dropped" and not _speaks(sentence, clauses[0])):
        return []
    return _Reading(sentence, tags, clauses, voice).statements()


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
    clause = Clause("dropped", 0, 2, found.end())
    statements = _Reading(sentence, tags, [clause], voice).statements()
    return [made._replace(predicate=_suggested(made.predicate), kind="plan") for made in statements if made.object]


def _suggested(predicate: str) -> str:
    verb, *rest = predicate.split(" ")
    return " ".join(["suggests to", lemma(verb), *rest])


class _Reading:
    """The clauses of one sentence, walked from left to right."""

    def __init__(self, sentence: Tagged, tags: str, clauses: Sequence[Clause], voice: Voice) -> None:
        self._sentence = sentence
        self._tags = tags
        self._voice = voice
        self._clauses = clauses
        self._links: list[Link] = links(sentence, tags, clauses)
        self._condition: tuple[int, int] | None = None
        self._subject: _Subject | None = None
        self._auxiliary: tuple[int, int] | None = None

    def statements(self) -> list[Statement]:
        """Return one statement a clause that asserts."""
        found: list[Statement] = []
        for index, link in enumerate(self._links):
            if link in EMBEDDED or link == "aside":
                continue
            begin, end = opening(self._tags, self._clauses, index), self._end(index)
            if link == "condition":
                self._condition = (begin, end)
                continue
            self._subject = self._subject_of(self._clauses[index])
            if self._subject is None:
                continue
            statement = self._stated(index, self._subject, begin, end)
            if statement is not None:
                found.append(statement)
                found += self._known(index, end)
        return found

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

    def _stated(self, index: int, subject: _Subject, begin: int, end: int) -> Statement | None:
        clause, tags = self._clauses[index], self._tags
        verb = head(self._sentence, clause)
        nested = index + 1 if self._links[index + 1 : index + 2] == ["content"] else None
        stop = clause.end if nested is not None else self._predicate_end(clause, verb, end)
        first = subject.tag == "i"
        predicate = self._voice.predicate(self._sentence, clause.verb, stop, first=first)
        kind = kind_of(self._sentence, clause, verb)
        if clause.role == "shared":
            predicate, kind = self._shared(predicate, kind, clause, first=first)
        else:
            self._auxiliary = _auxiliary(tags, clause)
        start, finish = self._trimmed(stop, end)
        if nested is not None:
            predicate, text = self._reported(nested, predicate, end, verb)
            kind = "report" if verb in SAY else kind
        elif start < finish:
            text = self._voice.phrase(self._sentence, start, min(finish, start + MAX_OBJECT))
        elif "~" not in tags[stop:end] and self._is_phrase(subject, verb, clause):
            return None
        else:
            start, finish = self._trimmed(stop, end, keep=True)
            text = self._voice.phrase(self._sentence, start, finish)
        return self._placed(clause, begin, max(finish, stop), end, subject.text, predicate, text, kind)

    def _placed(  # noqa: PLR0913
        self, clause: Clause, begin: int, finish: int, end: int, subject: str, predicate: str, text: str, kind: Kind
    ) -> Statement:
        """Add to a statement what leads it in, and find its characters."""
        sentence, tags = self._sentence, self._tags
        first = clause.subject
        if clause.role != "shared" and _PLACE.match(tags[begin:first]):
            lead = self._trimmed(begin, first)
            text, first = f"{text} {self._lower(*lead)}".strip(), lead[0]
        if self._condition is not None:
            since, until = self._trimmed(*self._condition, opener=True)
            text, first = f"{text} {self._lower(since, until)}".strip(), min(first, since)
            self._condition = None
        after = _TIME_AFTER.match(tags, finish, end)
        last = after.end() if after is not None else finish
        while last > clause.end and tags[last - 1] in ",;._C":
            last -= 1
        while first < clause.verb and tags[first] in "R!_,":
            first += 1
        ranges = sentence.ranges
        span = (ranges[first][0], ranges[last - 1][1])
        scope = (ranges[begin][0], ranges[max(end, last) - 1][1])
        return Statement(subject, predicate, text, span, scope, kind)

    def _lower(self, since: int, until: int) -> str:
        phrase = self._voice.phrase(self._sentence, since, until)
        return phrase if self._tags[since] == "M" else phrase[:1].lower() + phrase[1:]

    def _shared(self, predicate: str, kind: Kind, clause: Clause, *, first: bool) -> tuple[str, Kind]:
        """Give "join" in "wants to learn guitar and join a band" what it shares: "wants to join"."""
        if self._auxiliary is None or self._tags[clause.verb] not in "vwLb":
            return predicate, kind
        start, end = self._auxiliary
        shared = self._voice.predicate(self._sentence, start, end, first=first)
        verb, *rest = predicate.split(" ")
        return " ".join([shared, "be" if verb == "is" else lemma(verb), *rest]), kind_of(
            self._sentence, Clause("main", start, start, end), verb
        )

    def _reported(self, nested: int, predicate: str, end: int, verb: str) -> tuple[str, str]:
        """Return predicate and object where the object is a clause: (said he lost, his job), (thinks, it works)."""
        tags, voice, inner = self._tags, self._voice, self._clauses[nested]
        listener = self._trimmed(self._clauses[nested - 1].end, inner.subject)
        heard = voice.phrase(self._sentence, *listener).removesuffix("that").strip()
        predicate = f"{predicate} {heard}".strip()
        stop = self._predicate_end(inner, head(self._sentence, inner), end)
        who = voice.subject(self._sentence, inner.subject, inner.verb)
        said = voice.predicate(self._sentence, inner.verb, stop, first=tags[inner.subject : inner.verb] == "i")
        start, finish = self._trimmed(stop, end)
        if start >= finish:
            start, finish = self._trimmed(stop, end, keep=True)
        rest = voice.phrase(self._sentence, start, min(finish, start + MAX_OBJECT))
        if verb in SAY and rest and tags[inner.subject : inner.verb] in ("e", "i"):
            return f"{predicate} {who} {said}", rest
        return predicate, f"{who} {said} {rest}".strip()

    def _known(self, index: int, end: int) -> list[Statement]:
        """Return what "I heard that Ana moved" states besides the hearing: that Ana moved."""
        if self._links[index + 1 : index + 2] != ["content"]:
            return []
        clause, inner = self._clauses[index], self._clauses[index + 1]
        verb = head(self._sentence, clause)
        if (
            not (verb in KNOW or verb == "be")
            or self._tags[inner.subject] in "tqxyie"
            or "n" in self._tags[clause.verb : clause.end]
        ):
            return []
        subject = _Subject(self._voice.subject(self._sentence, inner.subject, inner.verb), "")
        known = self._stated(index + 1, subject, inner.subject, end)
        return [] if known is None else [known]

    def _predicate_end(self, clause: Clause, verb: str, end: int) -> int:
        """Return where the predicate ends: after a gerund, a particle and the prepositions that the object follows."""
        tags, words = self._tags, self._sentence.words
        at = clause.end
        if (
            tags[at : at + 1] == "g"
            and verb in GERUND
            and tags[at + 1 : at + 2] not in (("", ".", ",", "C", "~") if verb != "go" else ("", "."))
        ) or (verb == "get" and tags[at : at + 1] in ("k", "p")):
            at += 1
        if tags[at - 1] != "b":
            while at < end and tags[at] == "r":
                at += 1
        mark = at
        while mark < end and mark - at < 2 and (tags[mark] in "PT" or words[mark] == "as"):
            mark += 1
        dated = tags[mark : mark + 1] == "~" or (
            tags[mark : mark + 1] in ("D", "t") and tags[mark + 1 : mark + 2] == "~"
        )
        return at if mark >= end or dated or tags[mark] in ".,;CBWgq" else mark

    def _trimmed(self, start: int, end: int, *, keep: bool = False, opener: bool = False) -> tuple[int, int]:
        """Return tokens [start, end) without the fillers, punctuation and time expressions around them.

        `keep` leaves adverbs and times, `opener` the conjunction that opens a condition.
        """
        tags, words = self._tags, self._sentence.words
        left, right = (_PUNCTUATION, _PUNCTUATION) if keep else (_PUNCTUATION if opener else _TRIM_LEFT, _TRIM_RIGHT)
        while start < end and tags[start] in left:
            start += 1
        while end > start and (tags[end - 1] in right or words[end - 1] in _LAST_WORDS):
            end -= 1
        if not keep and "~" in tags[start:end]:
            after = _TIME_AFTER.search(tags, start, end)
            if after is not None:
                return self._trimmed(start, after.start(), opener=opener)
            while start < end and tags[start] == "~":
                start += 1
        return start, end

    def _is_phrase(self, subject: _Subject, verb: str, clause: Clause) -> bool:
        """Return whether a clause without an object says nothing: "I know", "you see", "that is", "I will"."""
        return (
            verb in _BARE
            or subject.tag in ("y", "x")
            or (subject.tag in ("t", "q") and verb == "be")
            or self._tags[clause.end - 1] in "mdhb"
        )


def _auxiliary(tags: str, clause: Clause) -> tuple[int, int] | None:
    """Return the tokens before the last verb of a group, which a conjoined verb shares."""
    infinitive = tags.find("T", clause.verb, clause.end)
    last = infinitive + 1 if infinitive >= 0 else clause.end - 1
    return (
        (clause.verb, last)
        if last > clause.verb and tags[last] in "vwL" and tags[clause.verb : last].strip("Rs~")
        else None
    )
