"""Every public call that takes a text works in time linear in it: at twice the length, not three times as long."""

import contextlib
import json
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

import evimem
from evimem import EvimemError, Memory, find_times
from evimem.cli.arguments import make_parser
from evimem.cli.page import escape_control_characters
from evimem.loaders import load
from evimem.loaders.chat_messages import text_of_content
from evimem.openai.wire_format import host
from evimem.query.analysis import analyse, find_hints
from evimem.text.memory_fence import OPEN, without_blocks
from evimem.text.sentences import sentences
from evimem.text.terms import terms
from tests.copies import copied
from tests.sizes import share

NOON = datetime(2024, 3, 12, 12)
LENGTH = 90_000  # characters of the longer text
FLOOR = 0.15  # seconds of a processor: what is faster than that is fast enough, and too short to compare

UNITS = {
    "one letter": "a", "capitals": "A", "digits": "7", "spaces": " ", "newlines": "\n", "double quotes": '"',
    "single quotes": "'", "dots": ".", "dotted letters": "a.b.", "commas": ",", "open": "(", "brackets": "[{(",
    "closed": ")", "combining marks": "\u0301", "marked letters": "e\u0301", "hyphens": "-", "words and hyphens": "a-",
    "underscores": "_", "question marks": "?", "colons": "1:", "slashes": "1/", "percents": "%", "backslashes": "\\",
    "escapes": "\x1b[31m", "nulls": "\x00", "surrogates": "\ud800", "ideographs": "\u65e5", "emoji": "\U0001f469\u200d",
    "right to left": "\u202e", "stars": "*", "ticks": "`", "tags": "<a>", "pipes": "|a", "apostrophes": "I'm ",
    "numbers": "12 ", "years": "2024 ", "and": "and ", "of the": "of the ", "the last": "the last ", "ago": "days ago ",
    "names": "Mira ", "Names and Names": "Mira and ", "asking": "what is ", "when": "when did ", "commands": "-- ",
    "months": "May ", "each day": "every other ", "more": "more than ", "sentences": "He ran. ", "indented": "\n  - ",
    "abbreviations": "e.g. ", "mail": "a@", "urls": "http://a.", "negation": "not ", "dollars": "$1,", "I": "I ",
}  # fmt: skip

OfMemory = Callable[[Memory, str], object]
OfText = Callable[[str, Path], object]


def loading(form: str, write: Callable[[str], str]) -> OfText:
    def call(text: str, folder: Path) -> object:
        path = folder / "file"
        path.write_text(write(text), encoding="utf-8", errors="surrogatepass")
        return [list(one.turns) for one in load(path, form, start=NOON, refuse=lambda _: None)]

    return call


def importing(text: str, folder: Path) -> object:
    path, turn = folder / "export", {"id": "i", "session": "s", "speaker": "Mira", "text": text, "role": "user"}
    lines = ({"evimem": 1}, {"turn": turn | {"time": "2024-03-12T12:00:00"}, "facts": []}, {"end": 1})
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    with evimem.open(folder / f"{time.monotonic_ns()}.evimem") as fresh:
        return fresh.import_(path)


OF_MEMORY: dict[str, OfMemory] = {
    "search": lambda memory, text: memory.search(text),
    "ask": lambda memory, text: memory.ask(text),
    "add": lambda memory, text: memory.add("Mira", text, time=NOON, id="b"),
    "add as a caption": lambda memory, text: memory.add("Mira", "Look!", time=NOON, caption=text, id="b"),
    "a session, a speaker and ids": lambda memory, text: (
        memory.search("tea", session=text, speaker=text, exclude=[text]),
        memory.forget(session=text),
        memory.forget(speaker=text),
    ),
    "a time": lambda memory, text: memory.search("tea", before=text),
    "an id": lambda memory, text: memory.turn(text),
}
OF_TEXT: dict[str, OfText] = {
    "find_times": lambda text, _: find_times(text, NOON),
    "hints": lambda text, _: find_hints(text, ["Mira", "user"], NOON),
    "analyse": lambda text, _: analyse(text, ["Mira", "user"], NOON),
    "terms": lambda text, _: len(terms(text)),
    "sentences": lambda text, _: list(sentences(text)),
    "visible": lambda text, _: len(escape_control_characters(text)),
    "a command line": lambda text, _: make_parser(["ask"]).parse_args(
        ["ask", "m", text.lstrip("-"), f"--asked-at={text}"]
    ),
    "a base URL": lambda text, _: host(f"http://{text}"),
    "a timezone": lambda text, folder: evimem.open(folder / "zoned.evimem", timezone=text),
    "parts of a message": lambda text, _: text_of_content([{"text": text}, text]),
    "turns": loading("turns", lambda text: json.dumps({"speaker": "a", "text": text, "time": "2024-03-12"})),
    "turns as text": loading("turns", lambda text: text),
    "messages": loading("messages", lambda text: json.dumps([{"role": "user", "content": text}])),
    "messages as text": loading("messages", lambda text: f"[{text}"),
    "chatgpt": loading("chatgpt", lambda text: f"[{json.dumps({'id': text, 'mapping': {}})}]"),
    "chatgpt as text": loading("chatgpt", lambda text: f"[{text}"),
    "a format to detect": loading("", lambda one: one),
    "import": importing,
    "trace": lambda text, _: evimem.Trace.from_json(text),
    "calibration": lambda text, _: evimem.Calibration.from_json(text),
    "blocks in a text": lambda text, _: without_blocks(f"{OPEN}{text}{OPEN}"),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    path = tmp_path_factory.mktemp("linear") / "m.evimem"
    with evimem.open(path) as memory:
        memory.add("Mira", "We had tea yesterday.", time=NOON, id="a")
    return path


def timed(call: Callable[[], object]) -> float:
    began = time.thread_time()
    with contextlib.suppress(EvimemError, ValueError, SystemExit):
        call()
    return time.thread_time() - began


def slow_texts(name: str, seconds: Callable[[str], float]) -> list[str]:
    """Return the kinds of text of which twice as much takes a call more than three times as long."""
    slow = []
    for kind, unit in share(list(UNITS.items()), 14, name):
        text = unit * (LENGTH // len(unit))
        whole = seconds(text)
        if whole <= FLOOR:
            continue
        ratios = (seconds(text) / max(seconds(text[: LENGTH // 2]), FLOOR / 4) for _ in range(3))
        if all(ratio > 3.0 for ratio in ratios):  # one of three is enough: other work of the machine only ever adds
            slow.append(f"{kind}: {whole:.2f} s, and three times more than 3 times those of half of it")
    return slow


@pytest.mark.parametrize("name", OF_MEMORY)
def test_a_call_of_a_memory_is_linear_in_any_text(name, tmp_path, template):
    def seconds(text: str) -> float:
        """Time a call of a fresh memory: what one text leaves behind must not slow the next."""
        with evimem.open(copied(template, tmp_path / f"{time.monotonic_ns()}.evimem")) as memory:
            return timed(lambda: OF_MEMORY[name](memory, text))

    assert slow_texts(name, seconds) == []


@pytest.mark.parametrize("name", OF_TEXT)
def test_a_call_is_linear_in_any_text(name, tmp_path):
    assert slow_texts(name, lambda text: timed(lambda: OF_TEXT[name](text, tmp_path))) == []
