"""A judge that skips the model's verdict where the offline judge is already sure that the evidence suffices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..flow import Flow
from ..judging.apply_verdict import follow, settle, sufficient
from ..judging.decision import Decided, Stage
from ..judging.evidence import Draft, Manner, Verdict, View
from ..judging.exploring import Explored, Move
from ..judging.reading import Chosen, Considered, Round
from ..offline.offline_judge import OfflineJudge
from ..types.stored import Keyword
from ..types.values import Tier
from .llm_judge import LLMJudge

LEAST_TURNS = 200  # in a memory: the gate's precision was measured on conversations of 400 turns and more
# Probability that the view holds all evidence of an answer that was told (`Constants.completeness`). It was fitted on
# our chats and LoCoMo, and held on registers that were left out (benchmarks/README.md).
SURE = 0.95


@dataclass(frozen=True, slots=True)
class GatedJudge:
    """Uses the offline verdict where it is EXACT and sure, else the model's; answers are always the model's.

    Evidence that is doubtful, coarse, about another person or short of facts is judged by the model. `least` is the
    probability, 0 to 1, from which on the offline verdict is used.
    """

    model: LLMJudge
    offline: OfflineJudge
    least: float = SURE

    @property
    def name(self) -> str:
        """The name of the judge in traces: the model's."""
        return self.model.name

    @property
    def abstain_below(self) -> float:
        """The model judge's threshold; verdicts that skip the model lie above it."""
        return self.model.abstain_below

    @property
    def reads_on(self) -> bool:
        """As the model's: it judges nearly every view."""
        return self.model.reads_on

    def judge(self, view: View) -> Flow[Verdict]:
        """Return the offline verdict where it is sure at the first check, else the model's.

        The first check only: where it is not sure then, it hardly ever is later (3 of 227 questions on LoCoMo dev).
        """
        if view.iteration == 1:
            found = yield from self.offline.judge(view)
            if self._is_sure(found, view):
                return replace(found, judge=self.offline.name, reason="")
        return (yield from self.model.judge(view))

    def decide(self, view: View, stage: Stage) -> Flow[Decided]:
        """Return the model's decision."""
        return self.model.decide(view, stage)

    def choose(self, question: str, candidates: Sequence[Keyword], most: int) -> Flow[Chosen]:
        """Return the model's choice."""
        return self.model.choose(question, candidates, most)

    def consider(self, view: View, reading: Round) -> Flow[Considered]:
        """Return what the model makes of a round."""
        return self.model.consider(view, reading)

    def explore(self, view: View, explored: Explored) -> Flow[Move]:
        """Return the model's move."""
        return self.model.explore(view, explored)

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """Return the model's answer."""
        return self.model.answer(view, verdict, manner)

    def _is_sure(self, found: Verdict, view: View) -> bool:
        complete = self.offline.constants.completeness(found.probability or 0.0, found.confidence)
        if found.tier is not Tier.EXACT or complete < self.least:
            return False
        final = settle(found, view, follow(view.tracker, found, view.iteration).tracker, self.model.budget)
        return sufficient(final.tier, final.confidence, temporal=view.analysis.temporal)
