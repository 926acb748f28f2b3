"""Tools over HTTP: called natively where the server knows them, named in the reply where it does not."""

import json

import pytest

from evimem.errors import ReplyError
from evimem.openai import OpenAI
from evimem.openai.wire_format import Completion
from evimem.types.trace import Complete, Message, ToolSpec, ToolUse
from tests.model_server import Fault, ModelServer

LOOK = ToolSpec("look", "Look something up.", {"type": "object", "properties": {"of": {"type": "string"}}})
EARLIER = (
    Message("user", "Who is it?"),
    Message("assistant", uses=(ToolUse("call00001", "look", '{"of": "x"}'),)),
    Message("tool", "nothing", of="call00001"),
)
ASKED = Complete("decide", "Explore.", "Go on.", {"type": "object"}, tools=(LOOK,), earlier=EARLIER)
USES = (ToolUse("a", "look", '{"of": "y"}'), ToolUse("b", "look", '{"of": "z"}'))


def calls(*uses, index=False):
    made = [
        {"id": use.id, "type": "function", "function": {"name": use.name, "arguments": use.arguments}} for use in uses
    ]
    return [{**call, "index": place} for place, call in enumerate(made)] if index else made


def called(*uses, **more):
    return {"message": {"role": "assistant", "content": None, "tool_calls": calls(*uses), **more}}


def client(server):
    return OpenAI("small", base_url=server.url, max_retries=0)


def test_tools_and_the_exchange_so_far_go_out_as_the_protocol_has_them():
    with ModelServer(called(*USES)) as server:
        reply = client(server).complete(ASKED)
    body = server.received[0].body
    function = {"name": "look", "description": "Look something up.", "parameters": LOOK.arguments}
    assert body["tools"] == [{"type": "function", "function": function}]
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool", "user"]
    assert body["messages"][2]["tool_calls"] == calls(EARLIER[1].uses[0])
    assert body["messages"][3]["tool_call_id"] == "call00001"
    assert (reply.text, reply.uses) == ("", USES)


@pytest.mark.parametrize(
    "refused",
    [
        Fault("400", error={"message": "small does not support tools"}),
        Fault("404", error={"message": "No endpoints found that support tool use."}),
        Fault("500", error={"message": "tools param requires --jinja flag"}),
        Fault("400"),
    ],
)
def test_a_server_without_tools_is_asked_for_json_with_the_calls_as_text_and_not_offered_them_again(refused):
    with ModelServer(refused, '{"calls": []}', '{"calls": []}') as server:
        model = client(server)
        assert [model.complete(ASKED).retries, model.complete(ASKED).retries] == [1, 0]
    offered, *plain = [received.body for received in server.received]
    assert "tools" in offered
    for body in plain:
        assert "tools" not in body
        assert body["response_format"]["type"] == "json_schema"
        assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
        assert body["messages"][-1]["content"] == "nothing\n\nGo on."


def test_calls_arrive_in_pieces_in_a_stream():
    pieces = (
        {"index": 0, "id": "a", "function": {"name": "look", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"of": '}},
        {"index": 1, "id": "b", "function": {"name": "look", "arguments": {"of": "z"}}},
        {"index": 0, "function": {"arguments": '"y"}'}},
    )
    streamed = Completion()
    for piece in (*pieces, "odd", {"function": 7}):
        streamed.add_line("data: " + json.dumps({"choices": [{"delta": {"tool_calls": [piece]}}]}))
    streamed.add_line("data: [DONE]")
    uses = streamed.reply(ASKED).uses
    assert [(use.id, use.name, json.loads(use.arguments)) for use in uses] == [
        ("a", "look", {"of": "y"}), ("b", "look", {"of": "z"}),
    ]  # fmt: skip


def test_a_reply_of_calls_that_was_cut_is_refused():
    with ModelServer({**called(*USES), "finish_reason": "length"}) as server, pytest.raises(ReplyError) as raised:
        client(server).complete(ASKED)
    assert raised.value.cut


def test_a_role_of_a_loops_own_is_served_by_the_model_for_every_role():
    with ModelServer() as server:
        model = OpenAI("small", judge_model="large", base_url=server.url)
        model.complete(Complete("sum up, please", "", "x", {"type": "object"}))
        model.complete(Complete("batch", "", "x"))
    first, second = [received.body for received in server.received]
    assert (first["model"], second["model"]) == ("small", "small")
    assert first["response_format"]["json_schema"]["name"] == "sum_up__please"
