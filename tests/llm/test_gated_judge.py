"""The judge's request is spared where the offline judge is sure, and nowhere else; the trace says so; one switch."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem import Tier
from evimem.calibration import Calibration
from evimem.calibration.apply_calibration import setting_name
from evimem.flow import run
from evimem.judging.evidence import Verdict, View
from evimem.llm.gated_judge import LEAST_TURNS, SURE, GatedJudge
from evimem.llm.llm_judge import LLMJudge
from evimem.offline.constants import SHIPPED, Linear
from evimem.offline.offline_judge import OfflineJudge
from evimem.testing import ScriptedModel
from evimem.types.model import Reply
from tests.replies import SUPPORTED

from .views import turn, view_of

QUESTION = "When did Mira adopt her puppy?"
JUDGED = json.dumps(
    {
        "tier": "exact",
        "confidence": 0.9,
        "requirements": SUPPORTED,
        "gaps": [],
        "next_query": "",
        "reason": "it is said",
    }
)
DRAFT = json.dumps({"steps": [], "answer": "8 March 2024", "citations": [{"id": "e1", "quote": ""}]})


def by_role(request: Any) -> str:
    return JUDGED if request.role == "judge" else DRAFT


def build(path: Path, turns: int) -> Path:
    with evimem.open(path) as memory:
        for n in range(turns - 2):
            bread = f"My bread number {n} was too salty."
            memory.add("Noah", bread, time=f"2024-01-01T10:{n % 60:02}", session=f"s{n // 30}", id=f"t{n}")
        memory.add("Mira", "We adopted a puppy last Friday, his name is Biscuit.", time="2024-03-12T18:20", id="puppy")
        memory.add("Mira", "Biscuit chewed my running shoe.", time="2024-03-12T18:21")
    return path


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("gate") / "m.evimem", LEAST_TURNS)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a memory whose own questions showed that the offline judge is right when it is sure."""
    path = build(tmp_path_factory.mktemp("gate") / "m.evimem", LEAST_TURNS)
    with evimem.open(path) as memory:
        target = memory._core.calibration_target()
        knots = ((-1.0, 0.05), (0.0, 0.9), (1.0, 0.999))
        fields: dict[str, Any] = dict.fromkeys(
            ("ece", "ece_before", "auroc", "aurc", "caught", "false_abstention"), 0.0
        )
        lists: dict[str, Any] = {"precision": 0.95, "precise": None, "reliability": (), "curve": ()}
        found = Calibration(target.judge_name, target.embedder, 60, 40, knots, 0.3, **fields, **lists)
        memory._core.store.keep_setting(setting_name(target.judge), found.to_json())
    return path


def asked(path: Path, question: str = QUESTION, **budget: Any) -> tuple[evimem.Answer, list[str]]:
    model = ScriptedModel(then=by_role)
    with evimem.open(path, llm=model) as memory:
        return memory.ask(question, budget=evimem.Budget(**budget)), [request.role for request in model.requests]


def spared(answer: evimem.Answer) -> list[str]:
    return [event.why for event in answer.trace if event.kind == "action" and event.action == "spare"]


def test_evidence_that_the_offline_judge_is_sure_of_costs_no_judges_request(large: Path) -> None:
    answer, roles = asked(large)
    assert (answer.text, answer.tier, roles) == ("8 March 2024", Tier.EXACT, ["answer"])
    assert answer.usage.requests == 1
    assert spared(answer) == ["the judge's request: offline judged"]
    assert [event.judge for event in answer.trace if event.kind == "judgement"] == ["offline"]
    with evimem.open(large) as offline:
        assert evimem.replay(answer.trace, offline) == answer


def test_the_shipped_probabilities_spare_nothing(shipped: Path) -> None:
    answer, roles = asked(shipped)
    assert (roles, spared(answer)) == (["judge", "answer"], [])


def test_one_switch_has_the_model_judge_everything(large: Path) -> None:
    answer, roles = asked(large, gate=False)
    assert (roles, spared(answer)) == (["judge", "answer"], [])


def test_what_is_not_said_is_the_models_to_judge(large: Path) -> None:
    for question in ("When did Noah adopt a puppy?", "What does Mira think of salt?", "What did Bartholomew bake?"):
        assert asked(large, question)[1][0] == "judge"


def test_in_a_small_memory_the_model_judges(tmp_path: Path) -> None:
    assert asked(build(tmp_path / "m.evimem", LEAST_TURNS - 1))[1] == ["judge", "answer"]


AS_TOLD = replace(SHIPPED, complete=Linear({"told": 1.0}, 0.0))  # complete as probably as an answer was told


class Sure(OfflineJudge):
    """An offline judge with scripted verdicts."""

    says: Verdict

    def judge(self, view: Any) -> Any:
        yield from ()
        return self.says


@pytest.mark.parametrize(
    ("tier", "probability", "facts", "asks"),
    [
        (Tier.EXACT, SURE + 0.001, 5, False),
        (Tier.EXACT, SURE - 0.01, 5, True),
        (Tier.INFERRABLE, 0.99, 5, True),
        (Tier.EXACT, 0.99, 0, True),  # too few facts about a name: E7 has the last word
    ],
)
def test_only_exact_evidence_of_high_probability_about_known_names_is_spared(
    tier: Tier, probability: float, facts: int, asks: bool
) -> None:
    offline = Sure(AS_TOLD)
    object.__setattr__(offline, "says", Verdict(tier, 0.97, probability=probability))
    view = view_of([turn(1, "We adopted a puppy.")], entities=())
    if not facts:
        view = view_of([turn(1, "We adopted a puppy.")], entities=("Mira",))  # 1 of 2 facts found
    verdict, requests = judged(offline, view)
    assert (requests, verdict.judge) == ((1, "") if asks else (0, "offline"))


def test_after_the_first_check_the_model_judges() -> None:
    offline = Sure(AS_TOLD)
    object.__setattr__(offline, "says", Verdict(Tier.EXACT, 0.97, probability=0.99))
    view = view_of([turn(1, "We adopted a puppy.")], entities=())
    assert [judged(offline, replace(view, iteration=n))[1] for n in (1, 2)] == [0, 1]


def judged(offline: Sure, view: View) -> tuple[Verdict, int]:
    """Return the verdict, and how many requests it took."""
    requests = []

    def perform(request: Any) -> Reply:
        requests.append(request)
        return Reply(JUDGED)

    return run(GatedJudge(LLMJudge(), offline).judge(view), perform), len(requests)
