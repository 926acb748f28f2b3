import asyncio
import os
import signal
import threading
import time
from dataclasses import replace
from time import monotonic

import pytest

from evimem.errors import ModelTimeout, ModelUnavailable, ReplyError
from evimem.openai import OpenAI
from evimem.openai.wire_format import LENGTHS
from evimem.types.trace import Complete
from tests.model_server import Fault, ModelServer

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
JUDGE = Complete("judge", "Judge.", "Is it enough?", SCHEMA)
ANSWER = Complete("answer", "Answer.", "When was it?")


AMPLE = 60.0  # seconds: not reached on any machine


def client(server, **settings):
    return OpenAI("small", **{"base_url": server.url, "deadline": AMPLE, "max_retries": 1, **settings})


def until(condition):
    """Wait until a condition holds, which another thread brings about; the suite's timeout ends it otherwise."""
    while not condition():
        time.sleep(0.01)


def test_a_request_goes_out_as_chat_messages_with_a_schema():
    with ModelServer("yes") as server:
        reply = client(server).complete(JUDGE)
    (received,) = server.received
    assert received.path == "/v1/chat/completions"
    assert received.body["messages"] == [
        {"role": "system", "content": "Judge."},
        {"role": "user", "content": "Is it enough?"},
    ]
    assert received.body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (reply.text, reply.model, reply.input_tokens, reply.output_tokens) == ("yes", "small", 4, 1)


def formats(server):
    return [(received.body.get("response_format") or {}).get("type") for received in server.received]


def test_a_schema_that_the_server_refuses_is_not_sent_again_but_json_is_asked_for():
    with ModelServer(Fault("400"), "yes", "yes") as server:
        model = client(server)
        assert [model.complete(JUDGE).retries, model.complete(JUDGE).retries] == [1, 0]
    assert formats(server) == ["json_schema", "json_object", "json_object"]


def test_a_schema_with_bounds_is_tried_without_them_before_it_is_given_up():
    bounded = replace(JUDGE, schema={"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 2})
    with ModelServer(Fault("400"), "yes", "yes") as server:
        model = client(server)
        model.complete(bounded)
        model.complete(bounded)
    schemas = [received.body["response_format"]["json_schema"]["schema"] for received in server.received]
    plain = {"type": "array", "items": {"type": "string"}}
    assert schemas == [bounded.schema, plain, plain]


@pytest.mark.parametrize(
    "said",
    [
        "System role not supported",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "Conversation roles must alternate user/assistant/user/assistant/...",
    ],
)
def test_a_model_without_a_system_role_is_given_its_instructions_by_the_user_from_then_on(said):
    with ModelServer(Fault("400", error={"message": said}), "yes", "yes") as server:
        model = client(server)
        assert [model.complete(JUDGE).retries, model.complete(JUDGE).retries] == [1, 0]
    one = [{"role": "user", "content": "Judge.\n\nIs it enough?"}]
    assert [received.body["messages"] for received in server.received[1:]] == [one, one]
    assert formats(server) == ["json_schema"] * 3


def test_a_refusal_that_is_not_about_the_form_is_remembered_for_nothing():
    with ModelServer(*[Fault("400")] * 3, "yes") as server:
        model = client(server)
        with pytest.raises(ModelUnavailable, match="status 400"):
            model.complete(JUDGE)
        model.complete(JUDGE)
    assert formats(server) == ["json_schema", "json_object", None, "json_schema"]


def test_every_reply_has_a_bound_under_the_name_that_the_server_knows():
    named = Fault("400", error={"message": "Unsupported parameter: 'max_tokens' ...", "param": "max_tokens"})
    with ModelServer(named, "yes", "yes") as server:
        model = client(server)
        model.complete(replace(JUDGE, most_tokens=70))
        model.complete(replace(JUDGE, most_tokens=70))
    lengths = [{name: received.body[name] for name in LENGTHS if name in received.body} for received in server.received]
    assert lengths == [{"max_tokens": 70}, {"max_completion_tokens": 70}, {"max_completion_tokens": 70}]


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_given_as_a_call_of_a_tool_is_read(stream):
    called = {"message": {"content": None, "tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1}'}}]}}
    with ModelServer(called) as server:
        model = client(server)
        reply = list(model.stream(JUDGE))[-1] if stream else model.complete(JUDGE)
    assert reply.text == '{"a": 1}'


def test_a_call_ends_when_the_seconds_of_its_request_are_over():
    began = monotonic()
    with ModelServer(Fault("hang")) as server, pytest.raises(ModelTimeout, match=r"deadline of 0\.3 s"):
        client(server, deadline=30.0).complete(replace(JUDGE, seconds=0.3))
    assert monotonic() - began < 10


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_that_was_cut_has_its_seconds_and_its_cost(stream):
    cut = {"message": {"content": '{"a": '}, "finish_reason": "length"}
    with ModelServer(cut) as server:
        model = client(server, prices={"small": (1_000_000.0, 2_000_000.0)})
        with pytest.raises(ReplyError) as caught:
            list(model.stream(JUDGE)) if stream else model.complete(JUDGE)
    assert caught.value.received.seconds > 0
    assert caught.value.received.cost == 4


@pytest.mark.parametrize("status", ["302", "307", "308"])
def test_a_redirect_is_refused_and_never_followed(status):
    with ModelServer(then="stolen") as other, ModelServer(Fault(status, location=other.url)) as server:
        with pytest.raises(ModelUnavailable, match="it redirects; give base_url its new address"):
            client(server).complete(JUDGE)
        assert other.received == []
        assert len(server.received) == 1


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"message": {"content": None, "refusal": "I will not."}}, "refused"),
        ({"message": {"content": '{"tier"'}, "finish_reason": "length"}, "length limit"),
        ({"message": {"content": "x"}, "finish_reason": "content_filter"}, "content filter"),
        ({"message": {"content": None}}, "empty"),
        ({"message": None}, "empty"),
    ],
)
def test_a_reply_that_is_not_whole_is_a_typed_error_that_says_what_it_cost(answer, why):
    with ModelServer(answer) as server, pytest.raises(ReplyError, match=why) as caught:
        client(server).complete(JUDGE)
    assert caught.value.received.input_tokens == 4
    assert len(server.received) == 1


@pytest.mark.parametrize("door", ["sync", "async"])
def test_pieces_come_before_the_whole(door):
    with ModelServer("on the eighth of March") as server:
        seen = (
            list(client(server).stream(ANSWER)) if door == "sync" else asyncio.run(gathered(client(server).as_async()))
        )
    *pieces, reply = seen
    assert len(pieces) == 5
    assert "".join(pieces) == reply.text == "on the eighth of March"
    assert (reply.input_tokens, reply.output_tokens) == (4, 5)


async def gathered(model):
    return [piece async for piece in model.stream(ANSWER)]


def test_a_stream_that_breaks_after_it_began_is_not_begun_again():
    with ModelServer(Fault("truncated"), "ok") as server, pytest.raises(ModelUnavailable, match="broke off"):
        list(client(server).stream(ANSWER))
    assert len(server.received) == 1


@pytest.mark.parametrize("fault", ["503", "headers_only"])
def test_a_stream_that_breaks_before_it_began_is_tried_again(fault):
    with ModelServer(Fault(fault), "ok") as server:
        *_, reply = client(server).stream(ANSWER)
    assert (reply.text, reply.retries) == ("ok", 1)


def test_a_server_that_cannot_stream_gives_one_piece():
    with ModelServer(Fault("400", error={"message": "stream_options is unknown"}), "ok") as server:
        assert [str(piece) for piece in list(client(server).stream(ANSWER))[:-1]] == ["ok"]
    assert "stream_options" not in server.received[1].body


def test_leaving_a_stream_early_ends_its_request():
    with ModelServer(Fault("drip_body", seconds=0.002)) as server:
        stream = client(server).stream(ANSWER)
        next(stream)
        stream.close()
        until(lambda: server.busy == 0)
    assert len(server.received) == 1


def test_closing_a_model_ends_the_calls_that_it_is_waiting_for():
    with ModelServer(Fault("hang")) as server:
        model = client(server)
        threading.Thread(target=lambda: (until(lambda: server.received), model.close())).start()
        with pytest.raises(ModelUnavailable, match="closed"):  # at the deadline it would be a ModelTimeout
            model.complete(JUDGE)


def test_cancelling_the_task_ends_the_request_and_sends_no_other():
    async def cancelled(server):
        task = asyncio.create_task(client(server, max_retries=5).as_async().complete(JUDGE))
        await asyncio.to_thread(until, lambda: server.received)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.to_thread(until, lambda: server.busy == 0)
        await asyncio.sleep(0.5)  # longer than the wait before a retry
        return task.cancelled()

    with ModelServer(Fault("hang")) as server:
        assert asyncio.run(cancelled(server))
        assert len(server.received) == 1


def test_an_interrupt_ends_the_request():
    with ModelServer(Fault("hang")) as server:
        model = client(server)
        threading.Thread(target=lambda: (until(lambda: server.received), os.kill(os.getpid(), signal.SIGINT))).start()
        with pytest.raises(KeyboardInterrupt):
            model.complete(JUDGE)
        until(lambda: server.busy == 0)


def test_no_more_requests_run_at_once_than_are_allowed():
    async def many(model):
        return await asyncio.gather(*(model.complete(JUDGE) for _ in range(12)))

    with ModelServer(delay=0.05) as server:
        replies = asyncio.run(many(client(server, concurrency=3).as_async()))
    assert {reply.text for reply in replies} == {"ok"}
    assert 2 <= server.peak <= 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_uses_neither_the_thread_nor_the_connections_of_its_parent():
    with ModelServer() as server:
        model = client(server)
        model.complete(JUDGE)
        child = os.fork()
        if child == 0:
            os._exit(0 if model.complete(JUDGE).text == "ok" else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert model.complete(JUDGE).text == "ok"


def test_a_closed_model_opens_again():
    with ModelServer() as server:
        model = client(server)
        model.complete(JUDGE)
        model.close()
        model.close()
        assert model.complete(JUDGE).text == "ok"


def test_each_role_has_its_model_and_each_request_its_temperature():
    with ModelServer() as server:
        model = client(server, answer_model="large", temperature=None, extra={"seed": 7})
        model.complete(JUDGE)
        model.complete(replace(ANSWER, temperature=0.7))
    judged, answered = (received.body for received in server.received)
    assert (judged["model"], "temperature" in judged, judged["seed"]) == ("small", False, 7)
    assert (answered["model"], answered["temperature"], "response_format" in answered) == ("large", 0.7, False)


def test_a_missing_key_is_said_at_once(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelUnavailable, match="pass api_key="):
        OpenAI("small")
