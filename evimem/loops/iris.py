"""Answer as IRIS does (EviMem section 3.2): retrieve, judge and query for the gaps, until the evidence suffices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from ..errors import InvalidQuery, or_else
from ..flow import Effect, Flow, intercept_effects
from ..judging.apply_verdict import find_stop_reason, lacks_facts
from ..judging.evidence import Variant, Verdict
from ..page.compose import turns_of_time
from ..page.profile import asks_about_user, find_statements
from ..page.question import LEAST, MOST, TOKENS_PER_HIT, Asked, BlockSearch, find_later
from ..text.names import contains_name
from ..types.results import Answer
from ..types.trace import Complete
from ..types.values import Gap, Hit, Query
from .answering import Rounds
from .evidence_view import EDGE_SHARE
from .retrieve import Retrieval, Search, Task, TupleRetrieval, is_new_query, query_from_gaps
from .session import Check, PageLimits, Session, fitting, has_unseen_words, reads_page

NO_FACTS_REASON = (
    "this loop reads facts alone, and no turn that it may read has any; open the memory with a model and call "
    'enrich(), or ask with loop="iris", which reads turns'
)
TURNS_PER_HOP = 5  # of an iteration's k, one in so many turns comes over an edge beside it


@dataclass(frozen=True, slots=True)
class Iris(Variant):
    """IRIS: rounds of a search for the question, one for the gaps, and one scored hop.

    Attributes:
        step: Turns more in each further iteration (E5: 3).
        hops: 0 follows no edges; 1 or more adds the best turns one edge away (E5: 1), with a model a fifth of an
            iteration's k, and in the place of the rest the next hits of the question's own search.
        unranked: Every turn one edge away is added in the order of their times, and a share of the shown turns is
            theirs, as in EviMem's code.
        unit: The unit that is searched and counted. A "tuple" is LaceMem's: facts alone are found, k of them by HNSW,
            and every one an edge away, same turn or alike; checks read the facts, and the answer their turns too.
        temperature: That of every model request; None leaves it to the model's own.
    """

    step: int = 3
    hops: int = 1
    unranked: bool = False
    unit: Literal["turn", "tuple"] = "turn"
    temperature: float | None = None

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer a question in at most `iterations` rounds."""
        session = Session(task, "iris", self, by_fact=self.unit == "tuple")
        return _at_temperature(Refining(session, self).run(), self.temperature)


def _at_temperature(flow: Flow[Answer], degree: float | None) -> Flow[Answer]:
    """Run a flow with a temperature for its model requests."""

    def set_temperature(effect: Effect) -> Flow[Any]:
        return (yield replace(effect, temperature=degree) if isinstance(effect, Complete) else effect)

    return flow if degree is None else intercept_effects(flow, set_temperature)


class Refining(Rounds):
    """The rounds of IRIS: search the anchor, the refined query where there is one, and one hop; judge all of it."""

    def __init__(self, session: Session, how: Iris) -> None:
        super().__init__(session)
        self._how = how
        self._tokens = session.page.tokens  # of the page of a model after the last check
        session.page = PageLimits(self._tokens, how.unranked, EDGE_SHARE if how.unranked else 0.0)
        last = session.k + how.step * (session.iterations - 1)
        further = min(MOST, max(LEAST, self._tokens // TOKENS_PER_HIT)) if reads_page(session) else 0
        session.retrieval.searches.depth_limit = max(last, further)  # of a search that any iteration reads

    def find(self, number: int) -> Flow[str | None]:
        """Search; where nothing is left that the judge has not seen, it is not asked again."""
        session, found = self.session, self.session.retrieval
        if reads_page(session):
            tokens = self._tokens * (number + 1) // (session.iterations + 1)
            session.page = replace(session.page, tokens=tokens)
        k = session.k + self._how.step * (number - 1)
        if isinstance(found, TupleRetrieval):
            new = yield from self._find_facts(found, k, number)
            if not found.count() and self.session.roster.counted:
                raise InvalidQuery(NO_FACTS_REASON)
        else:
            new = yield from self._find_turns(found, k, number)
        if reads_page(session) and not new:  # the words that a line left out are new too
            new = has_unseen_words(session, number)
        # The paper ends on evidence or by iterations alone, and abstains by the checks that this takes (E11).
        by_paper = self.last is not None and session.variant.abstain == "paper"
        return None if new or by_paper else "no new evidence"

    def stop_reason(self, number: int, check: Check) -> str | None:
        """Stop where the evidence suffices, where no search would help, or at the end of the iterations or the time."""
        if reason := find_stop_reason(check.verdict, check.view.before, temporal=self.session.analysis.temporal):
            return reason
        if number == self.session.iterations:
            return "iterations used up"
        if check.verdict.draft is not None and not check.verdict.query and not check.lowered:
            return "the judge looks for nothing more"
        return "time used up" if self.session.late else None

    def _find_turns(self, found: Retrieval, k: int, number: int) -> Flow[bool]:
        """Search turns, and add the best one edge away; for a model, whatever its page may hold."""
        session, before, question = self.session, len(found.evidence), Search(self.session.task.question)
        if self.last is None or session.has("anchor"):
            yield from found.search(question, k, path="anchor", iteration=number)
        if self.last is not None:
            yield from self._refine(k, number, self.last)
        if self._how.hops and session.has("edges"):
            on = reads_page(session) and not self._how.unranked
            hop = max(1, k // TURNS_PER_HOP) if on else k // 2
            seeds = tuple(item.turn.id for item in found.evidence[: session.k])
            if seeds:
                found.expand(seeds, None if self._how.unranked else hop, number)
            if on and self.last is None:
                yield from self._find_page_parts(found, number)
            if on and (self.last is None or session.has("anchor")):
                hits = yield from found.searches.rank(question, found.searches.depth_limit)
                found.keep(fitting(session, hits, "further", number), "further", number)
        return len(found.evidence) > before

    def _find_page_parts(self, found: Retrieval, number: int) -> Flow[None]:
        """Add the parts of a page beside the hits of its search."""
        session, task = self.session, self.session.task
        if not session.has("index"):
            return

        def recall_query(query: Query) -> Flow[tuple[Hit, ...]]:
            yield from ()
            return task.store.recall(query)

        asked = Asked(task.question)
        hits = yield from found.searches.rank(Search(task.question), session.k)
        roster, hinted = session.roster, session.analysis.hints
        best = BlockSearch(hits, hinted, Query(task.question), roster.speakers, roster.date_order)
        of_time = turns_of_time(task.store, best, task.scope, session.asked_at, task.exclude)
        later = yield from find_later(recall_query, best, task.exclude, task.scope, asked)
        said: dict[str, str] = {}
        named = {"of_time": tuple(Hit(turn, (), 0.0) for turn in of_time), "later": later}
        if or_else(None, asks_about_user, task.question):
            told = yield from find_statements(
                task.store, recall_query, task.scope, task.exclude, shipped=task.move is not None
            )
            said = {one.turn.id: one.text for one in told}
            named["profile"] = tuple(Hit(one.turn, (), 0.0) for one in told)
        for path, some in named.items():
            if some:
                found.keep(some, path, number)
                found.parts[path] = {hit.turn.id: said.get(hit.turn.id, "") for hit in some}

    def _find_facts(self, found: TupleRetrieval, k: int, number: int) -> Flow[bool]:
        """Search facts for the question and for the gaps, and follow every edge of both (Algorithm 1)."""
        session, before = self.session, found.count()
        queries = {"anchor": session.task.question} if self.last is None or session.has("anchor") else {}
        if self.last is not None and (query := self._new(self.last.verdict, self.last.verdict.query, number)):
            queries["refined"] = query
        seeds = dict[str, None]()
        for path, query in queries.items():
            arrived = yield from found.nearest(query, k, path=path, iteration=number)
            seeds |= dict.fromkeys(arrived.facts)
        if seeds and self._how.hops and session.has("edges"):
            found.follow_edges(tuple(seeds), number)
        return found.count() > before

    def _refine(self, k: int, number: int, check: Check) -> Flow[None]:
        """Search for the gaps: the worst gap chooses the path; the judge, or else the gap, the words.

        A name with too few facts is in the words, whatever the judge asks for: it may not have known of the downgrade.
        """
        session, verdict, query = self.session, check.verdict, check.verdict.query
        gap = verdict.gaps[0] if verdict.gaps else Gap("none", "", "")
        if gap.kind == "entity":
            if session.has("index"):
                session.look_up(gap.about, number)
            count = check.view.entities.get(gap.about)
            if query and count is not None and lacks_facts(count) and not contains_name(query, gap.about):
                query = f"{gap.about} {query}"
        if query := self._new(verdict, query, number):
            speaker = gap.about if gap.kind == "attribution" and gap.about in session.roster.speakers else None
            wanted = Search(query, speaker, when=gap.kind == "time")
            yield from session.search(wanted, k, path="refined", iteration=number)
            sought = yield from session.retrieval.searches.rank(wanted, k)
            session.retrieval.parts["sought"] = dict.fromkeys((hit.turn.id for hit in sought[:k]), "")

    def _new(self, verdict: Verdict, query: str, number: int) -> str:
        """Return a query if it is new, or else one from a gap; empty where each was searched for."""
        earlier = self.session.retrieval.queries
        if is_new_query(query, earlier):
            return query
        return query_from_gaps(self.session.analysis, verdict.gaps, earlier, number)


@dataclass(frozen=True, slots=True)
class SinglePass(Variant):
    """One search, one check, one answer."""

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer a question from one search."""
        return Once(Session(task, "single_pass", self)).run()


class Once(Rounds):
    """One round."""

    def find(self, number: int) -> Flow[str | None]:
        """Search for the question."""
        session = self.session
        yield from session.search(Search(session.task.question), session.k, path="anchor", iteration=number)
        return None if session.retrieval.evidence else ""

    def stop_reason(self, number: int, check: Check) -> str:
        """End after it."""
        return "single pass"
