"""Bodies of the protocol as typed values and errors: what is too long, may be tried again, is secret, is a reply."""

import json
from datetime import datetime, timezone

import pytest

from evimem.errors import ModelUnavailable, PromptTooLong, ReplyError
from evimem.openai.wire_format import (
    Completion,
    ErrorResponse,
    error_from,
    host,
    is_loopback,
    read_reply,
    redact,
    rejected_option,
    retry_after,
)
from evimem.types.trace import Complete

NOW = datetime(2024, 3, 12, 12, 0, tzinfo=timezone.utc)
ASKED = Complete("judge", "", "")


def refused(status, body=b""):
    return error_from(
        ErrorResponse(status, {}, body if isinstance(body, bytes) else json.dumps({"error": body}).encode())
    )


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"code": "context_length_exceeded", "message": "..."}),
        (400, {"message": "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens"}),
        (400, {"type": "exceed_context_size_error", "message": "the request exceeds the available context size"}),
        (500, {"message": "context window of 2048 is too small"}),
        (413, {"message": "prompt is too long: 210000 tokens > 200000 maximum"}),
    ],
)
def test_a_request_that_is_too_long_has_an_error_of_its_own(status, body):
    error = refused(status, body)
    assert isinstance(error, PromptTooLong)
    assert (error.status, error.retryable) == (status, False)
    assert rejected_option(error, {"response_format": {}}) is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0), ("2.5", 2.5), ("3600", 3600.0), ("Tue, 12 Mar 2024 12:00:30 GMT", 30.0),
        ("Tue, 12 Mar 2024 11:00:00 GMT", 0.0), ("Tue, 12 Mar 2024 12:00:30 -0000", 30.0), (None, None),
        ("soon", None), ("-5", None), ("", None), ("9" * 400, None), ("Tue, 99 Mar 99999 99:99:99 GMT", None),
    ],
)  # fmt: skip
def test_a_retry_after_is_read_as_seconds_or_as_a_date(header, seconds):
    assert retry_after(header, NOW) == seconds


@pytest.mark.parametrize(
    ("status", "again"), [(400, False), (401, False), (404, False), (408, True), (429, True), (500, True), (529, True)]
)
def test_only_temporary_errors_are_retryable_and_no_spent_quota(status, again):
    assert refused(status).retryable is again
    assert refused(429, {"message": "You exceeded", "code": "insufficient_quota"}).retryable is False


@pytest.mark.parametrize(("code", "again"), [(401, False), (429, True), (502, True), ("odd", True), (None, True)])
def test_an_error_inside_a_success_is_the_refusal_that_it_says(code, again):
    with pytest.raises(ModelUnavailable, match="refused with status") as caught:
        read_reply(json.dumps({"error": {"message": "no", "code": code}, "choices": [{}]}).encode(), ASKED)
    assert caught.value.retryable is again


def completion(**message):
    return {"choices": [{"message": {"role": "assistant", "content": None, **message}, "finish_reason": "stop"}]}


OBJECT = Complete("judge", "", "", {"type": "object"})


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_an_object_that_was_filed_as_thoughts_is_the_reply(field):
    body = json.dumps(completion(**{field: '{"tier": "exact"}'})).encode()
    assert read_reply(body, OBJECT).text == '{"tier": "exact"}'


@pytest.mark.parametrize(("request_", "thoughts"), [(OBJECT, 'First {"tier": "exact"}'), (ASKED, '{"a": 1}')])
def test_thoughts_are_no_reply_and_the_error_says_that_there_was_nothing_else(request_, thoughts):
    with pytest.raises(ReplyError, match="empty, but for thoughts"):
        read_reply(json.dumps(completion(reasoning_content=thoughts)).encode(), request_)


def test_what_is_said_counts_before_thoughts():
    assert read_reply(json.dumps(completion(content="yes", reasoning='{"a": 1}')).encode(), OBJECT).text == "yes"


@pytest.mark.parametrize("start", ["", ": a comment\n\n", "event: message\n"])
def test_a_stream_that_was_not_asked_for_is_read_whole(start):
    chunks = [{"choices": [{"delta": {"content": one}}]} for one in ("Por", "to")]
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    body = start + "".join(f"data: {json.dumps(one)}\n\n" for one in [*chunks, end]) + "data: [DONE]\n\n"
    reply = read_reply(body.encode(), ASKED)
    assert (reply.text, reply.input_tokens, reply.output_tokens) == ("Porto", 7, 2)
    with pytest.raises(ModelUnavailable, match="stopped before its end"):
        read_reply(body.partition('data: {"choices": [{"delta": {}')[0].encode(), ASKED)


GONE = {"code": 502, "message": "upstream lost"}


@pytest.mark.parametrize("choice", [{"error": GONE}, {"error": "upstream lost"}, {}], ids=["object", "text", "none"])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_failure_inside_a_choice_may_pass_and_is_no_empty_reply(choice, streamed):
    part = {"delta" if streamed else "message": {"content": ""}, "finish_reason": "error", **choice}
    body = json.dumps({"choices": [part]})
    with pytest.raises(ModelUnavailable, match="status 502") as caught:
        Completion().add_line(f"data: {body}") if streamed else read_reply(body.encode(), ASKED)
    assert (caught.value.retryable, caught.value.status) == (True, 502)


@pytest.mark.parametrize("choice", [{"finish_reason": "content_filter"}, {"message": {"refusal": "I cannot."}}])
def test_a_reply_that_is_declined_for_its_text_says_so(choice):
    body = {"choices": [{"message": {"content": ""}, "finish_reason": "stop", **choice}]}
    with pytest.raises(ReplyError) as caught:
        read_reply(json.dumps(body).encode(), ASKED)
    assert caught.value.refused


def test_the_message_names_the_servers_codes_and_not_its_words():
    error = refused(401, {"message": "Bad key sk-abc123 of Mira", "code": "invalid_api_key", "param": "a b"})
    assert str(error) == "the server refused with status 401 (invalid_api_key); check the API key"
    assert error.detail == '{"error": {"message": "Bad key … of Mira", "code": "invalid_api_key", "param": "a b"}}'


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcDEF123", "Bearer abc.def", "Authorization: Basic YWxhZGRpbjpvcGVu",
        "https://user:hunter2@host/v1", "api_key=hunter2", '"token": "hunter2"', "AIzaSyA1234567",
        "ghp_abcdef123456", "eyJhbGciOi.eyJzdWIi.c2ln", "a1b2c3d4e5f6a7b8c9d0e1f2",
    ],
)  # fmt: skip
def test_ten_shapes_of_secrets_are_redacted(secret):
    last = secret.split()[-1].split("=")[-1].split("@")[0].split("//")[-1].strip('"')
    assert last not in redact(f"refused {secret} today")


BOTH = {"tools": [], "response_format": {}}


@pytest.mark.parametrize(
    ("options", "status", "body", "dropped"),
    [
        ({"temperature": 0.0, "response_format": {}}, 400, {"param": "temperature"}, "temperature"),
        ({"temperature": 0.0, "response_format": {}}, 400, b"no schema here", "response_format"),
        ({"temperature": 0.0, "response_format": {}}, 500, b"", None), ({"temperature": 0.0}, 400, b"", None),
        (BOTH, 400, {"message": "response_format is not supported"}, "response_format"), (BOTH, 400, b"", "tools"),
        ({}, 400, b"", None),
    ],
)  # fmt: skip
def test_the_option_that_the_server_names_is_dropped_first(options, status, body, dropped):
    assert rejected_option(refused(status, body), options) == dropped


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
