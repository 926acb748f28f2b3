"""Questions and evidence in other languages than English: a sentence is quoted, and nothing is claimed to be sure.

The rules and the fitted numbers of this folder are English. In another language they would answer firmly and wrongly.
"""

from __future__ import annotations

from dataclasses import replace

from ..judging.apply_verdict import PARTIAL_CAP
from ..judging.evidence import Draft, Verdict, View
from ..lang.guess import is_english
from ..text.sentences import sentences
from ..text.terms import terms
from ..types.answer import Citation
from ..types.values import Tier, Turn

_BEST = 5  # turns of the evidence whose language is looked at
_LONGEST = 600  # characters of a quote


def is_in_english(view: View) -> bool:
    """Return whether the question and most of the best evidence may be read by English rules."""
    best = [is_english(item.turn.text) for item in view.evidence[:_BEST]]
    return is_english(view.analysis.question) and 2 * sum(best) >= len(best)


def unsure(verdict: Verdict, abstain_below: float) -> Verdict:
    """Return a verdict as far as it holds without English rules: partial at most, and about no other person.

    One that would not be answered keeps its probability; the others have none that was measured.
    """
    refused = verdict.probability is not None and verdict.probability < abstain_below
    return replace(
        verdict,
        tier=Tier.NONE if verdict.tier is Tier.NONE else Tier.PARTIAL,
        confidence=min(verdict.confidence, PARTIAL_CAP),
        probability=verdict.probability if refused else None,
        gaps=tuple(gap for gap in verdict.gaps if gap.kind != "attribution"),
    )


def quote(view: View) -> Draft:
    """Quote the sentence of the best shown turn that has most terms of the question, the first of equals."""
    shown = {item.turn.id for item in view.shown}
    best = next((item.turn for item in view.evidence if item.turn.id in shown), None)
    ranges = sentences(best.text) if best is not None else []
    if best is None or not ranges:
        return Draft(None, reason="no sentence of the evidence bears on the question")
    asked = {*terms(view.analysis.question)}
    start, end = max(ranges, key=lambda span: len(asked.intersection(terms(_said(best, span)))))
    span = start, min(end, start + _LONGEST)
    reason = "quoted, not answered: answers are read from English only"
    return Draft(_said(best, span), (Citation(best.id, span, _said(best, span)),), reason=reason)


def _said(turn: Turn, span: tuple[int, int]) -> str:
    return turn.text[span[0] : span[1]]
