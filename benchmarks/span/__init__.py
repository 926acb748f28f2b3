"""A reader for LoCoMo's official score, which wants the shortest span: the words with the best expected F1."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import tomllib

from evimem import Memory
from evimem.flow import Flow
from evimem.judging.evidence import Draft, Manner, Verdict, View
from evimem.offline.matching import Matches
from evimem.offline.offline_judge import OfflineJudge, is_in_english
from evimem.offline.signals import FITTED, Constants, Linear

from .answer_reader import read
from .told_signals import told_signals

UNPROVEN = "read for research: the words with the best expected F1, not proven to be the answer"


@dataclass(frozen=True, slots=True)
class SpanConstants(Constants):
    """The numbers of the offline judge, fitted for spans; `word` gives the probability that a word is of the answer."""

    word: Linear


SPAN = SpanConstants.of({**FITTED, **tomllib.loads((Path(__file__).parent / "fitted.toml").read_text("utf-8"))})


@dataclass(frozen=True, slots=True)
class SpanJudge(OfflineJudge):
    """The offline judge, which reads a span of the evidence where it is English."""

    constants: Constants = SPAN

    def signals(self, view: View, matches: Matches) -> dict[str, float]:
        """Return the signals that the numbers for spans are fitted over too."""
        return {**OfflineJudge.signals(self, view, matches), **told_signals(view, matches)}

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """Return the span that is likeliest to be the answer; in other languages than English, a quotation."""
        assert isinstance(self.constants, SpanConstants)
        if not is_in_english(view):
            return (yield from OfflineJudge.answer(self, view, verdict, manner))
        draft = read(view, self.constants.word, self.extractor)
        return replace(draft, reason=draft.reason or UNPROVEN)


def read_spans(memory: Memory) -> None:
    """Have a memory answer with spans where no model answers."""
    core = memory._core
    core.offline = SpanJudge(extractor=core.extractor)
