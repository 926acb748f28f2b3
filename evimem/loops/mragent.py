"""Answer as MRAgent does: explore the memory from cue to tag to turn and back, until the evidence suffices (R1-R8).

The search of the question gives the first turns, or, as in the paper, its cues are all there is to begin with; from
there each turn of the loop calls tools, whose results are turns
and further cues, such as the month in which something happened, that the question never named. A cue is a name, a word
or a time; contents are turns; a model files a turn under a tag and a topic, where one has (`Memory.enrich`),
else the class of a fact, and the session, stand for them. Nothing else is stored: the terms of the index and the facts
of turns are the graph.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from ..extract.labels import read_label
from ..extract.statements import fact_class
from ..flow import Flow
from ..judging.evidence import Variant
from ..judging.judge import (
    MAX_TURN_CALLS,
    TIME_CUE,
    TOOLS,
    Explored,
    Graph,
    Move,
    Result,
    Row,
    Tool,
    ToolCall,
    route,
    tools_of,
)
from ..judging.tracker import shown_witnesses
from ..query.find_turns import read_remaining
from ..text.names import contains_name
from ..text.terms import STOP_WORDS, terms, words
from ..times.find_times import find_times
from ..types.results import Answer
from ..types.stored import LABEL
from ..types.trace import Acted
from ..types.type_variables import T
from ..types.values import Fact, Hit, TimeSpan
from .answering import Rounds, make_draft
from .iris import Iris, Refining
from .question_keywords import is_own, question_keywords
from .retrieve import Search, Task, load_facts
from .session import UNMAPPED, Check, Session

PAGE_TURNS = 5  # turns that a call returns
MAX_CUE_TURNS = 5_000  # turns of a cue, those that fit the question best, of which tags are counted and pages made
MAX_PERSON_FACTS = 5_000  # newest facts about a person
MAX_WALKED_KEYS = 2  # tags or aspects of a cue that a walk by rule follows
MAX_PAGE_KEYS = 12  # tags, aspects or cues that a call returns
MENTIONED_TAG = "mentioned"  # the tag of a turn that no fact classes


class Refused(Exception):
    """A call that cannot be performed; its text gives the reason and the possible calls."""


class MemoryViews:
    """The views of one question: the keys and turns returned so far decide which calls are allowed (R2, R4)."""

    def __init__(self, session: Session, tools: Collection[Tool] = TOOLS, most: int = MAX_TURN_CALLS) -> None:
        """Take the question, the tools that there are, and how many calls a turn makes at most."""
        self._session = session
        self._tools = tools
        self._most = most
        self._store = session.task.store
        self._tags: dict[str, tuple[str, ...]] = {}
        self._facts: dict[str, tuple[Fact, ...]] = {}
        self._made: set[ToolCall] = set()
        self._topics: Mapping[str, Sequence[str]] | None = None

    def perform(self, calls: Sequence[ToolCall], number: int) -> Flow[tuple[Result, ...]]:
        """Perform the calls of a turn, up to the limit of a turn; an impossible call is refused with its reason."""
        results = []
        for place, call in enumerate(calls):
            try:
                self._check(call, place)
                found = getattr(self, call.tool)(call, number)  # the method of its name, which `_check` knows
                results.append((yield from found) if isinstance(found, Generator) else found)
                self._made.add(call)
            except Refused as refusal:
                results.append(Result(call, refused=str(refusal)))
        return tuple(replace(result, number=number) for result in results)

    def _check(self, call: ToolCall, place: int) -> None:
        if place >= self._most:
            raise Refused(f"at most {self._most} calls are made in a turn; call it in the next")
        if call.tool not in self._tools:
            raise Refused(f"there is no tool {call.tool}; there are {', '.join(self._tools)}")
        if call in self._made:
            raise Refused("it was called before; see its result, or ask for another page")

    def tags_of(self, call: ToolCall, number: int) -> Flow[Result]:
        """C -> g: the tags of a cue with their counts; no content."""
        hits = yield from _with_cue(self._session, call.of)
        if not hits:
            raise Refused(f"no turn has the cue {call.of!r}{_nearest_spelling(call.of, known_cues(self._session))}")
        counts = Counter(tag for hit in hits for tag in tags(hit, call.of))
        self._tags[call.of] = tuple(counts)
        return _keys(call, _count_rows("tag", counts), turns=_count_turns(self._session, call.of, hits))

    def events(self, call: ToolCall, number: int) -> Flow[Result]:
        """(c, g) -> v: the turns of a cue and one of its tags, a page at a time; all of a cue where no tags are."""
        tagged = "tags_of" in self._tools
        if tagged:
            _check_listed(call, "tag", self._tags.get(call.of, ()), "tags_of")
        hits = yield from _with_cue(self._session, call.of)
        fitting = [hit for hit in hits if not tagged or call.part in tags(hit, call.of)]
        return _take_page(
            self._session, call, fitting, number, total=None if tagged else _count_turns(self._session, call.of, hits)
        )

    def event_time(self, call: ToolCall, number: int) -> Result:
        """V -> time: when it happened, as intervals as precise as they were told, and, apart, when it was said (R6)."""
        hit = self._returned_turn(call.of)
        told = [fact.event for fact in hit.facts if fact.event and fact.event.start and fact.event.end]
        happened = dict.fromkeys(
            f"{event.start:%Y-%m-%dT%H:%M}/{event.end:%Y-%m-%dT%H:%M} ({event.granularity})"
            for event in told
            if event.start and event.end
        )
        rows = (*(Row(text, "happened") for text in happened), Row(f"{hit.turn.time:%Y-%m-%dT%H:%M}", "said"))
        return Result(call, rows, len(rows))

    def event_cues(self, call: ToolCall, number: int) -> Result:
        """V -> (c, g): the times, names and words that a turn brings up and other turns share, rare words first (R3).

        Each with the tags that the turn has for it, where cues have tags: these are listed by it.
        """
        hit = self._returned_turn(call.of)
        times = [Row(cue, TIME_CUE) for cue in time_cues(_events_of(self._session, hit))]
        filed = read_label(hit.facts).keywords
        said = [word for word in dict.fromkeys(words(hit.turn.text)) if word not in STOP_WORDS]
        found = self._store.keywords((hit.turn.speaker, *said), self._session.task.scope)
        shared = sorted((one for one in found if one.turns > 1 and is_own(one)), key=lambda one: one.turns)
        named = (Row(one.word, "word", one.turns) for one in shared if one.word not in filed)
        rows = (*times, *(Row(one, "keyword") for one in filed), *named)
        return _keys(call, tuple(self._with_tags(row, hit) for row in rows))

    def _with_tags(self, row: Row, hit: Hit) -> Row:
        """Return the row of a cue with the tags of a turn for it; they are listed from then on."""
        if "tags_of" not in self._tools:
            return row
        of_it = tags(hit, row.key)
        self._tags[row.key] = tuple(dict.fromkeys((*self._tags.get(row.key, ()), *of_it)))
        return replace(row, text=f"{row.text}; tags {', '.join(of_it)}")

    def event_context(self, call: ToolCall, number: int) -> Result:
        """V -> v: the turns around one."""
        hit = self._returned_turn(call.of)
        around = self._session.retrieval.around([hit.turn.id])
        found = [Hit(turn, (), 0.0) for turn in around.get(hit.turn.id, ()) if turn.id != hit.turn.id]
        return _take_page(self._session, call, found, number, path="around")

    def person_aspects(self, call: ToolCall, number: int) -> Result:
        """Person -> aspects: the classes of the facts about somebody, with their counts."""
        facts = _facts_about(self._session.task, call.of)
        if not facts:
            raise Refused(f"no fact is about {call.of!r}{_nearest_spelling(call.of, self._session.roster.speakers)}")
        self._facts[call.of] = facts
        rows = _count_rows("aspect", Counter(map(tag_of, facts)))
        return _keys(call, rows, turns=len({one.turn_id for one in facts}))

    def person_facts(self, call: ToolCall, number: int) -> Result:
        """Person, aspect -> facts, with the turns that state them."""
        facts = self._facts.get(call.of, ())
        _check_listed(call, "aspect", tuple(map(tag_of, facts)), "person_aspects")
        ids = tuple(dict.fromkeys(fact.turn_id for fact in facts if tag_of(fact) == call.part))
        hits = load_facts(self._store, _cut_page(ids, call.page))
        return _take_page(self._session, call, hits, number, path="about", read=len(ids))

    def topic_events(self, call: ToolCall, number: int) -> Flow[Result]:
        """Topic -> turns of all sessions, or of the one that is named; which topics there are, is asked for once."""
        if self._topics is None:
            self._topics = _by_topic(self._session.task)
        if of_it := self._topics.get(call.of):
            return _take_page(
                self._session, call, load_facts(self._store, _cut_page(of_it, call.page)), number, read=len(of_it)
            )
        hits = yield from _rank_turns(self._session, Search(self._session.task.question, session=call.of))
        if not hits:
            sessions = (item.turn.session for item in self._session.retrieval.evidence)
            known = (*self._topics, *sessions)
            raise Refused(f"there is no topic or session {call.of!r}{_nearest_spelling(call.of, known)}")
        return _take_page(self._session, call, hits, number)

    def events_between(self, call: ToolCall, number: int) -> Flow[Result]:
        """Time -> turns: those with events between two times, both included, or said then where nothing is dated."""
        start, end = interval(call.of), interval(call.part or call.of)
        if start is None or end is None:
            raise Refused(f"{call.of!r} to {call.part!r} is no time; expected YYYY, YYYY-MM or YYYY-MM-DD")
        return _take_page(self._session, call, (yield from _turns_during(self._session, start[0], end[1])), number)

    def _returned_turn(self, turn_id: str) -> Hit:
        """Return a turn that a tool or the search of the question has returned."""
        found = {item.turn.id: item for item in self._session.retrieval.evidence}
        if turn_id not in found:
            raise Refused(f"no tool has returned {turn_id!r} yet{_nearest_spelling(turn_id, found)}")
        item = found[turn_id]
        return Hit(item.turn, (*item.facts, *self._session.retrieval.filed[turn_id]), item.score)


def _count_turns(session: Session, cue: str, hits: Sequence[Hit]) -> int:
    """Return how many turns have a cue, of which some were read."""
    if len(hits) < MAX_CUE_TURNS or interval(cue) is not None:
        return len(hits)
    return max(len(hits), session.task.store.holding(tuple(dict.fromkeys(terms(cue))), 0, session.task.scope).total)


def _events_of(session: Session, hit: Hit) -> Iterator[TimeSpan]:
    """Yield the times of the facts of a turn, then those that its words mention."""
    yield from (fact.event for fact in hit.facts if fact.event is not None)
    yield from find_times(hit.turn.text, hit.turn.time, date_order=session.roster.date_order)


def _take_page(
    session: Session,
    call: ToolCall,
    hits: Sequence[Hit],
    number: int,
    *,
    path: str = "keyword",
    read: int | None = None,
    total: int | None = None,
) -> Result:
    """Take a page of turns as evidence; return it, with the number of all.

    `read` is how many there are to page where `hits` are a page already, `total` how many are told of where not
    all are read.
    """
    pageable = len(hits) if read is None else read
    page = hits if read is not None else _cut_page(hits, call.page)
    _check_page(call, pageable, PAGE_TURNS)
    session.retrieval.keep(page, path, number)
    rows = tuple(Row(hit.turn.id, _turn_place(hit)) for hit in page)
    return Result(call, rows, pageable if total is None else total)


def _keys(call: ToolCall, rows: Sequence[Row], *, turns: int = 0) -> Result:
    """Return a page of keys, with the number of all and how many turns stand behind them."""
    _check_page(call, len(rows), MAX_PAGE_KEYS)
    return Result(call, tuple(_cut_page(rows, call.page, MAX_PAGE_KEYS)), len(rows), turns=turns)


def _check_page(call: ToolCall, count: int, size: int) -> None:
    """Refuse a page behind the last one."""
    pages = max(1, -(-count // size))
    if call.page > pages:
        raise Refused(f"there is no page {call.page}; the last is {pages}")


def known_cues(session: Session) -> tuple[str, ...]:
    """Return the names and words of the question that the memory knows, as people write them."""
    return tuple(dict.fromkeys(one.written or one.term for one in question_keywords(session)))


def _known_times(session: Session) -> Flow[tuple[str, ...]]:
    """Return the months and years of the question that turns are of."""
    known = []
    for cue in time_cues(session.analysis.times):
        if (yield from _with_cue(session, cue)):
            known.append(cue)
    return tuple(known)


def _with_cue(session: Session, cue: str) -> Flow[Sequence[Hit]]:
    """Return the turns of a cue, those that fit the question best first."""
    when = interval(cue)
    if when is not None:
        return (yield from _turns_during(session, *when))
    held = tuple(dict.fromkeys(terms(cue)))
    if not held:
        return ()
    hits = yield from _rank_turns(session, Search(session.task.question, holding=held))
    return (*hits, *_turns_about(session.task, cue, {hit.turn.id for hit in hits}))


def _turns_during(session: Session, start: datetime, end: datetime) -> Flow[Sequence[Hit]]:
    last = session.roster.last
    zone = last.tzinfo if last else None
    between = (start.replace(tzinfo=zone), end.replace(tzinfo=zone))
    return (yield from _rank_turns(session, Search(session.task.question, between=between)))


def _rank_turns(session: Session, wanted: Search) -> Flow[Sequence[Hit]]:
    return (yield from session.retrieval.searches.rank(wanted, MAX_CUE_TURNS))


def _turn_place(hit: Hit) -> str:
    """Return who said a turn, in which session, and of which topic it is."""
    topic = read_label(hit.facts).topic
    return f"{hit.turn.speaker}, session {hit.turn.session}{f', topic {topic}' if topic else ''}"


def _by_topic(task: Task) -> dict[str, list[str]]:
    """Return the ids of the turns of each topic, by time; it takes reading the facts of the whole memory."""
    ids = [turn.id for turn in task.store.turns(task.scope.listing) if turn.id not in task.exclude]
    found: dict[str, list[str]] = {}
    for fact in read_remaining(task.store, task.store.facts, ids):
        if fact.kind == LABEL and fact.subject:
            found.setdefault(fact.subject, []).append(fact.turn_id)
    return found


def _turns_about(task: Task, cue: str, found: Collection[str]) -> Iterator[Hit]:
    """Yield the turns that do not say a cue, of whose facts one is about it all the same: "he" was somebody."""
    ids = dict.fromkeys(fact.turn_id for fact in _facts_about(task, cue) if fact.turn_id not in found)
    for hit in load_facts(task.store, tuple(ids)):
        if not contains_name(f"{hit.turn.speaker}: {hit.turn.text} {hit.turn.caption or ''}", cue):
            yield hit


def _facts_about(task: Task, name: str) -> tuple[Fact, ...]:
    """Return the newest facts about a person or thing."""
    known = task.store.about(name, MAX_PERSON_FACTS, task.scope).facts
    return tuple(fact for fact in known if fact.turn_id not in task.exclude)


def _check_listed(call: ToolCall, what: str, listed: Sequence[str], first: str) -> None:
    """Refuse a call whose part was not listed by the tool that comes first, or is none of those listed."""
    if not listed:
        raise Refused(f"the {what}s of {call.of!r} are not listed yet; call {first} first")
    if call.part not in listed:
        raise Refused(f"{call.of!r} has no {what} {call.part!r}{_nearest_spelling(call.part, listed)}")


def _count_rows(what: str, counts: Counter[str]) -> tuple[Row, ...]:
    """Return a row for each key, the most counted first."""
    return tuple(Row(key, what, count) for key, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def tags(hit: Hit, cue: str) -> tuple[str, ...]:
    """Return the tags of a turn for a cue: the one that a model files it under, or those of its facts about the cue.

    For a time or the speaker, those of all its facts.
    """
    if filed := read_label(hit.facts).tag:
        return (filed,)
    wanted = set(terms(cue))
    every = interval(cue) is not None or wanted <= set(terms(hit.turn.speaker))
    facts = (fact for fact in hit.facts if every or wanted <= set(terms(fact.text)))
    return tuple(dict.fromkeys(map(tag_of, facts))) or (MENTIONED_TAG,)


def tag_of(fact: Fact) -> str:
    """Return the class of a fact: that of its predicate, so that one tag stands for all its forms.

    Classes are not merged by their embeddings, as the paper's tags are: of 201 on fourteen of our chats, eight pairs
    have a cosine of .6 or more, and half of these are opposites (stay, leave; learn, teach; question, answer).
    """
    return fact_class(fact)


def time_cues(events: Iterable[TimeSpan]) -> tuple[str, ...]:
    """Return the months of events, or the years of those that are no more precise."""
    return tuple(dict.fromkeys(cue for event in events for cue in _times(event)))


def _times(event: TimeSpan) -> Iterator[str]:
    if event.start is None or event.end is None:
        return
    form = "%Y" if event.granularity in {"year", "decade"} else "%Y-%m"
    yield event.start.strftime(form)
    yield (event.end - timedelta(microseconds=1)).strftime(form)


def interval(text: str) -> tuple[datetime, datetime] | None:
    """Return the half-open interval of a year, month or day, never its middle (R6); None for anything else.

    >>> interval("2024-02")
    (datetime.datetime(2024, 2, 1, 0, 0), datetime.datetime(2024, 3, 1, 0, 0))
    """
    match = re.fullmatch(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?", text.strip())
    if match is None:
        return None
    year, month, day = int(match[1]), match[2], match[3]
    try:
        start = datetime(year, int(month or 1), int(day or 1))
        if day:
            return start, start + timedelta(days=1)
        return start, datetime(year + (not month or month == "12"), int(month) % 12 + 1 if month else 1, 1)
    except (ValueError, OverflowError):
        return None


def _cut_page(items: Sequence[T], page: int, size: int = PAGE_TURNS) -> Sequence[T]:
    first = size * (max(1, page) - 1)
    return items[first : first + size]


def _nearest_spelling(given: str, known: Iterable[str]) -> str:
    """Return which known keys are spelled like one that is not, else the first of them."""
    names = [one for one in dict.fromkeys(known) if one != given]
    near = difflib.get_close_matches(given, names, n=3, cutoff=0.5) or names[:5]
    return f"; there is {', '.join(map(repr, near))}" if near else ""


BY_RULE_REASON = "exploring takes a model, so the memory was searched as iris does"


@dataclass(frozen=True, slots=True)
class MRAgent(Variant):
    """MRAgent: at most `iterations` turns of a few calls of tools (T), from the `k` turns that the question finds.

    To explore takes a model. Without one the evidence is looked for as the loop "iris" does, which the answer says.

    Attributes:
        graph: The parts that have tools: "cue-tag-event" leaves out facts and topics, "cue-event" tags too.
        neighbours: The turns before and after a returned one are shown with it; in the paper a tool returns them.
        calls_a_turn: So many calls of tools are made in a turn at most.
        start: The evidence of the first turn: the `k` turns that a search for the question finds; in the paper, the
            cues of the question alone, from which it explores; with "walk", the turns that a walk by rule over it
            comes to, which with one turn is the paper's ablation without reasoning.
    """

    iterations: int = 8
    k: int = 5
    graph: Graph = "cue-tag-content"
    neighbours: bool = True
    calls_a_turn: int = MAX_TURN_CALLS
    start: Literal["search", "cues", "walk"] = "search"

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer a question once no tool is called any more or the turns are used up."""
        if task.judge.uses_model:
            session = Session(task, "mragent", self, neighbours=self.neighbours)
            return (yield from Exploring(session, self).run())
        iris = Iris(without=self.without)
        session = Session(task, "mragent", replace(self, iterations=iris.iterations, k=iris.k))
        session.events.append(Acted(0, "search", BY_RULE_REASON))
        answer = yield from Refining(session, iris).run()
        return replace(answer, reason=f"{BY_RULE_REASON}; {answer.reason}" if answer.reason else BY_RULE_REASON)


class Exploring(Rounds):
    """The turns of MRAgent: make the calls that the judge wants, and have it look at their results.

    `cues` are those of the question, `results` the results of tools that were kept (Z), `context` the ids of
    the turns that were kept (H), `found` those that are to be shown next, to be kept or not. `calls` are those to make
    next; `unread` is whether the last reply could not be read.
    """

    def __init__(self, session: Session, how: MRAgent) -> None:
        super().__init__(session)
        self.tools = tools_of(how.graph)
        self.views = MemoryViews(session, self.tools, how.calls_a_turn)
        self._start = how.start
        self._calls = how.calls_a_turn
        self.cues = self.context = self.found = tuple[str, ...]()
        self.results, self.calls = tuple[Result, ...](), tuple[ToolCall, ...]()
        self.unread = False

    def find(self, number: int) -> Flow[str | None]:
        """Search for the question, then make calls, and record the result or the refusal of each."""
        session = self.session
        if number == 1:
            yield from self._begin()
            if self._start == "walk":
                yield from self._walk()
            if session.retrieval.evidence or (self._start == "cues" and self.cues):
                return None
            first = Search(session.task.question)
            arrived = yield from session.retrieval.further(first, session.k, path="anchor", iteration=1)
            self.found = arrived.turns
            return None if session.retrieval.evidence else ""
        self.results += yield from self._perform(self.calls, number)
        return None

    def _perform(self, calls: Sequence[ToolCall], number: int) -> Flow[tuple[Result, ...]]:
        """Perform the calls of a turn, and record the result or the refusal of each."""
        session = self.session
        results = yield from self.views.perform(calls, number)
        for result in results:
            call, rows = result.call, [row.key for row in result.rows]
            detail = {"tool": call.tool, "of": call.of, "part": call.part, "page": call.page, "rows": rows}
            session.events.append(
                Acted(number, "call", result.refused, {**detail, "total": result.total, "behind": result.turns})
            )
        returned = (row.key for result in results for row in result.rows if session.retrieval.has(row.key))
        self.found = tuple(dict.fromkeys((*self.found, *returned)))
        return results

    def _walk(self) -> Flow[None]:
        """Walk from the cues of the question by rule: its tags nearest to the question's words, and their turns."""
        wanted = frozenset(terms(self.session.task.question))

        def nearest_keys(result: Result, what: str) -> Iterator[str]:
            rows = [row for row in result.rows if row.text.startswith(what)]
            near = sorted(rows, key=lambda row: (-len(wanted.intersection(terms(row.key))), -row.count))
            yield from (row.key for row in near[:MAX_WALKED_KEYS])

        listed = "tags_of" in self.tools
        calls = [ToolCall("tags_of" if listed else "events", cue) for cue in self.cues]
        if "person_aspects" in self.tools:
            calls += [ToolCall("person_aspects", name) for name in self.session.analysis.entities]
        results = yield from self._perform_all(calls)
        further = [
            *(ToolCall("events", one.call.of, tag) for one in results for tag in nearest_keys(one, "tag")),
            *(ToolCall("person_facts", one.call.of, key) for one in results for key in nearest_keys(one, "aspect")),
        ]
        yield from self._perform_all(further)

    def _perform_all(self, calls: Sequence[ToolCall]) -> Flow[list[Result]]:
        """Perform calls of a walk, as many at a time as a turn makes."""
        results: list[Result] = []
        for first in range(0, len(calls), self._calls):
            results += yield from self._perform(calls[first : first + self._calls], 1)
        return results

    def judge(self, number: int) -> Flow[Check]:
        """Have the judge look at its context and the new evidence, keep the relevant part, and choose the next calls.

        The rest joins no later request; a tool may return it again.
        """
        session, most, found = self.session, self.session.iterations, self.found
        view = session.show(number, only=(*self.context, *found))
        last = number >= most or session.late
        explored = Explored(number, most, last, self.cues, self.results, self.tools, self._calls)
        # An unreadable reply costs a turn.
        move: Move = yield from self.ask_judge(session.task.judge.explore(view, explored), number, Move(UNMAPPED))
        self.unread = move.verdict.reason == UNMAPPED.reason
        supports = shown_witnesses(move.supports, session.tracker.shown)
        routed = move.kept if session.has("routing") else None
        there = view.readable
        new = there.intersection(found if routed is None else routed)
        self.context = tuple(dict.fromkeys((*self.context, *sorted(new.union(supports)))))
        earlier = self.last.draft if self.last else None
        draft = make_draft(move.answer, supports, move.verdict.reason)
        if earlier is not None and earlier.text and not move.answer:
            draft = earlier
        check = session.apply_verdict(view, replace(move.verdict, notes=(draft.text,) if draft.text else ()))
        session.add_context(self.context, view)
        said = {"answer": move.answer, "supports": list(supports), "calls": len(move.calls)}
        session.events.append(Acted(number, "explore", move.verdict.reason, {**said, "context": list(self.context)}))
        self.results = route(self.results, number, routed)
        self.found = tuple(one for one in found if one not in there)
        self.calls = () if last else move.calls
        return replace(check, draft=draft, rests_on=tuple(one.turn_id for one in draft.citations))

    def stop_reason(self, number: int, check: Check) -> str | None:
        """End where nothing is called, or the turns or the time are used up."""
        if number >= self.session.iterations:
            return "turns used up"
        if self.session.late:
            return "time used up"
        return None if self.calls or self.unread else "nothing to call"

    def final(self, check: Check) -> Check | None:
        """Return the last check with the kept evidence, from which its answer is written; without any, with all."""
        if not self.session.retrieval.evidence:
            return None
        if not self.context:
            return check
        return replace(check, view=self.session.show(check.view.iteration, only=self.context))

    def _begin(self) -> Flow[None]:
        """Note the names, words and times of the question that the memory knows."""
        session = self.session
        self.cues = (*known_cues(session), *(yield from _known_times(session)))
        session.events.append(Acted(1, "cues", detail={"cues": list(self.cues)}))
