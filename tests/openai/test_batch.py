import json

import pytest

from evimem.errors import ModelError, ModelUnavailable, ReplyError
from evimem.openai import OpenAI
from evimem.openai.wire_format import read_batch
from evimem.types.trace import Complete, Reply
from tests.model_server import Fault, ModelServer

REQUESTS = {name: Complete("extract", "List facts.", f"turn {name}", {"type": "object"}) for name in ("a", "b", "c")}


def client(server):
    return OpenAI("small", base_url=server.url, deadline=5.0, extra={"seed": 7})


def test_requests_go_out_as_a_file_and_come_back_by_their_keys():
    with ModelServer("one", Fault("429"), {"message": {"content": ""}}) as server:
        model = client(server)
        outcomes = model.collect_batch(model.start_batch(REQUESTS), REQUESTS)
    assert [type(outcomes[name]) for name in REQUESTS] == [Reply, ModelUnavailable, ReplyError]
    assert outcomes["a"].text == "one"
    sent = [json.loads(line) for line in server.received[0].body["file"].splitlines()]
    assert [line["custom_id"] for line in sent] == ["a", "b", "c"]
    assert (sent[0]["url"], sent[0]["body"]["seed"], sent[0]["body"]["messages"][1]["content"]) == (
        "/v1/chat/completions",
        7,
        "turn a",
    )


def test_a_batch_that_is_still_worked_on_has_no_outcomes():
    with ModelServer() as server:
        server.batch_status = "in_progress"
        model = client(server)
        assert model.collect_batch(model.start_batch(REQUESTS), REQUESTS) is None


def test_a_batch_whose_start_fails_is_not_started_again_behind_the_callers_back():
    with ModelServer(then=Fault("503")) as server:
        with pytest.raises(ModelUnavailable, match="503"):
            client(server).start_batch(REQUESTS)
        assert len(server.received) == 1


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b"null", b'{"custom_id": 7}', b'{"custom_id": "zz", "response": null}']
)
def test_a_request_without_a_usable_line_has_an_error_that_may_be_tried_again(line):
    outcomes = read_batch(line, REQUESTS)
    assert set(outcomes) == set(REQUESTS)
    assert all(isinstance(outcome, ModelUnavailable) and outcome.retryable for outcome in outcomes.values())


@pytest.mark.parametrize(
    "response", [None, {}, {"status_code": 500}, {"status_code": 200, "body": None}, {"body": {"choices": []}}]
)
def test_a_line_of_an_odd_form_is_an_error_of_its_request(response):
    line = json.dumps({"custom_id": "a", "response": response, "error": {"message": "expired"}}).encode()
    assert isinstance(read_batch(line, REQUESTS)["a"], ModelError)
