"""The parts of the offline judge, called on a view with the default constants and extractor."""

from __future__ import annotations

from evimem.judging.evidence import Verdict, View
from evimem.offline import offline_judge
from evimem.offline.signals import SHIPPED, Constants


def judge(view: View, constants: Constants = SHIPPED) -> Verdict:
    return offline_judge.judge_view(view, offline_judge.OfflineJudge(constants))
