"""What is fuzzed: functions of bytes that must return, or raise an EvimemError, whatever the bytes are.

Anything else that they raise is a fault, and so is an altered turn. `run.py` chooses bytes by coverage.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import evimem
from evimem import EvimemError, Memory, StoreRolledBack, Turn
from evimem.loaders import FORMATS, load
from evimem.raw.commit_mark import mark_path, read_mark
from evimem.testing import WordEmbedder

NOON = datetime(2024, 3, 12, 12)
TEXTS = (
    "I adopted a puppy last Friday.",
    "My sister moved to Porto in 2021, and I sold the car.",
    "I might visit Norway in June!",
    "Remember that I never eat walnuts.",
)
EMBEDDER = WordEmbedder(8)
MOST = 1_000  # turns of a conversation that are read
Target = Callable[[bytes], None]


@dataclass(frozen=True)
class Fuzzed:
    """A target, and inputs to begin with: the first of them are accepted."""

    target: Target
    seeds: tuple[bytes, ...]


def opened(path: Path) -> Memory:
    return evimem.open(path, embedder=EMBEDDER)


def filled(path: Path) -> Path:
    """Make a memory of some turns, one of them with a caption and metadata, and one forgotten."""
    with opened(path) as memory:
        for number, text in enumerate(TEXTS):
            time = NOON + timedelta(minutes=number)
            memory.add("Mira", text, time=time, session="s1", id=f"t{number}", metadata={"n": number})
        memory.add("Tomas", "Look.", time=NOON, session="s1", id="t9", caption="a photo of a red kite", role="user")
        memory.forget(turns=["t2"])
    return path


def importing(folder: Path) -> Fuzzed:
    """Import bytes as an export: all of it, or nothing."""
    with opened(filled(folder / "from.evimem")) as memory:
        memory.export(folder / "whole.jsonl")
    whole = (folder / "whole.jsonl").read_bytes()
    memory = opened(folder / "into.evimem")
    file = folder / "given.jsonl"

    def target(data: bytes) -> None:
        file.write_bytes(data)
        try:
            memory.import_(file)
        except EvimemError:
            assert memory.stats().turns == 0, "a refused import left turns behind"
            return
        # Of an export by another version the rules may have found other facts: grounded ones are taken as they are.
        problems = [one for one in memory.check().problems if "has other facts than its text gives" not in one]
        assert not problems, problems
        memory.forget(everything=True)

    lines = whole.splitlines(keepends=True)
    return Fuzzed(target, (whole, b"".join([lines[0], lines[1], b'{"end":1}\n']), lines[0]))


def loading(folder: Path) -> Fuzzed:
    """Load bytes as each format in turn, by their first byte; the last choice is to detect it."""
    file = folder / "given"
    choices = (*FORMATS, None)

    def target(data: bytes) -> None:
        if not data:
            return
        file.write_bytes(data[1:])
        with suppress(EvimemError):
            for conversation in islice(load(file, choices[data[0] % len(choices)], refuse=lambda _: None), MOST):
                for turn in islice(conversation.turns, MOST):
                    assert isinstance(turn, Turn)

    return Fuzzed(target, tuple(_loadable()))


def _loadable() -> Iterator[bytes]:
    """Yield a small file of each format behind the byte that chooses it, and again to be detected."""
    said = {"speaker": "Mira", "text": "I like tea.", "time": "2024-03-12T12:00:00"}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "I like tea."}]},
        {"role": "assistant", "content": "ok"},
    ]
    message = {
        "author": {"role": "user"},
        "content": {"content_type": "text", "parts": ["I like tea."]},
        "create_time": 1.7e9,
    }
    node = {"id": "b", "message": {"id": "m", **message}, "parent": "a", "children": []}
    root = {"id": "a", "message": None, "parent": None, "children": ["b"]}
    chatgpt = [
        {"id": "c", "title": "Tea", "create_time": 1.7e9, "current_node": "b", "mapping": {"a": root, "b": node}}
    ]
    locomo = [
        {
            "sample_id": "s",
            "conversation": {
                "speaker_a": "Mira",
                "speaker_b": "Tomas",
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [{"speaker": "Mira", "dia_id": "D1:1", "text": "I like tea."}],
            },
            "qa": [{"question": "What does Mira like?", "answer": "tea", "evidence": ["D1:1"], "category": 4}],
        }
    ]
    longmemeval = [
        {
            "question_id": "q",
            "question_type": "single-session-user",
            "question": "What do I like?",
            "answer": "tea",
            "question_date": "2023/05/30 (Tue) 23:40",
            "haystack_dates": ["2023/05/20 (Sat) 02:21"],
            "haystack_session_ids": ["s1"],
            "answer_session_ids": ["s1"],
            "haystack_sessions": [[{"role": "user", "content": "I like tea.", "has_answer": True}]],
        }
    ]
    files: tuple[object, ...] = (said, messages, locomo, longmemeval, chatgpt)
    for number, value in enumerate(files):
        body = json.dumps(value).encode()
        yield bytes([number]) + body
        yield bytes([len(FORMATS)]) + body


def marking(folder: Path) -> Fuzzed:
    """Put bytes where the mark of a memory is: it opens with every turn, or is refused as rolled back.

    After a first byte of "!" the bytes are the body of a mark, which gets the checksum that it needs.
    """
    path = filled(folder / "m.evimem")
    with opened(path) as memory:
        turns = list(memory.turns())
    pristine = mark_path(path).read_bytes()
    body = pristine.rpartition(b" ")[0]

    def target(data: bytes) -> None:
        line = data[1:] + b" " + blake2b(data[1:], digest_size=8).hexdigest().encode() if data[:1] == b"!" else data
        mark_path(path).write_bytes(line)
        found = read_mark(path)
        try:
            with opened(path) as memory:
                assert list(memory.turns()) == turns
        except StoreRolledBack:
            assert found is not None, "a mark that says nothing keeps a memory closed"

    return Fuzzed(target, (pristine, b"!" + body, b"!" + body.replace(b'"commits":', b'"commits":9'), b"!{}", b""))


def damaging(folder: Path) -> Fuzzed:
    """Overwrite places of a memory's file: no turn is altered, and nothing but an EvimemError is raised.

    The bytes are edits of two bytes for an offset, in units of 4 bytes, one for a length, and so many to be written.
    """
    path, pristine = folder / "m.evimem", filled(folder / "pristine.evimem")
    with opened(pristine) as memory:
        turns = {turn.id: turn for turn in memory.turns()}
    whole = pristine.read_bytes()

    def target(data: bytes) -> None:
        damaged, at = bytearray(whole), 0
        while at + 3 < len(data):
            offset, length = 4 * int.from_bytes(data[at : at + 2], "little"), 1 + data[at + 2] % 16
            new = data[at + 3 : at + 3 + length]
            damaged[offset : offset + len(new)] = new
            at += 3 + length
        for left in folder.glob("m.evimem*"):
            left.unlink()
        path.write_bytes(damaged)
        shutil.copy(mark_path(pristine), mark_path(path))
        with suppress(EvimemError), opened(path) as memory:
            with suppress(EvimemError):
                for turn in memory.turns():
                    assert turns.get(turn.id) == turn, "an altered turn is served"
            for call in (memory.check, memory.stats, lambda: memory.ask("Where did my sister move?")):
                with suppress(EvimemError):
                    call()

    pages = [
        bytes([0, number, 3]) + whole[4 * 256 * number : 4 * 256 * number + 4] for number in range(len(whole) >> 10)
    ]
    return Fuzzed(target, (pages[0], b"".join(pages[:8]), b"".join(pages[8:16])))


TARGETS: dict[str, Callable[[Path], Fuzzed]] = {
    "import": importing,
    "loaders": loading,
    "mark": marking,
    "database": damaging,
}
