"""The mind that needs no model: rules and a small linear model judge, an extractive reader answers."""

from __future__ import annotations

from ..evidence import Draft, Manner, Verdict, View
from ..flow import Flow
from .confidence import ABSTAIN_BELOW
from .judge import judge
from .reader import read


class OfflineMind:
    """Judges and answers by computation alone: no effect is ever yielded."""

    name = "offline"
    abstain_below = ABSTAIN_BELOW

    def judge(self, view: View) -> Flow[Verdict]:
        """See `evimem.offline.judge`."""
        yield from ()
        return judge(view)

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """See `evimem.offline.reader`."""
        yield from ()
        return read(view, manner)
