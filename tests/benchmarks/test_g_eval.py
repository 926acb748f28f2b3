"""G-Eval over real HTTP: probabilities where a server gives them, samples where it does not, and no grade is no 1."""

from math import log

import pytest

import evimem
from benchmarks.scoring.g_eval import SAMPLES, grade_answer
from evimem.errors import ReplyError
from tests.model_server import Fault, ModelServer

CHANCES = {"4": 0.5, "5": 0.2, " 3": 0.1, "The": 0.15, "45": 0.05}
LIKELY = {
    "content": [{"token": "4", "top_logprobs": [{"token": one, "logprob": log(p)} for one, p in CHANCES.items()]}]
}
GRADED = {"message": {"role": "assistant", "content": "4"}, "logprobs": LIKELY}


def grade(server: ModelServer) -> object:
    model = evimem.OpenAI("grader", base_url=server.url, max_retries=0)
    try:
        return grade_answer(model, "Which tea?", "green tea", "tea")
    finally:
        model.close()


def test_a_grade_is_the_mean_of_the_digits_by_their_probabilities():
    with ModelServer(GRADED) as server:
        found = grade(server)
        body = server.received[0].body
    assert (found.value, found.weighted) == (pytest.approx((4 * 0.5 + 5 * 0.2 + 3 * 0.1) / 0.8), True)
    assert (body["logprobs"], body["top_logprobs"], body["temperature"]) == (True, 20, 1.0)
    assert len(server.received) == 1


def test_without_probabilities_it_is_the_mean_of_samples():
    with ModelServer("4", "<think>3 or 5?</think>5", "Grade: 4", "3", "4") as server:
        found = grade(server)
    assert (found.value, found.weighted, len(server.received)) == (4.0, False, SAMPLES)


def test_a_server_that_knows_no_probabilities_is_asked_without():
    refusal = '{"error": {"message": "logprobs and top_logprobs are not supported"}}'
    with ModelServer(Fault("400", refusal), Fault("400", refusal), then="2") as server:
        found = grade(server)
    assert (found.value, found.weighted) == (2.0, False)
    assert "logprobs" not in server.received[-1].body


@pytest.mark.parametrize("reply", ["good", "10", "3.5 is 35 %", "7"])
def test_a_reply_without_a_grade_is_a_failure_and_not_the_lowest_grade(reply):
    with ModelServer(then=reply) as server, pytest.raises(ReplyError):
        grade(server)
