"""A reranker orders the first hits of a search, within bounds; where it fails, nothing changes but what is told."""

import asyncio
import logging
import threading

import pytest

import evimem
from evimem import InvalidQuery, MemoryPool, ModelReranker, Reranking
from evimem.embedding.static_embedder import count_tokens
from evimem.errors import MissingExtra
from evimem.query.bounded_reranker import cut_text
from evimem.query.cross_encoder import CrossEncoderReranker
from evimem.query.fastembed_reranker import FastembedReranker
from evimem.testing import ScriptedModel

COUNT = 30


class Scripted:
    """A reranker that likes the last texts most, and keeps what it was asked."""

    def __init__(self, score=None):
        self.asked = []
        self._score = score or (lambda texts: list(range(len(texts))))

    def rerank(self, query, texts):
        """Return the place of each text, or what was scripted."""
        self.asked.append((query, list(texts)))
        return self._score(texts)


class Awaited(Scripted):
    """The same for an event loop."""

    async def rerank(self, query, texts):
        """Return what the other one does, one turn of the loop later."""
        await asyncio.sleep(0)
        return Scripted.rerank(self, query, texts)


def refuse(texts):
    raise OSError(f"cannot rank {texts[0]}")


FAILING = {
    "an error": refuse,
    "too few": lambda texts: [1.0] * (len(texts) - 1),
    "too many": lambda texts: [1.0] * (len(texts) + 1),
    "NaN": lambda texts: [float("nan")] * len(texts),
    "infinite": lambda texts: [float("inf")] * len(texts),
    "words": lambda texts: ["high"] * len(texts),
    "a string": "1".join,
    "nothing": lambda _: None,
    "rows": lambda texts: [[1.0]] * len(texts),
}


@pytest.fixture
def path(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        for day in range(1, COUNT + 1):
            memory.add("Mira", f"Loaf number {day} of the sourdough bread.", time=f"2024-03-{day:02d}T09:00")
    return tmp_path / "m.evimem"


def found(path, reranker, k=5, **options):
    with evimem.open(path, reranker=reranker) as memory:
        return memory.search("sourdough bread", k, **options)


def ids(hits):
    return [hit.turn.id for hit in hits]


def test_the_first_hits_are_in_the_order_of_the_reranker_and_the_others_behind_in_their_own(path):
    own, hits = found(path, None, COUNT), found(path, Reranking(Scripted(), texts=8), COUNT)
    assert ids(hits) == ids(own[:8])[::-1] + ids(own[8:])
    assert [hit.turn.id for hit in hits if "rerank" in hit.parts] == ids(hits[:8])


def test_a_search_for_few_turns_reranks_as_many_as_for_many(path):
    own, scripted = found(path, None, COUNT), Scripted()
    assert ids(found(path, Reranking(scripted, texts=8), 3)) == ids(own[:8])[::-1][:3]
    assert [len(texts) for _, texts in scripted.asked] == [8]


@pytest.mark.parametrize("k", [1, 3, 8, 12, 50])
@pytest.mark.parametrize("over", ["turns", "facts", "both"])
def test_k_distinct_turns_come_back_best_score_first_each_the_sum_of_its_parts(path, k, over):
    hits = found(path, Reranking(Scripted(), texts=8), k, over=over)
    assert len(hits) == len(set(ids(hits))) == len(found(path, None, k, over=over))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(hit.score == pytest.approx(sum(hit.parts.values())) for hit in hits)


def test_ties_stay_in_their_own_order(path):
    assert ids(found(path, Scripted(lambda texts: [0] * len(texts)), COUNT)) == ids(found(path, None, COUNT))


def test_a_function_and_an_object_are_both_rerankers_and_see_the_query_and_who_says_what(path):
    seen = []
    found(path, lambda query, texts: seen.append((query, texts)) or [0.0] * len(texts), 1)
    ((query, texts),) = seen
    assert query == "sourdough bread"
    assert sorted(texts) == sorted(f"Mira: Loaf number {day} of the sourdough bread." for day in range(1, COUNT + 1))


@pytest.mark.parametrize("kind", FAILING)
@pytest.mark.parametrize("awaited", [False, True])
def test_a_reranker_that_fails_leaves_the_order_and_is_told_once(path, caplog, kind, awaited):
    reranking = Reranking((Awaited if awaited else Scripted)(FAILING[kind]))

    async def search():
        async with evimem.open_async(path, reranker=reranking) as memory:
            hits = [await memory.search("sourdough bread", 5) for _ in range(2)]
            return hits, await memory.health()

    hits, health = asyncio.run(search())
    assert hits == [found(path, None)] * 2
    assert (reranking.asked, reranking.failed) == (2, 2)
    assert [record.levelno for record in caplog.records if "reranker" in record.message] == [logging.WARNING]
    assert ["reranker" in problem for problem in health.problems] == [True]
    assert "Loaf" not in caplog.text + health.problems[0]


def test_after_a_success_health_is_well_and_the_next_failure_warns_again(path, caplog):
    scores = [None, [1.0] * COUNT, None]
    with evimem.open(path, reranker=lambda *_: scores.pop(0)) as memory:
        for problems in (1, 0, 1):
            memory.search("bread")
            assert len(memory.health().problems) == problems
    assert sum("reranker" in record.message for record in caplog.records) == 2


@pytest.mark.parametrize("awaited", [False, True])
def test_a_late_reranker_is_left_and_not_asked_again_while_it_runs(path, awaited):
    gate = threading.Event()

    def block(query, texts):
        gate.wait(30)
        return [0.0] * len(texts)

    async def sleep(query, texts):
        await asyncio.sleep(30)

    async def search(reranking):
        async with evimem.open_async(path, reranker=reranking) as memory:
            return await memory.search("sourdough bread", 5)

    reranking = Reranking(sleep if awaited else block, seconds=0.05)
    assert asyncio.run(search(reranking)) == found(path, None)
    assert "longer than 0.05 s" in reranking.problems[0]
    if not awaited:
        assert found(path, reranking) == found(path, None)
        assert "still running" in reranking.problems[0]
    gate.set()


def test_texts_are_cut_to_their_tokens():
    text = "The sourdough loaf was flatter than a naan, said Mira. " * 50
    assert count_tokens(cut_text(text, 20)) == 20
    assert text.startswith(cut_text(text, 20))
    assert cut_text("Loaf.", 20) == "Loaf."


def test_a_reranker_gets_no_more_tokens_of_a_text_than_its_bound(path):
    scripted = Scripted()
    found(path, Reranking(scripted, tokens=3))
    assert {count_tokens(text) for _, texts in scripted.asked for text in texts} == {3}


@pytest.mark.parametrize("bound", [{"texts": 1}, {"texts": 101}, {"tokens": 0}, {"seconds": 0}, {"seconds": 61}])
def test_a_bound_out_of_range_is_refused(bound):
    with pytest.raises(InvalidQuery, match=next(iter(bound))):
        Reranking(Scripted(), **bound)


@pytest.mark.parametrize("reranker", ["rerank-v3", 3, Scripted, Awaited()])
def test_what_cannot_be_called_is_refused_when_the_memory_is_opened(path, reranker):
    with pytest.raises(InvalidQuery, match="reranker"):
        evimem.open(path, reranker=reranker)


SAID = [
    "Our sourdough bread rose well.",
    "Nadia dropped sourdough bread.",
    "Uncle Leo sells sourdough bread.",
    "Flour got dear in Porto.",
]


def test_blocks_and_the_searches_of_a_question_are_reranked_and_replay_without_the_reranker(tmp_path):
    scripted = Scripted(lambda texts: [float("Porto" in text) for text in texts])
    with evimem.open(tmp_path / "m.evimem") as memory:
        for day, text in enumerate(SAID, 1):
            memory.add("Mira", text, time=f"2024-03-{day:02d}T09:00")
        assert "Porto" not in str(memory.block("sourdough bread", tokens=65, gate=False))
    with evimem.open(tmp_path / "m.evimem", reranker=scripted) as memory:
        assert "Porto" in str(memory.block("sourdough bread", tokens=65, gate=False))
        blocks = len(scripted.asked)
        answer = memory.ask("Where did Nadia drop the sourdough bread?")
        assert len(scripted.asked) > blocks > 0
        assert [event.detail["order"][0] for event in answer.trace if getattr(event, "action", "") == "rerank"][:1] == [
            3
        ]
    with evimem.open(tmp_path / "m.evimem") as memory:
        asked = len(scripted.asked)
        assert evimem.replay(answer.trace, memory).text == answer.text
        assert len(scripted.asked) == asked


def test_nothing_is_asked_for_a_message_that_the_gate_answers_with_nothing(path):
    scripted = Scripted()
    with evimem.open(path, reranker=scripted) as memory:
        assert str(memory.block("thanks!")) == ""
    assert scripted.asked == []


def test_both_doors_and_a_pool_rerank_alike_and_a_pool_counts_for_all(path, tmp_path):
    async def search():
        async with evimem.open_async(path, reranker=Awaited()) as memory:
            return await memory.search("sourdough bread", 5)

    assert ids(asyncio.run(search())) == ids(found(path, Scripted()))
    reranking = Reranking(Scripted())
    with MemoryPool(tmp_path / "users", reranker=reranking) as pool:
        for user in ("ana", "bo"):
            with pool.open(user) as memory:
                memory.remember([{"role": "user", "content": f"Bread {n}"} for n in range(3)], time="2024-03-01T09:00")
                assert all("rerank" in hit.parts for hit in memory.search("bread"))
    assert (reranking.asked, reranking.failed) == (2, 0)


def test_a_chat_model_lists_what_helps_in_one_request_and_the_others_follow():
    model = ScriptedModel(['{"ranking": ["m3", "m9", "M1"]}'])
    assert ModelReranker(model).rerank("Who bakes?", ["Mira bakes.", "Hello.", "Noah bakes."]) == (1.0, 0.0, 2.0)
    (request,) = model.requests
    assert "> Noah bakes." in request.prompt
    assert "bakes" not in request.system


def test_a_chat_model_whose_list_cannot_be_read_leaves_the_order(path):
    model = ScriptedModel(then="Sorry, no.")
    assert found(path, ModelReranker(model)) == found(path, None)
    assert len(model.requests) == 2


class Encoder:
    """Has the two methods by which sentence-transformers and fastembed score pairs."""

    def predict(self, pairs, show_progress_bar):
        """Return how long each text is."""
        return [len(text) for _, text in pairs]

    def rerank(self, query, documents):
        """Yield how long each text is."""
        yield from map(len, documents)


@pytest.mark.parametrize("kind", [CrossEncoderReranker, FastembedReranker])
def test_local_cross_encoders_are_called_as_their_libraries_are(kind):
    assert list(kind(Encoder()).rerank("bread", ["a", "abc"])) == [1, 3]


@pytest.mark.parametrize(
    ("kind", "extra"), [(CrossEncoderReranker, "sentence-transformers"), (FastembedReranker, "fastembed")]
)
def test_a_model_by_name_needs_its_extra(kind, extra, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, extra.replace("-", "_"), None)
    with pytest.raises(MissingExtra, match=extra):
        kind("some/model")
