"""The parts of the offline judge, called on a view with the default constants and extractor."""

from __future__ import annotations

from evimem.extract import RuleExtractor
from evimem.judging.evidence import Verdict, View
from evimem.offline import offline_judge
from evimem.offline.attributes import ADVICE, ATTRIBUTES, NOT_ASKED, Lookup, attribute_of
from evimem.offline.attributes import lookup as look_up
from evimem.offline.constants import SHIPPED, Constants


def judge(view: View, constants: Constants = SHIPPED) -> Verdict:
    return offline_judge.judge(view, constants, RuleExtractor())


def lookup(view: View) -> Lookup:
    question = view.analysis.question.strip()
    asked = any(pattern.match(question) for pattern in (*ADVICE, *(shape for _, shape in ATTRIBUTES)))
    return look_up(view, attribute_of(question), RuleExtractor()) if asked else NOT_ASKED
