"""MemR3: search, then decide each time to search on, to think or to answer; a router has the last word (M1 to M12).

A model is shown the turns of the last search, and its claims about all turns before, with the ids of those turns: a
request has the same size however many decisions there were. A judge that claims nothing is shown all that was found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ..flow import Flow
from ..judging.evidence import Variant, View, is_short_enough_as_neighbour
from ..judging.judge import UNSEARCHABLE_GAP_KINDS, Action, Decided, Stage
from ..judging.tracker import Tracker
from ..types.results import Answer
from ..types.stored import MAX_COUNTED_TURNS
from ..types.trace import Acted
from ..types.values import Gap
from .answering import Rounds
from .retrieve import Search, Task, is_new_query, query_from_gaps
from .session import UNJUDGED, Check, Session

MAX_MISSES = 2  # searches in a row that bring nothing, after which nothing is expected of another

Rule = Literal["budget", "nothing left", "nothing found", "enough thought", "gaps are open", "as decided"]


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts that the router decides by.

    `wanted` is the action that was decided on. `decisions` counts those made, this one included, of at most `most`
    (n_max); `cap` is how many reflections in a row there may be (n_cap). `exhausted` is whether every item of the
    backend was returned. `searched` is whether the step before this decision was a search; the last search brought
    nothing if `misses`, the number of such in a row, is above 0. `reflections` counts those in a row before this
    decision, `gaps` is whether a requirement is open that a search may close.
    """

    wanted: Action
    decisions: int
    most: int
    cap: int
    exhausted: bool
    misses: int
    searched: bool
    reflections: int
    gaps: bool


@dataclass(frozen=True, slots=True)
class Route:
    """The next action, and the rule that chose it."""

    action: Action
    rule: Rule


def route(now: Situation) -> Route:
    """Return the next action; of several rules that apply the first holds (M2).

    A reflection is forced only right after a search that brought nothing: thinking finds nothing new, so a rule that
    held for longer would never end.
    """
    if now.decisions >= now.most:
        return Route("answer", "budget")
    if now.exhausted or now.misses >= MAX_MISSES:
        return Route("answer", "nothing left")
    if now.searched and now.misses:
        return Route("reflect", "nothing found")
    if now.gaps and now.reflections >= now.cap:
        return Route("retrieve", "enough thought")
    if now.gaps and now.wanted == "answer":
        return Route("retrieve", "gaps are open")
    return Route(now.wanted, "as decided")


def route_literally(now: Situation) -> Route:
    """Return the next action of the paper's Algorithm 1, in its order: for ablations only.

    Its second rule holds for as long as the last search has brought nothing, and thinking changes nothing of that: from
    then on it thinks until the budget ends.
    """
    if now.decisions >= now.most:
        return Route("answer", "budget")
    if now.misses:
        return Route("reflect", "nothing found")
    if now.reflections >= now.cap:
        return Route("retrieve", "enough thought")
    return Route(now.wanted, "as decided")


@dataclass(frozen=True, slots=True)
class MemR3(Variant):
    """MemR3: at most `iterations` decisions (n_max), each after a search of `k` turns (n_chk) or a reflection.

    Attributes:
        reflections: So many in a row, after which an open gap is searched for (n_cap).
        router: "paper" is Algorithm 1 in its order: after a search that brings nothing it thinks until the budget ends,
            and an answer is believed though gaps are open. "guarded" ends where nothing is left, and searches on.
        neighbours: The turns before and after a returned one are shown with it, and not returned later.
    """

    iterations: int = 5
    k: int = 5
    reflections: int = 1
    router: Literal["guarded", "paper"] = "guarded"
    neighbours: bool = True

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer a question once the router says so."""
        return Deciding(Session(task, "memr3", self, neighbours=self.neighbours), self).run()


class Deciding(Rounds):
    """The rounds of MemR3: a search or a reflection, then a decision, which the router has routed.

    `claims` is whether findings are kept in words, so that their turns need not be shown again. `searched` is whether
    the last step was a search, `misses` the number of searches in a row without a new turn, `reflections` those in a
    row. `tried` are the queries besides the question, `thoughts` the results of reflections, in order.
    `newest` are the turns to be shown next, `unread` those of them that were not, `seen` turns that were shown whole
    beside a found one. `route` and `verdict` are of the last decision.
    """

    def __init__(self, session: Session, how: MemR3) -> None:
        super().__init__(session)
        self.how = how
        self.claims = session.task.judge.uses_model and session.has("tracker")
        self.searched, self.misses, self.reflections = True, 0, 0
        self.tried, self.thoughts = tuple[str, ...](), tuple[str, ...]()
        self.newest, self.unread, self.seen = tuple[str, ...](), tuple[str, ...](), frozenset[str]()
        self.route = Route("retrieve", "as decided")
        self.refused: tuple[Action, Action, str] | None = None  # the last decision, where the router did otherwise
        self.verdict = UNJUDGED

    def find(self, number: int) -> Flow[str | None]:
        """Search for the question, then for the gaps, or keep the thought of a reflection."""
        session = self.session
        if self.last is None:
            yield from self._search(session.task.question, number)
        elif self.route.action == "reflect" and session.has("reflection"):
            thought = "" if self.verdict.reason == UNJUDGED.reason else self.verdict.reason
            self.thoughts += (thought,) if thought else ()
            self.searched, self.reflections = False, self.reflections + 1
        else:
            yield from self._refine(self.last, number)
        return None if session.retrieval.evidence or not self._is_exhausted() else ""

    def judge(self, number: int) -> Flow[Check]:
        """Have the judge decide on the evidence so far, record it, and route it."""
        session, most, literal = self.session, self.session.iterations, self.how.router == "paper"
        view = session.show(number, only=self.newest if self.claims else None)
        last = number >= most or (not literal and (self._is_exhausted() or self.misses >= MAX_MISSES))
        tired = self.reflections >= self.how.reflections
        empty = self.searched and self.misses > 0
        stage = Stage(number, most, last, empty, tired, self.refused, not literal, self.tried, self.thoughts)
        # Where the reply cannot be read the search goes on by the gaps that are known (M7).
        unread = Decided("retrieve", UNJUDGED)
        decided = yield from self.ask_judge(session.task.judge.decide(view, stage), number, unread)
        if not session.has("tracker"):
            untracked = replace(decided.verdict, supported={}, waived={}, extended=(), claims=(), mapped=False)
            decided = replace(decided, verdict=untracked)
        check = session.apply_verdict(view, decided.verdict)
        notes = tuple(note for note in (*self.thoughts, decided.draft) if note)
        gaps = open_gaps(check.view.tracker, check.verdict.gaps)
        check = replace(check, verdict=replace(check.verdict, gaps=gaps, notes=notes))
        self.verdict = decided.verdict
        self.route = (route_literally if literal else route)(
            Situation(
                wanted=decided.action,
                decisions=number,
                most=most,
                cap=self.how.reflections,
                exhausted=self._is_exhausted(),
                misses=self.misses,
                searched=self.searched,
                reflections=self.reflections,
                gaps=any(need.kind not in UNSEARCHABLE_GAP_KINDS for need in check.view.tracker.open),
            )
        )
        self.refused = None
        if self.route.action != decided.action and decided is not unread:
            self.refused = (decided.action, self.route.action, self.route.rule)
        routed = {"wanted": decided.action, "action": self.route.action, "rule": self.route.rule}
        session.events.append(Acted(number, "decide", decided.verdict.reason, {**routed, "draft": decided.draft}))
        self._note_shown(check.view)
        return check

    def stop_reason(self, number: int, check: Check) -> str | None:
        """End where the router says so, or the time is used up."""
        if self.route.action == "answer":
            return self.route.rule
        return "time used up" if self.session.late else None

    def final(self, check: Check) -> Check | None:
        """Return the last check with the claims and the turns that state them: its answer is written from them."""
        session = self.session
        if not session.retrieval.evidence:
            return None
        if not self.claims:
            return check
        claims, shown = session.tracker.held, {item.turn.id for item in check.view.shown}
        only = shown.union(session.pinned, session.tracker.witnesses) if claims else None
        view = session.show(check.view.iteration, only=only)
        notes = (*(claim.text for claim in claims), *check.verdict.notes)
        return replace(check, view=view, verdict=replace(check.verdict, notes=notes))

    def _refine(self, check: Check, number: int) -> Flow[None]:
        """Search for the question and the gaps, in words that were not tried (M4); without such words not at all."""
        session, question = self.session, self.session.task.question
        if not session.has("delta"):
            yield from self._search(question, number)
            return
        earlier, delta = (question, *self.tried), self.verdict.query
        if not is_new_query(delta, earlier):
            delta = query_from_gaps(session.analysis, check.verdict.gaps, earlier, number)
        if delta:
            self.tried += (delta,)
            yield from self._search(f"{question} {delta}", number)
            return
        session.events.append(Acted(number, "search nothing", "every query for what is missing was tried"))
        self.searched, self.reflections, self.misses, self.newest = True, 0, self.misses + 1, self.unread

    def _search(self, text: str, number: int) -> Flow[None]:
        """Search for turns that were not returned before (M3)."""
        path = "refined" if number > 1 else "anchor"
        arrived = yield from self.session.retrieval.further(
            Search(text), self.session.k, path=path, iteration=number, without=self.seen
        )
        self.searched, self.reflections = True, 0
        self.misses = 0 if arrived.turns else self.misses + 1
        self.newest = tuple(dict.fromkeys((*self.unread, *arrived.turns)))

    def _note_shown(self, view: View) -> None:
        """Note the turns that were shown; those of a request whose reply could not be read were not seen."""
        read = self.verdict.reason != UNJUDGED.reason
        shown = {item.turn.id for item in view.shown} if read else set()
        self.unread = tuple(turn_id for turn_id in self.newest if turn_id not in shown)
        if self.claims and read:
            self.seen = self.seen.union(
                turn.id for turn in view.turns_around.values() if is_short_enough_as_neighbour(turn)
            )

    def _is_exhausted(self) -> bool:
        """Whether every turn of the memory was returned, or shown beside another; not known of one that is large."""
        counted = self.session.roster.counted
        found = self.seen.union(item.turn.id for item in self.session.retrieval.evidence)
        return counted < MAX_COUNTED_TURNS and len(found) >= counted


def open_gaps(tracker: Tracker, stated: Iterable[Gap]) -> tuple[Gap, ...]:
    """Return the gaps that were stated, and those of open requirements, without those of closed ones (M5, M6).

    That evidence is about another person is a gap only where it was stated, not where it was not checked.
    """
    still_open = tuple(need.gap for need in tracker.open)
    closed = {need.gap for need in tracker.requirements}.difference(still_open)
    missing = (gap for gap in still_open if gap.kind != "attribution")
    return tuple(dict.fromkeys(gap for gap in (*stated, *missing) if gap not in closed))
