"""`EndpointReranker` against a local server: Cohere's form, the other one, and every way to fail."""

import asyncio

import pytest

import evimem
from evimem import EndpointReranker, InvalidQuery, ModelTimeout, ModelUnavailable
from evimem.errors import ModelError
from tests.model_server import Fault, ModelServer

TEXTS = ["Mira bakes bread", "Noah sails", "Mira bakes"]
KEY = "sk-canary-key"
BODIES = {
    "too few": '{"results": [{"index": 0, "relevance_score": 1}]}',
    "one place twice": '{"results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}]}',
    "NaN": '[{"index": 0, "score": NaN}, {"index": 1, "score": 1}, {"index": 2, "score": 1}]',
    "no list": '{"results": "none"}',
    "no JSON": "busy",
}


def reranker(server, **options):
    return EndpointReranker("ranker", server.url, KEY, **{"max_retries": 0, **options})


def test_the_scores_come_in_the_order_of_the_texts():
    with ModelServer() as server:
        assert reranker(server).rerank("Mira bakes bread", TEXTS) == (3.0, 0.0, 2.0)
    (received,) = server.received
    assert received.path == "/v1/rerank"
    assert received.body == {"model": "ranker", "query": "Mira bakes bread", "documents": TEXTS}
    assert received.headers["authorization"] == f"Bearer {KEY}"


def test_an_event_loop_gets_the_same():
    with ModelServer() as server:
        assert asyncio.run(reranker(server).as_async().rerank("Noah", TEXTS)) == (0.0, 1.0, 0.0)


def test_a_server_that_takes_texts_is_asked_so_from_then_on():
    with ModelServer(Fault("422")) as server:
        asked = reranker(server)
        assert [asked.rerank("Noah", TEXTS) for _ in range(2)] == [(0.0, 1.0, 0.0)] * 2
    assert ["documents" in one.body for one in server.received] == [True, False, False]


def test_a_failure_that_may_pass_is_tried_again_as_often_as_allowed():
    with ModelServer(Fault("503"), Fault("503")) as server:
        with pytest.raises(ModelUnavailable, match="503"):
            reranker(server, max_retries=1).rerank("Noah", TEXTS)
        assert len(server.received) == 2
        assert reranker(server).rerank("Noah", TEXTS) == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_reply_without_one_finite_score_a_text_is_refused(body):
    with ModelServer(then=body) as server, pytest.raises(ModelUnavailable):
        reranker(server).rerank("Noah", TEXTS)


@pytest.mark.parametrize("name", ["401", "400", "307", "html", "reset", "gzip_bomb", "endless", "hang", "drip_body"])
def test_a_fault_ends_by_the_deadline_with_an_error_that_holds_neither_key_nor_text(name):
    error = {"message": f"bad key {KEY}; you sent {TEXTS}"}
    with ModelServer(then=Fault(name, error=error)) as server, pytest.raises(ModelError) as caught:
        reranker(server, deadline=0.5).rerank("Noah", TEXTS)
    told = repr(caught.value) + str(caught.value) + repr(caught.value.__cause__)
    assert KEY not in told
    assert "Noah" not in told
    assert isinstance(caught.value, ModelTimeout) or name not in {"hang", "drip_body"}


def test_without_a_key_none_of_the_environment_is_sent(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ModelServer() as server:
        EndpointReranker("ranker", server.url).rerank("Noah", TEXTS)
    assert KEY not in server.received[0].headers["authorization"]


def test_an_address_is_needed_and_a_representation_has_no_key():
    with pytest.raises(InvalidQuery, match="base_url"):
        EndpointReranker("ranker", None)
    assert KEY not in repr(EndpointReranker("ranker", "http://localhost:1", KEY))


@pytest.mark.parametrize("awaited", [False, True])
def test_a_memory_whose_server_is_down_searches_in_its_own_order(tmp_path, awaited):
    async def search(options):
        async with evimem.open_async(tmp_path / "m.evimem", **options) as memory:
            return await memory.search("Mira bakes bread", 3)

    with ModelServer(*["ok"] * 2, then=Fault("401")) as server, evimem.open(tmp_path / "m.evimem") as memory:
        for day, text in enumerate(TEXTS, 1):
            memory.add("Ida", text, time=f"2024-03-{day:02d}T09:00")
        options = {"reranker": evimem.Reranking(reranker(server))}

        def ask():
            if awaited:
                return asyncio.run(search(options))
            with evimem.open(tmp_path / "m.evimem", **options) as other:
                return other.search("Mira bakes bread", 3)

        assert ["rerank" in hit.parts for hit in (*ask(), *ask())] == [True] * 6
        assert ask() == memory.search("Mira bakes bread", 3)
        assert options["reranker"].failed == 1
