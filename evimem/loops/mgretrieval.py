"""MGRetrieval: read what a question's keywords meet in, all of them first, and keep what an answer rests on (G1 to G6).

A round reads only turns that none before it has read, first those that the round before had no room for. The turns that
an answer rests on are carried forward by their ids, and the answer is written from them and from what the rounds came
to, without another search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from ..errors import ReplyError
from ..flow import Flow
from ..judging.reading import Chosen, Considered, Round, own_first
from ..judging.tracker import grounded
from ..judging.variant import Variant
from ..types.answer import MOST, Answer
from ..types.stored import Keyword, Listing
from ..types.trace import Acted
from ..types.values import Tier
from .answering import answered, stated
from .pyramid import Group, Pyramid, exchanges, pyramid_of
from .retrieve import Arrived, Search, loaded
from .session import UNREAD, Check, Session, in_time, record_query
from .task import Task


@dataclass(frozen=True, slots=True)
class MGRetrieval(Variant):
    """MGRetrieval: at most `iterations` rounds of reading (r), each of at most `k` new turns.

    Attributes:
        depth: At most so many keywords stand at the top of the pyramid (l), of which a question is read by.
        unit: What has a keyword and is read as one: a turn, or, as in the paper, an exchange of two, in their order. To
            know the exchanges takes reading the whole memory once a question.
        whole_groups: A round is one whole group, the largest of a level first, as in the paper.
        accepts: "flag" ends where the judge says that the answer is complete, as in the paper; "tier" only where its
            evidence is exact too, or the answer inferred from it.
    """

    iterations: int = 4
    depth: Literal[1, 2, 3, 4, 5, 6] = 4
    unit: Literal["turn", "exchange"] = "turn"
    whole_groups: bool = False
    accepts: Literal["tier", "flag"] = "tier"

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer a question once the answer so far is accepted or the rounds are used up."""
        return answered(Session(task, "mgretrieval", self), partial(_look, self))


@dataclass(frozen=True, slots=True)
class Reading:
    """Where the loop stands after some rounds.

    `left` are the groups that are not read yet, `of` is the exchange of each turn, empty where turns are the units;
    `answer` is the answer so far, `critical` are the ids of the turns that it rests on, `accepted` is whether it is
    final; `check` is the last one, None before the first.
    """

    left: Pyramid
    of: Mapping[str, tuple[str, ...]]
    answer: str = ""
    critical: tuple[str, ...] = ()
    accepted: bool = False
    check: Check | None = None


def _look(how: MGRetrieval, session: Session) -> Flow[Check | None]:
    reading = yield from _read(session, how)
    return None if reading.check is None else _critical_only(session, reading, reading.check)


def _read(session: Session, how: MGRetrieval) -> Flow[Reading]:
    """Read round by round until the answer is accepted, nothing is left or the rounds are used up."""
    most = session.iterations
    top = pyramid_of([keyword.term for keyword in (yield from _keywords(session, how.depth))])
    every = session.task.store.turns(Listing()) if how.unit == "exchange" else ()
    reading = Reading(top, exchanges(turn for turn in every if session.retrieval.admits(turn)))
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


def _keywords(session: Session, most: int) -> Flow[tuple[Keyword, ...]]:
    """Return the keywords of the memory that the question matches (G2); the judge chooses where they are more."""
    analysis = session.analysis
    found = session.task.store.keywords((*analysis.entities, *analysis.keywords), session.task.scope)
    chosen = found
    if len(found) > most:
        try:
            made: Chosen = yield from session.consult(session.task.judge.choose(analysis.question, found, most), 1)
        except ReplyError:  # unreadable twice: by what is known of the keywords themselves
            made = Chosen(own_first(found, most))
        session.events.extend(made.calls)
        chosen = tuple(keyword for keyword in made.keywords if keyword in found)[:most]
    detail = {"found": {one.term: one.turns for one in found}, "chosen": [one.term for one in chosen]}
    session.events.append(Acted(1, "keywords", detail=detail))
    return chosen


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
    """Return how many turns or exchanges a group has, its vocabulary being that of the index (G1)."""
    task = session.task
    return len(_held(session, reading, group)) if reading.of else task.store.holding(group, 0, task.scope).total


def _held(session: Session, reading: Reading, group: Group) -> tuple[tuple[str, ...], ...]:
    """Return the exchanges that have all keywords of a group, whoever of the two says them."""
    of, held = reading.of, set(reading.of.values())
    for term in group:
        found = session.task.store.holding((term,), MOST, session.task.scope)
        held &= {of[turn_id] for turn_id in found.turn_ids if turn_id in of}
    return tuple(exchange for exchange in dict.fromkeys(of.values()) if exchange in held)


def _returned(session: Session, reading: Reading, group: Group, room: int, number: int) -> Flow[Arrived]:
    """Read turns of a group while there is room; whole exchanges, where those are the units."""
    wanted = Search(session.task.question, holding=group)
    if not reading.of:
        return (yield from session.search_further(wanted, room, path="keyword", iteration=number))
    record_query(session, wanted, room, "exchanges", path="keyword", iteration=number)
    again, found = not session.has("mask"), session.retrieval
    ids: list[str] = []
    for exchange in _held(session, reading, group):
        if len(ids) < room and (again or not all(found.has(turn_id) for turn_id in exchange)):
            ids += exchange
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
