"""The judge of a loop: it judges evidence, decides what to do next and words the answer, with a model or without."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from ..flow import Flow
from ..types.stored import Keyword
from .decision import Decided, Stage
from .evidence import Draft, Manner, Verdict, View
from .exploring import Explored, Move
from .reading import Chosen, Considered, Round


class Judge(Protocol):
    """Judges a view, decides by it and answers from it: flows, of which only those of a model yield `Complete`.

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

    @property
    def reads_on(self) -> bool:
        """Whether it is given what the question's search finds next in place of most turns that edges lead to (IRIS).

        Not a judge whose numbers were fitted on views of the other kind.
        """
        ...

    @property
    def explores(self) -> bool:
        """Whether it reads what it is shown as people do, and keeps it in its own words: what takes a model.

        Only then may `explore` be asked, and is what was found before shown to `decide` as its claims.
        """
        ...

    def legible(self, view: View) -> Collection[str]:
        """Return the ids of the turns of a view, found or around, that there is room for on this judge's page."""
        ...

    def judge(self, view: View) -> Flow[Verdict]:
        """Say how far the shown evidence answers the question, what is missing, and what to look for next."""
        ...

    def decide(self, view: View, stage: Stage) -> Flow[Decided]:
        """Judge the shown evidence and say whether to search on, to think or to answer (MemR3)."""
        ...

    def choose(self, question: str, candidates: Sequence[Keyword], most: int) -> Flow[Chosen]:
        """Choose at most so many of the keywords that a question matches, of which there are more (MGRetrieval)."""
        ...

    def consider(self, view: View, reading: Round) -> Flow[Considered]:
        """Judge the critical and the new turns of a round, keep what an answer rests on, accept it or not."""
        ...

    def explore(self, view: View, explored: Explored) -> Flow[Move]:
        """Judge what was found, and say which tools to call next, or what the answer is (MRAgent)."""
        ...

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """Word the answer in a manner, from shown evidence only; `verdict` is the calibrated one."""
        ...
