"""Calibrating a memory through both doors: what is kept, when it is used, and when it is not."""

import asyncio
import json

import numpy as np
import pytest

import evimem
from evimem.loaders.examples import load_questions
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete, Judged
from tests.replies import SUPPORTED

ALL = [evimem.Labelled(one.text, one.answer is not None) for one in load_questions("friends")]
ANSWERABLE, UNANSWERABLE = ([one for one in ALL if one.answerable is told] for told in (True, False))
QUESTIONS = [*ANSWERABLE[:30], *UNANSWERABLE[:20]]
TRAPS = [one.question for one in UNANSWERABLE]


@pytest.fixture(scope="module")
def done(tmp_path_factory, friends_file):
    """The same memory, calibrated for nearly certain answers."""
    path = tmp_path_factory.mktemp("done") / "m.evimem"
    path.write_bytes(friends_file.read_bytes())
    with evimem.open(path) as memory:
        found = memory.calibrate(QUESTIONS, precision=0.97)
        memory.backup(path.with_name("copy"))
    return path.with_name("copy").read_bytes(), found


@pytest.fixture
def calibrated(tmp_path, done):
    (tmp_path / "calibrated.evimem").write_bytes(done[0])
    with evimem.open(tmp_path / "calibrated.evimem") as opened:
        yield opened


@pytest.fixture
def path(friends_path):
    return friends_path


@pytest.fixture
def memory(path):
    with evimem.open(path) as opened:
        yield opened


def told(answer: evimem.Answer) -> float:
    """Return the probability of the last check that the memory holds an answer."""
    return [event.probability for event in answer.trace if isinstance(event, Judged)][-1]


def test_a_calibration_is_kept_in_the_file_and_used_by_ask(memory, calibrated, done):
    content, found = done
    assert [one for one in QUESTIONS if one.question.encode() in content] == [], "a question is kept"
    assert calibrated.calibration() == found
    before, after = (told(one.ask("What is Tomas's cat called?")) for one in (memory, calibrated))
    assert after != before
    assert found.knots[0][1] <= after <= found.knots[-1][1]


def test_answers_are_withheld_below_the_calibrated_threshold(memory, calibrated, done):
    answered = [one.question for one in ANSWERABLE[:20] if not memory.ask(one.question).abstained]
    again = [calibrated.ask(question) for question in answered]
    assert [answer for answer in again if answer.abstained]
    assert all(answer.abstained == (told(answer) < done[1].abstain_below) for answer in again)


def test_the_other_door_finds_the_same_and_a_dry_run_changes_nothing(path, done):
    async def ask() -> tuple[evimem.Calibration, evimem.Calibration | None]:
        async with evimem.open_async(path) as memory:
            return await memory.calibrate(QUESTIONS, precision=0.97, keep=False), await memory.calibration()

    assert asyncio.run(ask()) == (done[1], None)


def test_with_another_embedder_it_is_not_used_and_health_says_so(calibrated):
    assert calibrated.health().problems == ()

    def embed(texts: list[str]) -> np.ndarray:
        return np.array([[1.0, float(len(text))] for text in texts], np.float32)

    calibrated.reembed(evimem.CallableEmbedder(embed, name="lengths", dimension=2))
    assert calibrated.calibration() is None
    (problem,) = calibrated.health().problems
    assert "and embedder 'static-minilm-256'; it is not used with judge" in problem
    assert calibrated.health().status == "degraded"
    assert problem in calibrated.check().problems


def test_what_another_version_wrote_is_not_used_and_health_says_so(memory):
    before = memory.ask("When did Elio propose?")
    memory._core.store.keep_setting("calibration.offline", '{"shape": "unknown"}')
    assert memory.ask("When did Elio propose?") == before
    assert "cannot be read" in memory.health().problems[0]


def test_it_outlives_forgetting_and_rebuilding_but_not_the_last_turn(calibrated, done):
    calibrated.forget(turns=["s1:1"])
    calibrated.rebuild()
    assert calibrated.calibration() == done[1]
    calibrated.forget(everything=True)
    assert calibrated.calibration() is None


def test_fewer_than_fifty_questions_are_refused_before_any_is_asked(memory):
    asked: list[int] = []
    with pytest.raises(evimem.InvalidQuery, match="at least 50 labelled questions"):
        memory.calibrate(QUESTIONS[-49:], progress=asked.append)
    assert asked == []
    assert memory.calibration() is None


def reply(request: Complete) -> str:
    """A model that is nearly as confident where the answer was never stated as elsewhere."""
    if request.role == "answer":
        return json.dumps({"steps": [], "answer": "so it is", "citations": [{"id": "e1", "quote": ""}]})
    sure = 0.9 if any(trap in request.prompt for trap in TRAPS) else 0.95
    return json.dumps(
        {"tier": "exact", "confidence": sure, "requirements": SUPPORTED, "gaps": [], "reason": "it is said"}
    )


def test_a_models_confidence_is_calibrated_for_that_model_alone(path):
    budget = evimem.Budget(iterations=1)
    with evimem.open(path, llm=ScriptedModel(then=reply)) as memory:
        assert not memory.ask(TRAPS[0], budget=budget).abstained
        found = memory.calibrate(QUESTIONS)
        assert found.judge == "ScriptedModel"
        assert found.ece < found.ece_before
        refused = memory.ask(TRAPS[0], budget=budget)
        assert refused.abstained
        assert refused.confidence == pytest.approx(1 - found.probability(0.9))
    with evimem.open(path) as memory:
        assert memory.calibration() is None  # the rules have one of their own
        assert memory.health().problems == ()

    class OtherModel(ScriptedModel):
        pass

    with evimem.open(path, llm=OtherModel(then=reply)) as memory:
        assert memory.calibration() is None
        assert "judge 'ScriptedModel'" in memory.health().problems[0]
        assert not memory.ask(TRAPS[0], budget=budget).abstained


def test_a_calibration_without_vectors_is_refused(memory, monkeypatch):
    def fails(texts: object) -> None:
        raise ConnectionError

    monkeypatch.setattr(memory._core.embedder, "embed", fails)
    with pytest.raises(evimem.EmbedderError, match="nothing is stored"):
        memory.calibrate(QUESTIONS)
    assert memory.calibration() is None


def test_calibrating_again_starts_from_the_judge_and_not_from_the_last_time(calibrated, done):
    second = calibrated.calibrate(QUESTIONS)
    assert second.knots == done[1].knots
    assert second.ece_before != done[1].ece_before  # the first one is in force by then
