"""Keys and what people said: nowhere in logs, representations or errors."""

import logging
import subprocess
import sys
import traceback

import pytest

from evimem.errors import EvimemError
from evimem.openai import OpenAI, OpenAIEmbedder
from evimem.types.trace import Complete
from tests.model_server import FAULTS, Fault, ModelServer

KEY = "sk-proj-Zx9canary0key1"
PASSWORD = "hunter2canary"
SAID = "my card number is 4111-canary-1111"
REQUEST = Complete("extract", "List facts.", SAID, {"type": "object"})


def leaks(text):
    return [secret for secret in (KEY, PASSWORD, "canary") if secret in text]


def models(server, deadline=0.5):
    url = server.url.replace("http://", f"http://user:{PASSWORD}@")
    bounds = {"base_url": url, "api_key": KEY, "deadline": deadline, "max_retries": 1}
    return OpenAI("small", **bounds), OpenAIEmbedder("words", 64, **bounds)


def test_a_representation_shows_the_model_and_the_host_only():
    with ModelServer() as server:
        model, embedder = models(server)
        for thing in (model, embedder, model.as_async(), embedder.as_async()):
            assert not leaks(repr(thing) + str(thing))
        assert repr(model) == f"OpenAI(model='small', host='127.0.0.1:{server.port}')"


@pytest.mark.parametrize("name", ["401", "400", "reset", "html", "error_in_200", "drip", "503", "junk"])
def test_no_error_and_no_log_holds_a_secret(name, caplog):
    assert name in FAULTS
    caplog.set_level(logging.DEBUG)
    error = {"message": f"bad key {KEY}; you sent {SAID}", "code": "invalid_api_key", "param": KEY}
    with ModelServer(then=Fault(name, error=error)) as server:
        for call in (lambda m, e: m.complete(REQUEST), lambda m, e: e.embed([SAID])):
            with pytest.raises(EvimemError) as caught:
                call(*models(server))
            told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
            assert not leaks(told.replace(SAID, "") if SAID in repr(REQUEST) and "complete(REQUEST)" in told else told)
    assert not leaks(caplog.text)


def test_a_key_that_cannot_be_sent_is_not_quoted_by_the_error(caplog):
    caplog.set_level(logging.DEBUG)
    with ModelServer() as server, pytest.raises(EvimemError) as caught:
        OpenAI("small", base_url=server.url, api_key=f"{KEY}\n", max_retries=0, deadline=1.0).complete(REQUEST)
    assert not leaks("".join(traceback.format_exception(caught.value)) + caplog.text)


def test_a_good_call_logs_nothing_of_what_was_said(caplog):
    caplog.set_level(logging.DEBUG)
    with ModelServer(SAID) as server:
        models(server, deadline=60.0)[0].complete(REQUEST)
    assert server.received[0].prompt == SAID
    assert not leaks(caplog.text)


def test_the_key_of_the_environment_is_never_sent_to_this_machine(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ModelServer() as server:
        OpenAI("small", base_url=server.url).complete(REQUEST)
        OpenAI("small", base_url=server.url, api_key="given").complete(REQUEST)
    assert [received.headers["authorization"] for received in server.received] == ["Bearer none", "Bearer given"]


def test_importing_the_settings_needs_no_client_and_constructing_them_names_the_extra():
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from evimem.openai import OpenAI\n"
        "try: OpenAI('small')\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=sys.path[0] or "."
    )
    assert done.stdout.strip() == "MissingExtra evimem.OpenAI needs the 'openai' extra: pip install 'evimem[openai]'"
