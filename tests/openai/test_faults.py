"""Every fault of an endpoint, met by the real client over a real socket."""

import asyncio
import gzip
import socket
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from evimem.errors import EmbedderError, EvimemError, ModelTimeout, ModelUnavailable
from evimem.openai import OpenAI, OpenAIEmbedder
from evimem.openai.endpoint import PIECE_BYTES, _read_limited
from evimem.types.trace import Complete
from tests.lateness import Lateness
from tests.model_server import FAULTS, Fault, ModelServer
from tests.sizes import share

DEADLINE = 1.0  # seconds, where the fault lasts until it
AMPLE = 60.0  # seconds: not reached on any machine, where the fault ends by itself
REQUEST = Complete("judge", "Judge.", "Is it enough?", {"type": "object"})
BOMB = gzip.compress(b" " * 50_000_000, 1)
WAYS = ("async", "stream", "embed")  # besides a plain call
TIMES_OUT = {"hang", "hang_after_headers", "drip", "drip_body"}
ENDS_IT = {"302", "307", "308", "401", "403", "404", "gzip_bomb", "endless"}
TOO_LATE = {"429_soon", "429_later", "429_date", "429_far_date"}


@pytest.fixture(scope="module", autouse=True)
def imported():
    """Let the client import what it imports at its first call of a kind, which no deadline should have to cover."""
    with ModelServer() as server:
        for way in ("sync", *WAYS):
            asked(server, way, AMPLE)


def recorded_pauses(model):
    """Return a list that the waits between a model's attempts are added to; they take no time."""
    pauses = []

    async def pause(seconds):
        pauses.append(seconds)

    model._server.pause = pause
    return pauses


def asked(server, way, deadline):
    """Return the reply's text, which is "ok" in each way, or the error. Either must come by the deadline."""
    bounds = {"base_url": server.url, "api_key": "k", "deadline": deadline, "max_retries": 1}
    model = OpenAIEmbedder("words", 64, **bounds) if way == "embed" else OpenAI("small", **bounds)
    with Lateness() as lateness:
        try:
            if way == "embed":
                model.embed(["good morning"])
                outcome = "ok"
            elif way == "stream":
                outcome = list(model.stream(REQUEST))[-1].text
            elif way == "async":
                outcome = asyncio.run(model.as_async().complete(REQUEST)).text
            else:
                outcome = model.complete(REQUEST).text
        except EvimemError as error:
            outcome = error
    lateness.check(deadline)
    return outcome


def check(name, way):
    with ModelServer(Fault(name)) as server:
        outcome = asked(server, way, DEADLINE if name in TIMES_OUT | TOO_LATE else AMPLE)
    assert len(server.received) <= 2
    if name in TIMES_OUT | ENDS_IT | TOO_LATE:
        assert isinstance(outcome, EmbedderError if way == "embed" else (ModelTimeout, ModelUnavailable))
        assert outcome.retryable == (name not in ENDS_IT)
        assert len(server.received) == 1
    elif way == "embed" and name in {"400", "422"}:
        assert isinstance(outcome, EmbedderError)
        assert not outcome.retryable
    elif way == "stream" and isinstance(outcome, ModelUnavailable):
        assert "broke off" in str(outcome)
    else:
        assert outcome == "ok"
        assert len(server.received) == 2


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_survived_or_becomes_a_typed_error_within_the_deadline(name):
    check(name, "sync")


# A few of the faults each; all of them at the usual size.
@pytest.mark.parametrize(
    ("name", "way"), [(name, way) for way in WAYS for name in share(sorted(FAULTS.keys() - TIMES_OUT), 9, way)]
)
def test_every_fault_in_every_other_kind_of_call(name, way):
    check(name, way)


@pytest.mark.parametrize("name", sorted(TIMES_OUT))
def test_a_fault_that_lasts_ends_at_the_deadline_in_every_other_kind_of_call(name):
    """All at once, because each waits until its deadline."""
    with ThreadPoolExecutor(len(WAYS)) as threads:
        for checked in [threads.submit(check, name, way) for way in WAYS]:
            checked.result()


def test_a_retry_after_that_fits_is_waited_for():
    with ModelServer(Fault("429", retry_after="0.4"), "ok") as server:
        model = OpenAI("small", base_url=server.url, deadline=AMPLE, max_retries=1)
        pauses = recorded_pauses(model)
        assert model.complete(REQUEST).text == "ok"
    assert pauses == [0.4]
    assert len(server.received) == 2


@pytest.mark.parametrize("name", ["429_later", "429_far_date"])
def test_a_retry_after_beyond_the_deadline_is_handed_to_the_caller_at_once(name):
    with ModelServer(Fault(name)) as server:
        model = OpenAI("small", base_url=server.url, deadline=AMPLE, max_retries=1)
        pauses = recorded_pauses(model)
        with pytest.raises(ModelUnavailable) as caught:
            model.complete(REQUEST)
    assert 3600 - 1 - AMPLE <= caught.value.retry_after <= 3600  # a date has whole seconds, and is read later
    assert (pauses, len(server.received)) == ([], 1)


def test_a_closed_port_is_tried_again_and_then_typed():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    model = OpenAI("small", base_url=f"http://127.0.0.1:{port}/v1", deadline=AMPLE, max_retries=1)
    with pytest.raises(ModelUnavailable, match="could not be reached") as caught:
        model.complete(REQUEST)
    assert caught.value.retryable


def test_a_server_that_speaks_no_tls_is_typed():
    with ModelServer(greeting=b"HTTP/1.1 400 Bad Request\r\n\r\n") as server:
        url = server.url.replace("http:", "https:")
        model = OpenAI("small", base_url=url, deadline=AMPLE, max_retries=0)
        with pytest.raises(ModelUnavailable, match="could not be reached"):
            model.complete(REQUEST)


def test_a_server_that_accepts_and_never_reads_is_cut_at_the_deadline():
    with socket.create_server(("127.0.0.1", 0), backlog=1) as listener:
        model = OpenAI("small", base_url=f"http://127.0.0.1:{listener.getsockname()[1]}/v1", deadline=0.5)
        with Lateness() as lateness, pytest.raises(ModelTimeout):
            model.complete(Complete("judge", "", "x" * 8_000_000))
    lateness.check(0.5)


def test_vectors_come_back_in_the_order_asked_and_blank_texts_are_never_sent():
    with ModelServer() as server:
        embedder = OpenAIEmbedder("words", 64, server.url, batch=2)
        vectors = embedder.embed(["red", " ", "blue", "green", ""])
        again = asyncio.run(embedder.as_async().embed(["blue"]))
    assert [received.body["input"] for received in server.received] == [["red", "blue"], ["green"], ["blue"]]
    assert np.linalg.norm(vectors, axis=1).tolist() == [1.0, 0.0, 1.0, 1.0, 0.0]
    assert (again[0] == vectors[2]).all()
    assert (embedder.name, embedder.dimension, vectors.dtype) == ("words", 64, np.float32)


def widths_asked_for(server):
    return [received.body.get("dimensions") for received in server.received]


def test_vectors_of_another_width_are_asked_for_once_and_refused():
    with ModelServer(dimension=32) as server, pytest.raises(EmbedderError, match="32 values, although 64") as caught:
        OpenAIEmbedder("words", 64, server.url).embed(["red"])
    assert (caught.value.retryable, widths_asked_for(server)) == (False, [None, 64])


@pytest.mark.parametrize(("model", "first"), [("words", [None, 16]), ("text-embedding-3-large", [16])])
def test_a_width_that_is_not_the_models_own_is_asked_for(model, first):
    with ModelServer(dimension=64, shortens=True) as server:
        embedder = OpenAIEmbedder(model, 16, server.url)
        assert [embedder.embed([text]).shape for text in ("red", "blue")] == [(1, 16), (1, 16)]
    assert widths_asked_for(server) == [*first, 16]


def test_the_models_own_width_is_not_asked_for():
    with ModelServer(dimension=1536) as server:
        OpenAIEmbedder("text-embedding-3-small", base_url=server.url).embed(["red"])
    assert widths_asked_for(server) == [None]


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "gzip"])
def test_a_compressed_body_is_never_unpacked_beyond_the_limit(encoding):
    async def all_of(response):
        return [len(part) async for part in _read_limited(response, 3 * PIECE_BYTES)]

    async def raw():
        yield BOMB

    sent = SimpleNamespace(headers={"content-encoding": encoding}, aiter_raw=raw)
    tracemalloc.start()
    with pytest.raises(ModelUnavailable, match=r"compressed|more than"):
        asyncio.run(all_of(sent))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000
