"""Questions and evidence in other languages than English: evidence is quoted, and nothing is claimed to be sure.

The rules of this folder are English. In another language they would answer firmly and wrongly.
"""

from __future__ import annotations

from dataclasses import replace

from ..judging.apply_verdict import PARTIAL_CAP
from ..judging.evidence import Verdict, View
from ..lang.guess import is_english
from ..types.attempt import without
from ..types.values import Tier

_BEST = 5  # turns of the evidence whose language is looked at


def is_in_english(view: View) -> bool:
    """Return whether the question and most of the best evidence may be read by English rules."""
    best = [bool(without(None, is_english, item.turn.text)) for item in view.evidence[:_BEST]]
    return bool(without(None, is_english, view.analysis.question)) and 2 * sum(best) >= len(best)


def unsure(verdict: Verdict) -> Verdict:
    """Return a verdict as far as it holds without English rules: partial at most, and about no other person."""
    return replace(
        verdict,
        tier=Tier.NONE if verdict.tier is Tier.NONE else Tier.PARTIAL,
        confidence=min(verdict.confidence, PARTIAL_CAP),
        gaps=tuple(gap for gap in verdict.gaps if gap.kind not in {"attribution", "contradicted"}),
    )
