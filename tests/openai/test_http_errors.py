import json
from datetime import datetime, timezone

import pytest

from evimem.errors import PromptTooLong
from evimem.openai.wire_format import ErrorResponse, error_from, redact, rejected_option, retry_after

NOW = datetime(2024, 3, 12, 12, 0, tzinfo=timezone.utc)


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
    error = error_from(ErrorResponse(status, {}, json.dumps({"error": body}).encode()))
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
def test_only_temporary_errors_are_retryable(status, again):
    assert error_from(ErrorResponse(status, {}, b"")).retryable is again


def test_a_spent_quota_is_not_retryable():
    body = json.dumps({"error": {"message": "You exceeded", "code": "insufficient_quota"}}).encode()
    assert error_from(ErrorResponse(429, {}, body)).retryable is False


def test_the_message_names_the_servers_codes_and_not_its_words():
    body = json.dumps(
        {"error": {"message": "Bad key sk-abc123 of Mira", "code": "invalid_api_key", "param": "a b"}}
    ).encode()
    error = error_from(ErrorResponse(401, {}, body))
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


def test_the_option_that_the_server_names_is_dropped_first():
    options = {"temperature": 0.0, "response_format": {}}
    body = b'{"error": {"message": "Unsupported value", "param": "temperature"}}'
    assert rejected_option(error_from(ErrorResponse(400, {}, body)), options) == "temperature"
    assert rejected_option(error_from(ErrorResponse(400, {}, b"no schema here")), options) == "response_format"
    both, body = {"tools": [], "response_format": {}}, b'{"error": {"message": "response_format is not supported"}}'
    assert rejected_option(error_from(ErrorResponse(400, {}, body)), both) == "response_format"
    assert rejected_option(error_from(ErrorResponse(400, {}, b"")), both) == "tools"
    assert rejected_option(error_from(ErrorResponse(400, {}, b"")), {"temperature": 0.0}) is None
    assert rejected_option(error_from(ErrorResponse(500, {}, b"")), options) is None
    assert rejected_option(error_from(ErrorResponse(400, {}, b"")), {}) is None
