"""The judge of a loop: it judges evidence and words the answer, with a model or without one."""

from __future__ import annotations

from typing import Protocol

from ..flow import Flow
from .evidence import Draft, Manner, Verdict, View


class Judge(Protocol):
    """Judges a view and answers from it. Both are flows: only a judge that has a model yields `Complete`.

    The loop owns everything else: retrieval, accumulation, the tracker, calibration, stopping, the next query
    when the judge has none, abstention, and the check that every citation was shown. A `ModelError` that a judge
    raises ends the question with that error; it never becomes an abstention.
    """

    @property
    def name(self) -> str:
        """The judge's name in the trace."""
        ...

    @property
    def abstain_below(self) -> float:
        """The probability below which this judge's answers are not given, unless the budget names one."""
        ...

    def judge(self, view: View) -> Flow[Verdict]:
        """Say how far the shown evidence answers the question, what is missing, and what to look for next."""
        ...

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """Word the answer in a manner, from shown evidence only; `verdict` is the calibrated one."""
        ...
