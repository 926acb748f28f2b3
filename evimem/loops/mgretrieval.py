"""MGRetrieval: read what a question's keywords meet in, all of them first, and keep what an answer rests on (G1 to G9).

A round reads only turns that none before it has read, first those that the round before had no room for. The turns that
an answer rests on are carried forward by their ids, and the answer is written from them and from what the rounds came
to, without another search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal, TypeAlias

from ..errors import ReplyError
from ..extract.labels import label_in
from ..flow import Flow
from ..judging.evidence import Variant
from ..judging.judge import MOST_LISTED, Chosen, Considered, Round, own_first
from ..judging.tracker import grounded
from ..text.terms import terms
from ..types.answer import Answer
from ..types.stored import Keyword, Listing
from ..types.trace import Acted
from ..types.values import Tier, Turn
from .answering import answered, stated
from .retrieve import Arrived, Search, loaded
from .session import UNREAD, Check, Session, in_time, record_query
from .task import Task

Group: TypeAlias = tuple[str, ...]
Unit: TypeAlias = tuple[str, ...]
"""The ids of the turns that are read together."""


@dataclass(frozen=True, slots=True)
class Pyramid:
    """What is left of a pyramid: the groups of the level that is read, in order, and the levels below it."""

    groups: tuple[Group, ...]
    below: tuple[tuple[Group, ...], ...]

    @property
    def exhausted(self) -> bool:
        """Whether every group was read."""
        return not self.groups and not self.below

    def without_first(self) -> Pyramid:
        """Return what is left after the first group of the level."""
        return Pyramid(self.groups[1:], self.below)

    def descended(self, sizes: Mapping[Group, int], *, largest_first: bool = False) -> Pyramid:
        """Return what is left a level down; its groups are those with turns, of which `sizes` has the number.

        The fewest turns first, where the paper has the most (`largest_first`): a small group of so many words is about
        all of them, and a large one, such as all that one speaker said, about none.
        """
        held = [group for group in self.below[0] if sizes[group]]
        return Pyramid(tuple(sorted(held, key=lambda group: sizes[group], reverse=largest_first)), self.below[1:])


def pyramid_of(terms: Sequence[str]) -> Pyramid:
    """Return the pyramid of some terms; of none it is the one group that every turn belongs to."""
    top = dict.fromkeys(terms)
    levels = tuple(tuple(combinations(top, size)) for size in range(len(top), 0, -1))
    return Pyramid((), levels or (((),),))


def exchanges(turns: Iterable[Turn]) -> list[Unit]:
    """Return the exchanges in order: what one says, with what another says next to it in the session."""
    made: list[list[Turn]] = []
    open_in: dict[str, list[Turn]] = {}
    for turn in turns:
        said = open_in.pop(turn.session, None)
        if said is not None and said[0].speaker != turn.speaker:
            said.append(turn)
        else:
            open_in[turn.session] = said = [turn]
            made.append(said)
    return [tuple(one.id for one in said) for said in made]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The keywords of a memory, V, each with the units that have it, its postings."""

    postings: Mapping[str, tuple[Unit, ...]]

    def held(self, group: Group) -> tuple[Unit, ...]:
        """Return the units that have all keywords of a group, in order."""
        first, *others = (self.postings.get(keyword, ()) for keyword in group)
        return tuple(unit for unit in first if all(unit in other for other in map(frozenset, others)))


def vocabulary_of(units: Iterable[Unit], keywords: Mapping[str, Iterable[str]]) -> Vocabulary:
    """Return the vocabulary of units, given the keywords of each turn: those of its unit are joined."""
    postings: dict[str, dict[Unit, None]] = {}
    for unit in units:
        for keyword in (one for turn_id in unit for one in keywords.get(turn_id, ())):
            postings.setdefault(keyword, {})[unit] = None
    return Vocabulary({keyword: tuple(found) for keyword, found in postings.items()})


@dataclass(frozen=True, slots=True)
class MGRetrieval(Variant):
    """MGRetrieval: at most `iterations` rounds of reading (r), each of at most `k` new turns.

    Attributes:
        depth: At most so many keywords stand at the top of the pyramid (l), of which a question is read by.
        unit: What has a keyword and is read as one: a turn, or, as in the paper, an exchange of two, in their order.
        vocabulary: Which keywords there are to choose from: those that the question matches in the index, or, as in the
            paper, all that the memory has. A turn has those that a model files it under (`Memory.enrich`), where one
            has, else the stems of its words. To know the exchanges or all keywords takes reading the whole memory once
            a question.
        whole_groups: A round is one whole group, the largest of a level first, as in the paper.
        neighbours: The turns before and after a read one are shown with it.
        accepts: "flag" ends where the judge says that the answer is complete, as in the paper; "tier" only where its
            evidence is exact too, or the answer inferred from it.
    """

    iterations: int = 4
    depth: Literal[1, 2, 3, 4, 5, 6] = 4
    unit: Literal["turn", "exchange"] = "turn"
    vocabulary: Literal["question", "whole"] = "question"
    whole_groups: bool = False
    neighbours: bool = True
    accepts: Literal["tier", "flag"] = "tier"

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer a question once the answer so far is accepted or the rounds are used up."""
        return answered(Session(task, "mgretrieval", self), partial(_look, self))


@dataclass(frozen=True, slots=True)
class Reading:
    """Where the loop stands after some rounds.

    `left` are the groups that are not read yet, `known` are the keywords with what has them, None where the index says;
    `answer` is the answer so far, `critical` are the ids of the turns that it rests on, `accepted` is whether it is
    final; `check` is the last one, None before the first.
    """

    left: Pyramid
    known: Vocabulary | None
    answer: str = ""
    critical: tuple[str, ...] = ()
    accepted: bool = False
    check: Check | None = None


def _look(how: MGRetrieval, session: Session) -> Flow[Check | None]:
    reading = yield from _read(session, how)
    return None if reading.check is None else _critical_only(session, reading, reading.check)


def _read(session: Session, how: MGRetrieval) -> Flow[Reading]:
    """Read round by round until the answer is accepted, nothing is left or the rounds are used up."""
    session.neighbours = how.neighbours
    most = session.iterations
    known = None if (how.unit, how.vocabulary) == ("turn", "question") else _vocabulary(session, how)
    chosen = yield from _keywords(session, how, known)
    reading = Reading(pyramid_of([keyword.term for keyword in chosen]), known)
    for number in range(1, most + 1):
        reading = replace(reading, left=(yield from _walk(session, how, reading, number)))
        if not _new(session, number):
            session.stop(number, "nothing left")
            return reading
        considered = yield from in_time(session, _consider(session, how, reading, number), number, reading.check)
        if considered is None:
            return reading
        reading = considered
        if reading.accepted or session.late:
            session.stop(number, "accepted" if reading.accepted else "time used up")
            return reading
    session.stop(most, "rounds used up")
    return reading


def _vocabulary(session: Session, how: MGRetrieval) -> Vocabulary:
    """Return all keywords of the memory with the units that have them; it is read whole (G1)."""
    store, admits = session.task.store, session.retrieval.admits
    turns = [turn for turn in store.turns(Listing()) if admits(turn)]
    units = exchanges(turns) if how.unit == "exchange" else [(turn.id,) for turn in turns]
    said = {turn.id: _stems(turn) for turn in turns}
    if how.vocabulary == "question":
        return vocabulary_of(units, said)
    filed: dict[str, tuple[str, ...]] = {}
    for fact in store.facts(list(said)):
        filed[fact.turn_id] = filed.get(fact.turn_id, ()) + label_in([fact]).keywords
    return vocabulary_of(units, {turn_id: filed.get(turn_id) or words for turn_id, words in said.items()})


def _stems(turn: Turn) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms(f"{turn.speaker} {turn.text} {turn.caption or ''}")))


def _keywords(session: Session, how: MGRetrieval, known: Vocabulary | None) -> Flow[tuple[Keyword, ...]]:
    """Return the keywords that the question is read by (G2); the judge chooses where they are more.

    It is shown a vocabulary in pages, and chooses once more among what it chose of them.
    """
    analysis = session.analysis
    found = session.task.store.keywords((*analysis.entities, *analysis.keywords), session.task.scope)
    listed: Sequence[Keyword] = found
    if known is not None and how.vocabulary == "whole":
        own = {keyword.term for keyword in found}
        every = (Keyword(one, one, len(units), _names(own, one)) for one, units in known.postings.items())
        listed = [one for one in every if one.closeness or session.task.judge.explores]
    chosen: Sequence[Keyword] = listed
    while len(chosen) > how.depth:
        paged = len(chosen) > MOST_LISTED
        pages = [chosen[first : first + MOST_LISTED] for first in range(0, len(chosen), MOST_LISTED)]
        picked: list[Keyword] = []
        for page in pages:
            picked += yield from _chosen(session, page, how.depth)
        chosen = picked
        if not paged:
            break
    detail: dict[str, Any] = {"found": {one.term: one.turns for one in found}, "chosen": [one.term for one in chosen]}
    if how.vocabulary == "whole":
        detail["vocabulary"] = len(listed)
    session.events.append(Acted(1, "keywords", detail=detail))
    return tuple(chosen)


def _names(own: Set[str], keyword: str) -> float:
    """Return 1 where a keyword has a stem that the question matches, else 0."""
    return float(bool(own & {keyword, *terms(keyword)}))


def _chosen(session: Session, page: Sequence[Keyword], most: int) -> Flow[tuple[Keyword, ...]]:
    try:
        made: Chosen = yield from session.consult(session.task.judge.choose(session.task.question, page, most), 1)
    except ReplyError:  # unreadable twice: by what is known of the keywords themselves
        made = Chosen(tuple(one for one in own_first(page, most) if one.closeness))
    session.events.extend(made.calls)
    return tuple(keyword for keyword in made.keywords if keyword in page)[:most]


def _walk(session: Session, how: MGRetrieval, reading: Reading, number: int) -> Flow[Pyramid]:
    """Read groups until a round has `k` turns that are new; one that has none costs nothing (G3).

    To the letter of the paper a round is one group, however large; one that was not read whole comes first.
    """
    pyramid, literal, unread = reading.left, how.whole_groups, len(_new(session, number))
    room = session.k - unread
    if literal:
        room = 0 if unread else session.roster.counted
    while room > 0 and not pyramid.exhausted:
        if not pyramid.groups:
            sizes = {group: _size(session, reading, group) for group in pyramid.below[0]}
            pyramid = pyramid.descended(sizes, largest_first=literal)
            continue
        arrived = yield from _returned(session, reading, pyramid.groups[0], room, number)
        room = 0 if literal and arrived.turns else room - len(arrived.turns)
        if room or literal or not session.has("mask"):  # the group had no more
            pyramid = pyramid.without_first()
    return pyramid


def _size(session: Session, reading: Reading, group: Group) -> int:
    """Return how many turns, exchanges or units a group has (G1)."""
    if reading.known is None:
        return session.task.store.holding(group, 0, session.task.scope).total
    return len(reading.known.held(group)) if group else session.roster.counted


def _returned(session: Session, reading: Reading, group: Group, room: int, number: int) -> Flow[Arrived]:
    """Read turns of a group while there is room; whole units, where the memory was read for them."""
    wanted = Search(session.task.question, holding=group)
    if reading.known is None or not group:
        return (yield from session.search_further(wanted, room, path="keyword", iteration=number))
    record_query(session, wanted, room, "units", path="keyword", iteration=number)
    again, found = not session.has("mask"), session.retrieval
    ids: list[str] = []
    for unit in reading.known.held(group):
        if len(ids) < room and (again or not all(found.has(turn_id) for turn_id in unit)):
            ids += unit
    arrived = session.arrive(found.keep(loaded(session.task.store, ids), "keyword", number), number)
    found.put_off(ids if again else (), number)
    return replace(arrived, turns=tuple(ids)) if again else arrived


def _new(session: Session, number: int) -> tuple[str, ...]:
    """Return the ids of the turns that a round is the first to read."""
    return tuple(item.turn.id for item in session.retrieval.evidence if item.iteration == number)


def _consider(session: Session, how: MGRetrieval, reading: Reading, number: int) -> Flow[Reading]:
    """Have the judge consider the critical and the new turns, and nothing else of what was read (G4)."""
    new, most = _new(session, number), session.iterations
    view = session.show(number, only=(*reading.critical, *new))
    asked = Round(number, most, reading.answer, reading.critical, new)
    try:
        made: Considered = yield from session.consult(session.task.judge.consider(view, asked), number)
    except ReplyError:  # unreadable twice: what was kept is kept, and the reading goes on
        made = Considered(UNREAD, reading.answer, reading.critical, accepted=False, read=view.readable)
    check = session.weigh(view, made.verdict)
    read = made.read.intersection(item.turn.id for item in view.shown)
    unread = [turn_id for turn_id in new if turn_id not in read]
    session.retrieval.put_off(unread, number + 1)
    # What it rests on is what the judge returns; what was kept and had no room it could not return.
    kept = grounded((*(one for one in reading.critical if one not in read), *made.critical), session.tracker.shown)
    session.adopt(kept, check.view)
    accepted = made.accepted and (how.accepts == "flag" or made.verdict.tier in (Tier.EXACT, Tier.INFERRABLE))
    detail = {"answer": made.answer, "critical": list(kept), "accepted": accepted, "unread": unread}
    session.events.append(Acted(number, "consider", made.verdict.reason, detail))
    return replace(reading, answer=made.answer or reading.answer, critical=kept, accepted=accepted, check=check)


def _critical_only(session: Session, reading: Reading, check: Check) -> Check:
    """Return the last check with what its answer is written from: the critical turns and the answer so far (G6).

    Where nothing was critical, the turns of the last round: they are why there is no answer.
    """
    notes = (reading.answer,) if reading.answer else ()
    verdict = replace(check.verdict, notes=notes)
    draft = stated(reading.answer, reading.critical) if session.task.judge.explores else None  # others give none
    view = session.show(check.view.iteration, only=reading.critical) if reading.critical else check.view
    return replace(check, view=view, verdict=verdict, draft=draft)
