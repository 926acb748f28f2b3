import json

import pytest

from evimem.errors import ModelUnavailable
from evimem.openai.wire_format import Completion, host, is_loopback, read_reply
from evimem.types.trace import Complete

ASKED = Complete("judge", "", "")


@pytest.mark.parametrize(("code", "again"), [(401, False), (429, True), (502, True), ("odd", True), (None, True)])
def test_an_error_inside_a_success_is_the_refusal_that_it_says(code, again):
    with pytest.raises(ModelUnavailable, match="refused with status") as caught:
        read_reply(json.dumps({"error": {"message": "no", "code": code}, "choices": [{}]}).encode(), ASKED)
    assert caught.value.retryable is again


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://user:pw@api.example.org:8443/v1?key=k", "api.example.org:8443"), ("http://[::1]:80/v1", "::1:80"),
        ("http://host:notaport", "?"), ("", "api.openai.com"), (None, "api.openai.com"),
    ],
)  # fmt: skip
def test_only_the_host_of_a_url_is_shown(url, name):
    assert host(url) == name


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://localhost:11434/v1", True), ("http://127.9.9.9/v1", True), ("http://[::1]:8000/v1", True),
        ("http://localhost.example.org/v1", False), ("http://10.0.0.1/v1", False), (None, False),
    ],
)  # fmt: skip
def test_only_this_machine_is_this_machine(url, here):
    assert is_loopback(url) is here


@pytest.mark.parametrize("line", ["data: {", "data: [1]", "data: <html>", 'data: {"error": {"code": 500}}'])
def test_a_line_that_is_no_chunk_is_a_typed_error(line):
    with pytest.raises(ModelUnavailable):
        Completion().add_line(line)


def test_a_stream_is_whole_when_it_says_that_it_ended_and_not_before():
    streamed = Completion()
    streamed.add_line('data: {"choices": [{"delta": {"content": "hi"}}]}')
    with pytest.raises(ModelUnavailable, match="before its end"):
        streamed.reply(ASKED)
    streamed.add_line("data: [DONE]")
    assert streamed.reply(ASKED).text == "hi"


SAID = {"type": "text", "text": "Porto"}
THOUGHT = "Lisbon"


@pytest.mark.parametrize(
    "part",
    [
        {"type": "reasoning", "text": THOUGHT},
        {"type": "reasoning_text", "text": THOUGHT},
        {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
        {"type": "summary_text", "text": THOUGHT},
        {"text": THOUGHT, "thought": True},
    ],
)
def test_parts_that_are_thoughts_are_no_reply(part):
    message = {"content": [part, SAID], "reasoning_content": THOUGHT, "reasoning": THOUGHT}
    assert read_reply(json.dumps({"choices": [{"message": message}]}).encode(), ASKED).text == "Porto"
    streamed = Completion()
    delta = json.dumps({"choices": [{"delta": message, "finish_reason": "stop"}]})
    assert streamed.add_line(f"data: {delta}") == streamed.reply(ASKED).text == "Porto"
