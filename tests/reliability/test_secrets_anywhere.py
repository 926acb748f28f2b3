"""API keys and texts of turns show only where they belong.

Neither is in a log at its lowest level, an error with its chain and traceback, a representation, health or counts, nor
in what a crash leaves; and no key is in a trace or in the file.
"""

import faulthandler
import logging
import os
import traceback
from collections.abc import Callable

import pytest

import evimem
from evimem import EvimemError, Memory
from evimem.openai import OpenAI, OpenAIEmbedder
from tests.doubles import FakeClock
from tests.model_server import Fault, ModelServer
from tests.sizes import share

from .support.children import ChildFailed, in_child
from .support.world import EMBEDDER, EXTRACTOR, NOON

KEYS = (
    "sk-proj-Zx9canary0key1", "sk-ant-api03-canaryAAAA-b", "AIzaSyCanary1234567", "ghp_canary123456abcdef",
    "xoxb-canary-1234567", "hf_canaryabc123", "AKIACANARY12345678", "eyJhbGciOi.canary.c2ln", "glpat-canary_1234567",
    "a1b2c3d4e5f6a7b8c9d0canary1",
)  # fmt: skip
SAID = ("Zqobluvek Hartwig", "4111-2222-3333-4444", "hartwig@zqobluvek.example", "+351 900 111 222")
FAULTS = ("401", "400", "503", "error_in_200", "html", "junk", "reset")


def spoken(memory: Memory) -> None:
    for number, word in enumerate(SAID):
        memory.add("Mira", f"I told {word} that I like tea.", time=NOON.replace(minute=number), id=f"t{number}")


def told(call: Callable[[], object]) -> tuple[str, object]:
    """Return an error with its chain and traceback as text, or the result."""
    try:
        return "", call()
    except EvimemError as error:
        chain = "".join(traceback.format_exception(error))
        return f"{chain} {error!r} {error.args} {error.__cause__!r} {error.__context__!r}", None


@pytest.mark.parametrize("shape", share(range(len(KEYS)), 4, "shapes"))
def test_keys_and_texts_are_in_no_log_or_error(disk, shape, caplog, monkeypatch):
    key = KEYS[shape]
    caplog.set_level(logging.DEBUG)
    for name in ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "DATABASE_URL"):
        monkeypatch.setenv(name, key)
    fault = FAULTS[shape % len(FAULTS)]
    error = {"message": f"bad key {key}; you sent {SAID[0]} {SAID[1]}", "code": "invalid_api_key", "param": key[:40]}
    seen, keyed = [], []
    with ModelServer(then=Fault(fault, error=error)) as server:
        url = server.url.replace("http://", "http://user:hunter2canary@")
        settings = {"base_url": url, "api_key": key, "deadline": 0.5, "max_retries": 1}
        model, far = OpenAI("small", **settings), OpenAIEmbedder("words", 16, **settings)
        options = {"llm": model, "extractor": EXTRACTOR, "clock": FakeClock(1.7e9)}
        for embedder in (EMBEDDER, far):
            path = disk / f"{embedder.dimension}-{embedder is far}.evimem"
            with evimem.open(path, embedder=embedder, **options) as memory:
                seen += [told(lambda memory=memory: spoken(memory))[0]]
                seen += [told(memory.enrich)[0], told(lambda memory=memory: memory.ask("What does Mira like?"))[0]]
                seen += [repr(memory.health()), repr(memory.stats()), repr(memory), str(memory), repr(memory._core)]
                keyed += [str(row) for row in memory._core.store.db.rows("SELECT error FROM job")]
            keyed.append(path.read_bytes().decode("latin-1"))
        seen += [repr(model), str(model), repr(far), repr(model.as_async())]
        assert server.received
    assert any("Traceback" in text for text in seen), "nothing was raised that could be looked at"
    seen.append(caplog.text)
    for word in (key, "hunter2canary"):
        assert not [text[:300] for text in (*seen, *keyed) if word in text], f"a key of the shape {shape} shows"
    for word in SAID:
        assert not [text[:300] for text in seen if word in text], "what was said shows"


def test_a_trace_of_a_question_holds_no_key(disk, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEYS[0])
    with ModelServer(then='{"tier": "none", "confidence": 0.1}') as server:
        model = OpenAI("small", base_url=server.url, api_key=KEYS[0], deadline=2.0)
        with evimem.open(disk / "m.evimem", llm=model, embedder=EMBEDDER, extractor=EXTRACTOR) as memory:
            spoken(memory)
            answer = memory.ask("What does Mira like?")
        assert server.received
    assert KEYS[0] not in answer.trace.to_json()
    assert KEYS[0] not in repr(answer)


def test_a_crash_report_holds_no_key_and_no_text(disk, monkeypatch):
    """The crash report of a process aborted in a question: Python's dump of every thread."""
    monkeypatch.setenv("OPENAI_API_KEY", KEYS[0])
    dump = disk / "dump"

    class Aborting(OpenAI):
        def complete(self, request: object) -> object:
            os.abort()

    def work() -> None:
        with dump.open("w") as file:
            faulthandler.enable(file, all_threads=True)
            model = Aborting("small", api_key=KEYS[0], base_url="http://127.0.0.1:9")
            with evimem.open(disk / "m.evimem", llm=model, embedder=EMBEDDER, extractor=EXTRACTOR) as memory:
                spoken(memory)
                memory.ask(f"What did {SAID[0]} say?")

    with pytest.raises(ChildFailed, match="-6"):
        in_child(work)
    said = dump.read_text()
    assert "in complete" in said
    assert not [word for word in (KEYS[0], *SAID) if word in said]
