"""A judge that spares the judge's request where the offline judge can tell for free that the evidence suffices."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..flow import Flow
from ..judging.clamps import calibrate, sufficient
from ..judging.evidence import Draft, Manner, Verdict, View
from ..offline.offline_judge import OfflineJudge
from ..types.values import Tier
from .llm_judge import LLMJudge

LEAST_TURNS = 200  # in a memory; the conversations that its precision was measured on have 400 and more
SURE = 0.95  # of the probability that the memory answers the question; EXACT has as much precision (Constants.exact)


@dataclass(frozen=True, slots=True)
class GatedJudge:
    """Asks the model for a verdict unless the offline judge finds exact evidence and is sure of it.

    The answer is always the model's, and what is doubtful, coarse, about somebody else or short of facts is always the
    model's to judge. `least` is the probability from which on the offline judge is believed.
    """

    model: LLMJudge
    offline: OfflineJudge
    least: float = SURE

    @property
    def name(self) -> str:
        """The judge's name in the trace, where the model was asked."""
        return self.model.name

    @property
    def abstain_below(self) -> float:
        """The model's threshold: what is spared its judgement lies above any."""
        return self.model.abstain_below

    def judge(self, view: View) -> Flow[Verdict]:
        """Return the offline verdict where it is sure at the first check, else the model's.

        Where it is not sure then, it hardly ever is later (3 of 227 on LoCoMo's development conversations).
        """
        if view.iteration == 1:
            found = yield from self.offline.judge(view)
            if self._is_sure(found, view):
                return replace(found, judge=self.offline.name, reason="")
        return (yield from self.model.judge(view))

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """Return the model's answer."""
        return self.model.answer(view, verdict, manner)

    def _is_sure(self, found: Verdict, view: View) -> bool:
        if found.tier is not Tier.EXACT or (found.probability or 0.0) < self.least:
            return False
        temporal = view.analysis.temporal
        final = calibrate(found, temporal=temporal, entities=view.entities)
        return sufficient(final.tier, final.confidence, temporal=temporal)
