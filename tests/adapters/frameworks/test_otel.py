"""Spans as the SDK's own exporter gets them: the tree of a question, its parents, and nothing that was said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, get_tracer

import evimem
from evimem.adapters.otel import Spans
from evimem.api.pool import key_of
from evimem.errors import ModelTimeout, UnknownTurn
from evimem.testing import ScriptedModel

SAID = "Xanthippe keeps a zibeline heron called Quorra."
ASKED = "What is the zibeline heron called?"
WORDS = ("xanthippe", "zibeline", "heron", "quorra", "mira", "number-7", "sitting")
SUPPORTED = [{"id": f"r{number}", "status": "supported", "evidence": ["e1"], "why": "Quorra"} for number in range(1, 7)]
VERDICT = {"tier": "exact", "confidence": 0.99, "requirements": SUPPORTED, "gaps": [], "reason": "It is Quorra."}
ANSWER = {"steps": [], "answer": "Quorra", "citations": ["e1"]}


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> TracerProvider:
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(exporter))
    return made


@pytest.fixture
def memory(tmp_path: Path, provider: TracerProvider) -> Iterator[evimem.Memory]:
    with evimem.open(tmp_path / "mira.evimem", observer=Spans(provider=provider)) as memory:
        memory.add("Mira", SAID, time="2024-03-12T18:20", id="number-7", session="sitting")
        yield memory


def tree(spans: tuple[ReadableSpan, ...]) -> list[tuple[str, list[str]]]:
    """Each root with the names of its children, in the order of their starts."""
    ordered = sorted(spans, key=lambda span: span.start_time or 0)
    roots = [span for span in ordered if span.parent is None]
    children = {root: [one for one in ordered if one.parent and one.parent == root.context] for root in roots}
    return [(root.name, [child.name for child in children[root]]) for root in roots]


def everything(spans: tuple[ReadableSpan, ...]) -> str:
    """All that an exporter is told, as one text in small letters."""
    told = [json.loads(span.to_json()) for span in spans]
    for span in told:
        span.pop("resource")
    return json.dumps(told, ensure_ascii=False).lower()


def test_the_spans_of_a_question_without_a_model(memory: evimem.Memory, exporter: InMemorySpanExporter) -> None:
    answer = memory.ask(ASKED)
    spans = exporter.get_finished_spans()
    static = f"embeddings {memory.stats().embedder}"
    assert [(name, set(children)) for name, children in tree(spans)] == [
        ("create_memory", {static}),
        ("search_memory", {static}),
    ]
    root = spans[-1]
    attributes = dict(root.attributes or {})
    store = attributes.pop("gen_ai.memory.store.id")
    assert len(str(store)) == 16
    assert attributes == {
        "gen_ai.operation.name": "search_memory", "evimem.operation": "ask", "gen_ai.memory.record.count": 1,
        "evimem.loop": "iris", "evimem.tier": answer.tier.value, "evimem.abstained": answer.abstained,
        "evimem.confidence": answer.confidence, "evimem.iterations": max(event.iteration for event in answer.trace),
    }  # fmt: skip
    assert root.kind is SpanKind.INTERNAL
    assert [event.name for event in root.events] == [f"evimem.{event.kind}" for event in answer.trace]
    judged = [event for event in root.events if event.name == "evimem.judgement"][-1]
    (said,) = [event for event in answer.trace if event.kind == "judgement"][-1:]
    assert (judged.attributes or {})["evimem.tier"] == said.final_tier.value
    assert root.start_time < root.events[0].timestamp <= root.events[-1].timestamp < root.end_time  # type: ignore[operator]


def test_the_spans_of_a_question_to_a_model(
    tmp_path: Path, provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    model = ScriptedModel([json.dumps(VERDICT), json.dumps(ANSWER)])
    with evimem.open(tmp_path / "m.evimem", llm=model, observer=Spans(provider=provider)) as memory:
        memory.add("Mira", SAID, time="2024-03-12T18:20", id="number-7", session="sitting")
        exporter.clear()
        assert memory.ask(ASKED).text == "Quorra"
    spans = exporter.get_finished_spans()
    ((root, children),) = tree(spans)
    assert (root, [name for name in children if not name.startswith("embeddings")]) == (
        "search_memory",
        ["chat ScriptedModel", "chat ScriptedModel"],
    )
    chats = [span for span in spans if span.name.startswith("chat")]
    assert [(span.attributes or {})["evimem.role"] for span in chats] == ["judge", "answer"]
    assert {span.kind for span in chats} == {SpanKind.CLIENT}
    assert (chats[0].attributes or {})["gen_ai.response.model"] == "scripted"
    used = [(span.attributes or {})["gen_ai.usage.input_tokens"] for span in chats]
    assert used == [len(f"{one.system} {one.prompt}".split()) for one in model.requests]
    assert [word for word in WORDS if word in everything(spans)] == []


def test_an_error_is_its_class_and_no_sentence(
    memory: evimem.Memory, exporter: InMemorySpanExporter, tmp_path: Path, provider: TracerProvider
) -> None:
    exporter.clear()
    with pytest.raises(UnknownTurn):
        memory.forget(["number-7-of-mira"])
    (span,) = exporter.get_finished_spans()
    assert (span.name, (span.attributes or {})["error.type"]) == ("delete_memory", "UnknownTurn")
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    model = ScriptedModel(then=ModelTimeout("Mira asked"))
    with evimem.open(tmp_path / "m.evimem", llm=model, observer=Spans(provider=provider)) as asking:
        asking.add("Mira", SAID, time="2024-03-12T18:20")
        with pytest.raises(ModelTimeout):
            asking.ask(ASKED)
    failed = [span.name for span in exporter.get_finished_spans() if span.status.status_code is StatusCode.ERROR]
    assert failed == ["delete_memory", "chat ScriptedModel", "search_memory"]
    assert [word for word in WORDS if word in everything(exporter.get_finished_spans())] == []


async def test_spans_of_the_other_door_belong_to_the_caller_and_name_the_pools_file(
    tmp_path: Path, provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with evimem.MemoryPool(tmp_path, observer=Spans(provider=provider)) as pool:
        with get_tracer("web", tracer_provider=provider).start_as_current_span("request"):
            async with pool.open_async("mira") as memory:
                await memory.add("Mira", SAID, time="2024-03-12T18:20", id="number-7")
                await memory.search(ASKED)
                await memory.forget(["number-7"])
        pool.erase("mira")
    spans = {span.name: span for span in exporter.get_finished_spans() if not span.name.startswith("embeddings")}
    request = spans.pop("request").context
    assert [*spans] == ["create_memory", "search_memory", "delete_memory", "delete_memory_store"]
    assert [span.parent == request for span in spans.values()] == [True, True, True, False]
    assert {(span.attributes or {})["gen_ai.memory.store.id"] for span in spans.values()} == {key_of("mira")}


def test_content_is_in_spans_only_where_that_is_asked_for(
    tmp_path: Path, provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with evimem.open(tmp_path / "m.evimem", observer=Spans(capture_content=True, provider=provider)) as memory:
        memory.add("Mira", SAID, time="2024-03-12T18:20", id="number-7")
        memory.search(ASKED)
    attributes = dict(exporter.get_finished_spans()[-1].attributes or {})
    assert attributes["gen_ai.memory.query.text"] == ASKED
    assert json.loads(str(attributes["gen_ai.memory.records"])) == [{"id": "number-7", "content": SAID}]


LETTERS = st.text("bcdfgklmnprstvwz", min_size=9, max_size=12)


@settings(max_examples=30, deadline=None)
@given(words=st.lists(LETTERS, min_size=3, max_size=6, unique=True), loop=st.sampled_from(["iris", "memr3", "mragent"]))
def test_no_attribute_holds_a_word_of_a_turn(words: list[str], loop: str) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with (
        TemporaryDirectory() as folder,
        evimem.open(Path(folder) / "m.evimem", observer=Spans(provider=provider)) as memory,
    ):
        memory.add(words[0], f"My {words[1]} is {words[2]}.", time="2024-03-12T18:20", id=words[-1], session=words[0])
        memory.search(words[1])
        memory.ask(f"What is the {words[1]} of {words[0].title()}?", loop)
        memory.block(f"Where is {words[2]}?")
        memory.forget(session=words[0])
    told = everything(exporter.get_finished_spans())
    assert "search_memory" in told
    assert [word for word in words if word in told] == []
