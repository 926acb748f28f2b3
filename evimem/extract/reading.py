"""A tagged sentence read as statements: clauses joined to their subjects, objects, conditions and reported content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .grammar import Clause, find_clauses
from .plain import Voice, clean
from .tags import Tagged
from .verbs import lemma

Kind = Literal["event", "state", "opinion", "plan", "report", "image", "statement"]

MAX_OBJECT = 28  # tokens

THINK = frozenset("think believe guess suppose feel reckon doubt bet imagine assume consider find agree suspect".split())
LIKE = frozenset("like love hate prefer enjoy adore dislike appreciate admire miss mind recommend favor despise".split())
HOPE = frozenset("hope wish want plan intend aim dream need expect decide hop aspire".split())
SAY = frozenset(
    "say tell claim mention report announce admit explain add promise reply swear insist warn suggest complain argue confess "
    "text write email ask".split()
)
KNOW = frozenset("know realize realise learn hear see notice remember forget discover show mean understand notice read".split())
_COMPLEMENT = THINK | HOPE | SAY | KNOW | frozenset(("ensure", "make sure", "convince", "prove"))
_GERUND = frozenset("start begin keep stop quit finish go continue resume try consider avoid give spend come".split())
_STATIVE = frozenset(
    "be have live know own belong work study need cost seem mean contain include depend weigh sound look speak play stay wear remain "
    "like love".split()
)
_BARE = frozenset("know see mean guess think bet agree hope suppose thank remember imagine understand hear believe promise".split())
_CONDITIONS = frozenset(("if", "unless", "whether", "whenever"))
_CONNECTOR = re.compile(r'[,;CBQWqs!"_][R~,;CBQWqs!"_]*$')
_CONTENT = re.compile(r"[Rn]*(?:o|S|M|[DS][NMUJ]{1,3})?q?[R~!,]*$")
_ADJECTIVE = re.compile(r"[Rns]*[JNk]q?$")
_TRIM_LEFT, _TRIM_RIGHT = frozenset('R!,;."_Cs'), frozenset(',;."_C!WBqs')
_TAIL_TIME = re.compile(r"[,R]*[PQ]?D?~+[R,.!_]*$")


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact before it has an identity: plain words, its characters, and the characters that may hold its time."""

    subject: str
    predicate: str
    object: str
    span: tuple[int, int]
    scope: tuple[int, int]
    kind: Kind


@dataclass(frozen=True, slots=True)
class _Subject:
    """Who a clause is about; `letter` is the tag of its last token."""

    text: str
    letter: str
    start: int


def read(sentence: Tagged, voice: Voice, limit: int | None = None) -> list[Statement]:
    """Return what the sentence (its first `limit` tokens) states, in order."""
    tags = sentence.tags if limit is None else sentence.tags[:limit]
    clauses = find_clauses(tags)
    if not clauses:
        return []
    return _Reading(sentence, tags, clauses, voice).statements()


class _Reading:
    """The clauses of one sentence, walked from left to right."""

    def __init__(self, sentence: Tagged, tags: str, clauses: Sequence[Clause], voice: Voice) -> None:
        self._sentence = sentence
        self._tags = tags
        self._voice = voice
        self._links = _links(sentence, tags, clauses)
        self._clauses = clauses
        self._condition: tuple[int, int] | None = None
        self._subject: _Subject | None = None
        self._auxiliary: tuple[int, int] | None = None

    def statements(self) -> list[Statement]:
        found: list[Statement] = []
        for index, link in enumerate(self._links):
            if link in ("relative", "content"):
                continue
            begin, end = self._bounds(index)
            if link == "condition":
                self._condition = (begin, end)
                continue
            statement = self._statement(index, begin, end)
            if statement is not None:
                found.append(statement)
                found += self._known(index, end)
        return found

    def _bounds(self, index: int) -> tuple[int, int]:
        """Return the tokens of clause `index`: from after the clause before it to the start of the one after it."""
        after = index + 1
        while after < len(self._links) and self._links[after] in ("relative", "content"):
            after += 1
        begin = _opening(self._tags, self._clauses, index)
        end = _opening(self._tags, self._clauses, after) if after < len(self._links) else len(self._tags)
        if after < len(self._links) and self._links[after] == "condition" and after + 1 == len(self._links):
            end = len(self._tags)  # "I will move if I get the job": the condition stays in the object
        return begin, end

    def _statement(self, index: int, begin: int, end: int) -> Statement | None:
        clause = self._clauses[index]
        subject = self._subject_of(clause)
        if subject is None:
            return None
        self._subject = subject
        return self._made(index, subject, begin, end)

    def _subject_of(self, clause: Clause) -> _Subject | None:
        if clause.role == "shared":
            return self._subject
        if clause.role == "dropped":
            return _Subject(self._voice.name, "i", clause.verb)
        text = self._voice.subject(self._sentence, clause.subject, clause.verb)
        return _Subject(text, self._tags[clause.verb - 1] if clause.verb == clause.subject + 1 else "N", clause.subject)

    def _made(self, index: int, subject: _Subject, begin: int, end: int) -> Statement | None:
        sentence, tags, voice = self._sentence, self._tags, self._voice
        clause = self._clauses[index]
        nested = index + 1 if self._links[index + 1 : index + 2] == ["content"] else None
        head = _head(sentence, clause)
        stop = clause.end if nested is not None else _predicate_end(sentence, tags, clause, head, end)
        first = subject.letter == "i"
        predicate = voice.predicate(sentence, clause.verb, stop, first=first)
        if clause.role == "shared":
            predicate = self._with_auxiliary(predicate, clause, first=first)
        else:
            self._auxiliary = _auxiliary(tags, clause)
        start, finish = _trimmed(tags, stop, end)
        kind = _kind(sentence, tags, clause, head)
        if nested is not None:
            predicate, text = self._reported(nested, clause, subject, predicate, end, head)
            kind = "report" if head in SAY else kind
        else:
            shown = start + MAX_OBJECT if finish - start > MAX_OBJECT else finish
            text = voice.phrase(sentence, start, shown) if start < finish else ""
        if not text:
            if _says_nothing(subject, head, tags, clause):
                return None
            text, finish = self._time_as_object(stop, end, finish)
        text = self._with_lead(text, clause, begin)
        return self._placed(clause, begin, max(finish, stop), end, (subject.text, predicate, text), kind)

    def _placed(self, clause: Clause, begin: int, finish: int, end: int, words: tuple[str, str, str], kind: Kind) -> Statement:
        sentence = self._sentence
        opening = clause.subject if begin > clause.subject or not _PLACE.match(self._tags[begin : clause.subject]) else begin
        text = words[2]
        if self._condition is not None:
            since, until = self._condition
            since, until = _trimmed(self._tags, since, until, keep_left=True)
            text = f"{text} {self._voice.phrase(sentence, since, until).lower() if until - since < 1 else self._lower(since, until)}".strip()
            opening = min(opening, since)
            self._condition = None
        last = max(finish, clause.end)
        tail = _TAIL_TIME.match(self._tags, last, end)
        if tail is not None:
            last = tail.end()
        while last > clause.end and self._tags[last - 1] in ",;._C":
            last -= 1
        span = (sentence.starts[opening], sentence.ends[last - 1])
        scope = (sentence.starts[begin], sentence.ends[max(end, last) - 1])
        return Statement(words[0], words[1], text, span, scope, kind)

    def _lower(self, since: int, until: int) -> str:
        phrase = self._voice.phrase(self._sentence, since, until)
        return phrase[:1].lower() + phrase[1:]

    def _with_auxiliary(self, predicate: str, clause: Clause, *, first: bool) -> str:
        """Give "join" in "wants to learn guitar and join a band" what it shares: "wants to join"."""
        if self._auxiliary is None or self._tags[clause.verb] not in "vwL":
            return predicate
        shared = self._voice.predicate(self._sentence, *self._auxiliary, first=first)
        base = " ".join(self._sentence.words[clause.verb : clause.end]) + predicate[len(predicate.split(" ")[0]) :] if False else predicate
        words = base.split(" ")
        words[0] = lemma(words[0])
        return f"{shared} {' '.join(words)}"

    def _reported(
        self, nested: int, clause: Clause, subject: _Subject, predicate: str, end: int, head: str
    ) -> tuple[str, str]:
        """Return predicate and object of a clause whose object is a clause: (said he lost, his job), (thinks, it works)."""
        inner = self._clauses[nested]
        sentence, tags, voice = self._sentence, self._tags, self._voice
        listener = _trimmed(tags, clause.end, inner.subject)
        if listener[0] < listener[1]:
            predicate = f"{predicate} {voice.phrase(sentence, *listener)}"
        inner_end = min([end] + [_opening(tags, self._clauses, i) for i in range(nested + 1, len(self._clauses)) if self._links[i] not in ("relative", "content")])
        inner_head = _head(sentence, inner)
        stop = _predicate_end(sentence, tags, inner, inner_head, inner_end)
        first = tags[inner.subject : inner.verb] == "i"
        verb = voice.predicate(sentence, inner.verb, stop, first=first)
        who = voice.subject(sentence, inner.subject, inner.verb)
        start, finish = _trimmed(tags, stop, inner_end)
        finish = min(finish, start + MAX_OBJECT)
        rest = voice.phrase(sentence, start, finish) if start < finish else ""
        if head in SAY and tags[inner.subject : inner.verb] in ("e", "i") and rest:
            return f"{predicate} {who} {verb}", rest
        return predicate, f"{who} {verb} {rest}".strip()

    def _known(self, index: int, end: int) -> list[Statement]:
        """Return what "I heard that Ana moved" states besides the hearing: that Ana moved."""
        nested = index + 1
        if self._links[nested : nested + 1] != ["content"]:
            return []
        head = _head(self._sentence, self._clauses[index])
        inner = self._clauses[nested]
        if not (head in KNOW or head == "be") or self._tags[inner.subject] in "tqxyie" or "n" in self._tags[self._clauses[index].verb : self._clauses[index].end]:
            return []
        subject = _Subject(self._voice.subject(self._sentence, inner.subject, inner.verb), "N", inner.subject)
        made = self._made(nested, subject, inner.subject, end)
        return [] if made is None else [made]

    def _time_as_object(self, stop: int, end: int, finish: int) -> tuple[str, int]:
        """Let the time stand as the object where nothing else does: (Mira, moved, last week)."""
        start, until = _trimmed(self._tags, stop, end, keep_time=True)
        return (self._voice.phrase(self._sentence, start, until), until) if start < until else ("", finish)

    def _with_lead(self, text: str, clause: Clause, begin: int) -> str:
        """Append what stands before the subject: "In Porto, I met Ana" -> Ana in Porto."""
        if clause.role == "shared" or not _PLACE.match(self._tags[begin : clause.subject]):
            return text
        start, finish = _trimmed(self._tags, begin, clause.subject)
        return f"{text} {self._lower(start, finish)}".strip() if start < finish else text


_PLACE = re.compile(r"[R!,]*[PQ][DS]?[NMUJwg']{1,5},?[R,]*$")


def _links(sentence: Tagged, tags: str, clauses: Sequence[Clause]) -> list[str]:
    """Return how each clause hangs on what stands before it: main, content, relative or condition."""
    links: list[str] = []
    for index, clause in enumerate(clauses):
        before = clauses[index - 1] if index else None
        gap = tags[before.end if before else 0 : clause.subject]
        links.append(_link(sentence, tags, clause, before, gap, links))
    return links


def _link(sentence: Tagged, tags: str, clause: Clause, before: Clause | None, gap: str, links: list[str]) -> str:  # noqa: C901, PLR0911, PLR0912
    words = sentence.words
    at = clause.subject
    core = gap.rstrip("R~!_sn")
    if clause.role != "main":
        if clause.role == "shared" and links and links[-1] in ("content", "relative") and "," not in gap:
            return "relative"
        return "main"
    if core and core[-1] == "B":
        word = words[at - 1 - (len(gap) - len(core))]
        if word in _CONDITIONS or (word in ("when", "while") and tags[clause.end - 1] in "vwZzL"):
            return "condition" if word != "whether" else "relative"
        return "main"
    if before is None:
        return "relative" if core.endswith("W") else "main"
    if core.endswith("W"):
        return "relative"
    lemma_before = _head(sentence, before)
    if "," not in gap.replace("s", "") or lemma_before in SAY:
        if lemma_before in _COMPLEMENT and _CONTENT.match(gap):
            return "content"
        if lemma_before in ("be", "feel") and _ADJECTIVE.match(gap):
            return "content"
    if core.endswith(("q", "P")):
        return "relative"
    if gap and core and core[-1] not in ',;C"Q' and tags[at] in "iye" and "s" not in gap:
        return "relative"
    return "main" if gap or tags[at] in "iyeS" else "relative"


def _opening(tags: str, clauses: Sequence[Clause], index: int) -> int:
    """Return the first token that belongs to clause `index`: its connector and what leads it in."""
    since = clauses[index - 1].end if index else 0
    if not index:
        return 0
    found = _CONNECTOR.search(tags, since, clauses[index].subject)
    return clauses[index].subject if found is None else found.start()


def _head(sentence: Tagged, clause: Clause) -> str:
    """Return the lemma of the verb that carries the meaning: the last of the group, "be" for a copula."""
    for index in range(clause.end - 1, clause.verb - 1, -1):
        if sentence.tags[index] in "vwfkpgzZLN":
            return lemma(sentence.words[index])
    for index in range(clause.end - 1, clause.verb - 1, -1):
        if sentence.tags[index] in "bhdm":
            return lemma(sentence.words[index]) if sentence.tags[index] != "b" else "be"
    return ""


def _auxiliary(tags: str, clause: Clause) -> tuple[int, int] | None:
    """Return the tokens before the last verb of a group, which a conjoined verb shares."""
    last = clause.end - 1
    return (clause.verb, last) if last > clause.verb and tags[last] in "vwL" else None


def _predicate_end(sentence: Tagged, tags: str, clause: Clause, head: str, end: int) -> int:
    """Return where the predicate ends: after a gerund, a particle and the prepositions that the object follows."""
    at = clause.end
    if at < end and tags[at] == "g" and head in _GERUND:
        at += 1
    copula = tags[at - 1] == "b"
    mark = at
    while mark < end and tags[mark] == "r" and not copula:
        mark += 1
    particle = mark
    while mark < end and mark - particle < 2 and tags[mark] in "PTQ" and not (tags[mark] == "Q" and sentence.words[mark] != "as"):
        mark += 1
    if mark > particle and (mark >= end or tags[mark] in "~.,;CBWgq" or (tags[mark] == "D" and tags[mark + 1 : mark + 2] == "~")):
        return particle
    return mark


def _trimmed(tags: str, start: int, end: int, *, keep_time: bool = False, keep_left: bool = False) -> tuple[int, int]:
    """Return tokens [start, end) without fillers, punctuation and, unless kept, time expressions around them."""
    while not keep_left and start < end and tags[start] in _TRIM_LEFT:
        start += 1
    while keep_left and start < end and tags[start] in ",C.;":
        start += 1
    while end > start and tags[end - 1] in _TRIM_RIGHT:
        end -= 1
    if not keep_time:
        tail = _TAIL_TIME.search(tags, start, end)
        if tail is not None:
            end = tail.start()
        while start < end and tags[start] == "~":
            start += 1
        while end > start and tags[end - 1] in _TRIM_RIGHT:
            end -= 1
    return start, end


def _says_nothing(subject: _Subject, head: str, tags: str, clause: Clause) -> bool:
    """Return whether a clause without an object is a mere phrase: "I know", "you see", "I will"."""
    return head in _BARE or subject.letter in "yx" or (subject.letter in "tq" and head == "be") or tags[clause.end - 1] in "mdhb"


def _kind(sentence: Tagged, tags: str, clause: Clause, head: str) -> Kind:  # noqa: PLR0911
    group = range(clause.verb, clause.end)
    lemmas = {lemma(sentence.words[index]) for index in group if tags[index] in "vwfkpgzZL"}
    words = sentence.words[clause.verb : clause.end]
    if "used" in words and tags[clause.end - 2 : clause.end - 1] == "T":
        return "state"
    if "T" in tags[clause.verb : clause.end] and lemmas & (HOPE | {"go"}) or tags[clause.verb : clause.end].lstrip("Rsn")[:1] == "m" or head in ("hope", "wish", "want", "plan"):
        return "plan" if "could" not in words or "n" not in tags[clause.verb : clause.end] else "event"
    if head in LIKE or head in THINK or lemmas & LIKE:
        return "opinion"
    if head in SAY:
        return "report"
    if tags[clause.end - 1] in "bZzvwLh" or head in _STATIVE and "k" not in tags[clause.verb : clause.end]:
        return "state"
    return "event"
