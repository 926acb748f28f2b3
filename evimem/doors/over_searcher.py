"""Ask a question of any `Searcher` in place of a memory: the same loop over another backend (M8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ..errors import InvalidQuery
from ..flow import Effect, StoreCall, run
from ..judging.judge import Judge
from ..llm.llm_judge import LLMJudge
from ..loops import LOOPS, OVER_SEARCHERS, answer_question
from ..offline.offline_judge import offline_judge
from ..protocols import Searcher
from ..types.answer import Answer
from ..types.budget import Ablation, Budget
from ..types.model import Complete
from ..types.stored import COUNTED, Roster
from ..types.values import Hit, Query, Turn
from .checked_arguments import checked_kind, checked_part
from .open import chat_model
from .operations import Core, parse_time

# What only our own store has: facts and vectors, edges between facts, the number of facts about a name.
_OURS: frozenset[Ablation] = frozenset(("index", "edges", "entities"))


class SearchedStore:
    """What a loop reads of a store, answered by a searcher: who speaks, the best turns, what stands around them.

    A searcher knows no neighbours of a turn, so each stands alone, and not how many turns there are, so that its end
    shows only by searches that bring nothing.
    """

    def __init__(self, searcher: Searcher, speakers: Sequence[str], asked_at: datetime | None) -> None:
        """Take the names of who speaks, and the time that counts as today."""
        self._searcher = searcher
        self._roster = Roster(tuple(speakers), None, asked_at, COUNTED)
        self._turns: dict[str, Turn] = {}

    def roster(self) -> Roster:
        """Return who speaks and the time that counts as today."""
        return self._roster

    def recall(self, query: Query) -> tuple[Hit, ...]:
        """Return what the searcher finds for the text of a query, nothing excluded."""
        hits = tuple(self._searcher.search(query.text, query.k, query.exclude))
        self._turns.update((hit.turn.id, hit.turn) for hit in hits)
        return hits

    def contexts(self, turn_ids: Sequence[str], before: int, after: int) -> tuple[tuple[Turn, ...], ...]:
        """Return each turn alone."""
        return tuple((self._turns[turn_id],) for turn_id in turn_ids)


def ask_searcher(
    question: str,
    searcher: Searcher,
    *,
    llm: Any = None,
    speakers: Sequence[str] = (),
    asked_at: datetime | str | None = None,
    loop: str = "memr3",
    budget: Budget = Budget(),
) -> Answer:
    """Answer a question from what a searcher finds, with a loop, as `Memory.ask` does from a memory.

    Without a model, the probability below which nothing is given was fitted to the scores of our own search: over
    another backend give `budget.abstain_below`.

    Args:
        question: 1 to 100,000 characters.
        searcher: The backend; it must leave out the turns of `exclude`.
        llm: The model, as for `evimem.open`; None judges and answers without one.
        speakers: The names of who speaks, by which a question is read.
        asked_at: "Today" for the question; None leaves times in the question unread.
        loop: The loop's name: "iris", "memr3" or "single_pass"; the others read what only our own store has.
        budget: Limits of the loop. What only our own store has is left out of it (`without`), which the trace records.

    Raises:
        InvalidQuery: An argument is none that can be used.
        ModelError: The model failed; `partial` of the error is an `Answer` with the evidence so far.
    """
    checked_part("searcher", searcher, ("search",))
    model, wanted = chat_model(llm), checked_kind("budget", budget, Budget)
    if isinstance(speakers, str):
        raise InvalidQuery(f"speakers is {speakers!r:.60}; expected the names in a list")
    if loop in LOOPS and loop not in OVER_SEARCHERS:
        usable = ", ".join(sorted(OVER_SEARCHERS))
        raise InvalidQuery(f"the loop {loop!r} reads more of a memory than a searcher has; expected one of {usable}")
    today = parse_time("asked_at", asked_at)
    store = SearchedStore(searcher, speakers, today)
    within = replace(wanted, without=frozenset(wanted.without) | _OURS)

    def perform(effect: Effect) -> Any:
        if isinstance(effect, StoreCall):
            return getattr(store, effect.method)(*effect.args, **effect.options)
        if isinstance(effect, Complete):
            return model.complete(effect)
        raise TypeError(f"a loop over a searcher asked for {type(effect).__name__}")

    asking = answer_question(question, judge=_judge(model, within), loop=loop, asked_at=today, budget=within)
    return run(asking, perform)


def _judge(model: Any, budget: Budget) -> Judge:
    if model is None:
        return offline_judge(budget.reader, Core.default_extractor())
    return LLMJudge().within(budget)
