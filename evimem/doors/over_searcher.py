"""Ask a question of any `Searcher` in place of a memory: the same loops over another backend (M8)."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from ..errors import InvalidQuery, shown
from ..flow import Awaited, Effect, Flow, arun, run
from ..judging.judge import Judge
from ..judging.variant import Ablation
from ..llm.llm_judge import LLMJudge
from ..loops import LOOPS, OVER_SEARCHERS, answer_question, check_budget
from ..loops.task import Loop
from ..offline.offline_judge import OfflineJudge
from ..protocols import AsyncSearcher, Searcher, Store
from ..types.answer import Answer, Budget
from ..types.model import Complete
from ..types.stored import COUNTED, Roster
from ..types.values import Hit, Query, Turn
from .checked_arguments import checked_items, checked_kind, checked_part
from .open import chat_model
from .operations import Core, needed, read_time

# What only our own store has: facts and vectors, edges between facts, the number of facts about a name.
_OURS: frozenset[Ablation] = frozenset(("index", "edges", "entities"))


class SearchedStore:
    """What a loop reads of a store, answered by a searcher: who speaks, the best turns, what stands around them.

    A searcher knows no neighbours of a turn, so each stands alone, and not how many turns there are, so that its end
    shows only by searches that bring nothing.
    """

    def __init__(self, searcher: Any, speakers: Sequence[str], asked_at: datetime | None) -> None:
        """Take the names of who speaks, and the time that counts as today."""
        self._searcher = searcher
        self._roster = Roster(tuple(speakers), None, asked_at, COUNTED)
        self._turns: dict[str, Turn] = {}

    def __getattr__(self, name: str) -> Any:
        """Refuse what else a loop reads of a store. Raise InvalidQuery."""
        if name.startswith("__"):  # asked for by Python itself, to copy or print this
            raise AttributeError(name)
        raise _not_of_a_searcher(name)

    def roster(self) -> Roster:
        """Return who speaks and the time that counts as today."""
        return self._roster

    def recall(self, query: Query) -> Any:
        """Return the hits for the text of a query, nothing excluded; of an asynchronous searcher to be awaited."""
        hits = self._searcher.search(query.text, query.k, exclude=query.exclude)
        return hits if inspect.isawaitable(hits) else self.found(hits)

    def found(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Return hits, whose turns are known from now on. Raise InvalidQuery for what are none."""
        found = checked_items("what the searcher found", hits, "evimem.Hit")
        for hit in found:
            checked_kind("what the searcher found", hit, Hit)
            checked_kind("the turn of a hit", hit.turn, Turn)
        self._turns.update((hit.turn.id, hit.turn) for hit in found)
        return tuple(found)

    def contexts(self, turn_ids: Sequence[str], before: int, after: int) -> tuple[tuple[Turn, ...], ...]:
        """Return each turn alone."""
        return tuple((self._turns[turn_id],) for turn_id in turn_ids)

    def order(self, turn_ids: Sequence[str]) -> tuple[str, ...]:
        """Return no id: a searcher knows of no turn whether it came before another of its time."""
        return ()


def ask_searcher(
    question: str,
    searcher: Searcher,
    *,
    llm: Any = None,
    speakers: Sequence[str] = (),
    asked_at: datetime | str | None = None,
    loop: str | Loop = "memr3",
    budget: Budget = Budget(),
) -> Answer:
    """Answer a question from what a searcher finds, with a loop, as `Memory.ask` does from a memory.

    Without a model, the probability below which nothing is given was fitted to the scores of our own search: over
    another backend give `budget.abstain_below`. A `Memory` is a searcher too, but knows more of itself: ask it.

    Args:
        question: 1 to 100,000 characters.
        searcher: The backend: `search(query, k, exclude=ids)` returns at most k `Hit`s, none of a turn in `exclude`.
        llm: The model, as for `evimem.open`; None judges and answers without one.
        speakers: The names of who speaks, by which a question is read.
        asked_at: "Today" for the question; None leaves times in the question unread.
        loop: The loop's name: "iris", "memr3" or "single_pass"; the others read what only our own store has. Or a loop
            of your own that only searches.
        budget: Limits of the loop. What only our own store has is left out, which the trace records.

    Raises:
        InvalidQuery: An argument is none that can be used, the searcher returned no hits but something else, or the
            loop reads more than a searcher has.
        NoModel: A loop of your own asks a model, and there is none.
        ModelError: The model failed; `partial` of the error is an `Answer` with the evidence so far.
    """
    if inspect.iscoroutinefunction(getattr(searcher, "search", None)):
        raise _to_be_awaited(searcher)
    model = chat_model(llm)
    flow, _ = _asking(question, searcher, model, speakers, asked_at, loop, budget)

    def perform(effect: Effect) -> Any:
        if isinstance(effect, Complete):
            return needed(model).complete(effect)
        raise _to_be_awaited(searcher) if isinstance(effect, Awaited) else _not_of_a_searcher(type(effect).__name__)

    return run(flow, perform)


async def ask_searcher_async(
    question: str,
    searcher: AsyncSearcher,
    *,
    llm: Any = None,
    speakers: Sequence[str] = (),
    asked_at: datetime | str | None = None,
    loop: str | Loop = "memr3",
    budget: Budget = Budget(),
) -> Answer:
    """Do what `ask_searcher` does on an event loop: searches and the model are awaited; see `ask_searcher`."""
    model = chat_model(llm)
    if model is not None:
        checked_part("llm", model, ("as_async",))
        model = model.as_async()
    flow, store = _asking(question, searcher, model, speakers, asked_at, loop, budget)

    async def perform(effect: Effect) -> Any:
        if isinstance(effect, Complete):
            return await needed(model).complete(effect)
        if isinstance(effect, Awaited):
            return store.found(await effect.hits)
        raise _not_of_a_searcher(type(effect).__name__)

    return await arun(flow, perform)


def _asking(
    question: str,
    searcher: Any,
    model: Any,
    speakers: Sequence[str],
    asked_at: datetime | str | None,
    loop: str | Loop,
    budget: Budget,
) -> tuple[Flow[Answer], SearchedStore]:
    """Return the flow of a question, and what it reads."""
    checked_part("searcher", searcher, ("search",))
    wanted = checked_kind("budget", budget, Budget)
    check_budget(wanted)
    named = checked_items("speakers", speakers, "names")
    for name in named:
        checked_kind("the name of a speaker", name, str)
    if isinstance(loop, str) and loop in LOOPS and loop not in OVER_SEARCHERS:
        usable = ", ".join(sorted(OVER_SEARCHERS))
        raise InvalidQuery(
            f"the loop {shown(loop)} reads more of a memory than a searcher has; expected one of {usable}"
        )
    today = read_time("asked_at", asked_at)
    store = SearchedStore(searcher, named, today)
    offline = OfflineJudge(extractor=Core.default_extractor())
    judge: Judge = offline if model is None else LLMJudge()
    flow = answer_question(
        question, store=cast(Store, store), judge=judge, loop=loop, asked_at=today, budget=wanted, lacking=_OURS
    )
    return flow, store


def _to_be_awaited(searcher: object) -> InvalidQuery:
    return InvalidQuery(f"the search of {type(searcher).__name__} must be awaited; ask with ask_searcher_async")


def _not_of_a_searcher(name: str) -> InvalidQuery:
    usable = ", ".join(sorted(OVER_SEARCHERS))
    return InvalidQuery(
        f"the loop asked for {name!r}, which a searcher has not; expected a loop that only searches: {usable}, or one "
        "of your own that does"
    )
