"""The mind that needs no model: rules and a small linear model judge, an extractive reader answers."""

from __future__ import annotations

from dataclasses import dataclass

from ..evidence import Draft, Manner, Verdict, View
from ..flow import Flow
from .confidence import SHIPPED, Constants
from .judge import judge
from .reader import read


@dataclass(frozen=True, slots=True)
class OfflineMind:
    """Judges and answers by computation alone: no effect is ever yielded."""

    constants: Constants = SHIPPED
    name: str = "offline"

    @property
    def abstain_below(self) -> float:
        """The probability below which no answer is given."""
        return self.constants.abstain_below

    def judge(self, view: View) -> Flow[Verdict]:
        """See `evimem.offline.judge`."""
        yield from ()
        return judge(view, self.constants)

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """See `evimem.offline.reader`. The text is a short span, whatever the manner; its limits are the reason."""
        yield from ()
        return read(view, self.constants)
