"""The judge that needs no model: rules and a small linear model judge, an extractive reader answers."""

from __future__ import annotations

from dataclasses import dataclass

from ..flow import Flow
from ..judging.evidence import Draft, Manner, Verdict, View
from .answer_reader import read
from .constants import SHIPPED, Constants
from .sufficiency import judge


@dataclass(frozen=True, slots=True)
class OfflineJudge:
    """Judges and answers by computation alone: no effect is ever yielded."""

    constants: Constants = SHIPPED
    name: str = "offline"

    @property
    def abstain_below(self) -> float:
        """The probability below which no answer is given."""
        return self.constants.abstain_below

    def judge(self, view: View) -> Flow[Verdict]:
        """See `evimem.offline.sufficiency`."""
        yield from ()
        return judge(view, self.constants)

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """See `evimem.offline.answer_reader`: a short span, whatever the manner; its limits are the reason."""
        yield from ()
        return read(view, self.constants)
