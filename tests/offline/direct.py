"""The parts of the offline judge, called on a view with the default constants and extractor."""

from __future__ import annotations

from evimem.extract import RuleExtractor
from evimem.judging.evidence import Draft, Verdict, View
from evimem.offline import answer_reader, offline_judge
from evimem.offline.attributes import Lookup
from evimem.offline.constants import SHIPPED, Constants


def judge(view: View, constants: Constants = SHIPPED) -> Verdict:
    return offline_judge.judge(view, constants, RuleExtractor())


def read(view: View) -> Draft:
    return answer_reader.read(view, SHIPPED, RuleExtractor())


def lookup(view: View) -> Lookup:
    return answer_reader.attribute_in(view, RuleExtractor())
