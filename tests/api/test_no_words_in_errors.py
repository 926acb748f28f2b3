"""No error, status or log quotes what was said, whatever is given in its place or is found in a file."""

import json
import logging
from collections.abc import Iterator

import pytest

import evimem
from evimem import EvimemError, Turn
from evimem.ingest.import_file import MalformedError
from evimem.loaders import load

SAID = "heronzq"
MESSAGES = (
    SAID, SAID.encode(), {SAID: 1}, [SAID], [[SAID]], (SAID,), {"role": 7, "content": SAID}, {"content": SAID},
    {"role": "user", "content": {SAID: SAID}}, {"role": "user", "content": {SAID}},
    {"role": "user", "content": [{"type": "text", "text": {SAID: SAID}}]}, [{"role": "user", "content": [[SAID]]}],
)  # fmt: skip
CALLS = {
    "remember": lambda memory, given: memory.remember(given, time="2024-05-02"),
    "remember one": lambda memory, given: memory.remember([given], time="2024-05-02"),
    "remember, untimed": lambda memory, given: memory.remember([given]),
    "block": lambda memory, given: memory.block(given),
    "block of one": lambda memory, given: memory.block([given]),
    "exclude": lambda memory, given: memory.block("Where do I live?", exclude=given),
    "ask": lambda memory, given: memory.ask(given if isinstance(given, bytes) else [given]),
    "search": lambda memory, given: memory.search([given]),
    "search_facts": lambda memory, given: memory.search_facts([given]),
    "add": lambda memory, given: memory.add("Vera", [given], time="2024-05-02"),
    "caption": lambda memory, given: memory.add("Vera", "", time="2024-05-02", caption=[given]),
    "update": lambda memory, given: memory.update("t", [given]),
    "extend": lambda memory, given: memory.extend([given], strict=True),
    "extend, lenient": lambda memory, given: memory.extend([given]),
    "metadata": lambda memory, given: memory.extend([Turn("u", "s", "Vera", SAID, "2024-05-02", metadata={1: given})]),
    "calibrate": lambda memory, given: memory.calibrate([given]),
    "forget": lambda memory, given: memory.forget([given] if isinstance(given, (dict, list)) else [7]),
    "facts": lambda memory, given: memory.facts([given] if isinstance(given, (dict, list)) else [7]),
    "conflict": lambda memory, given: memory.add("Vera", SAID, time="2024-05-02", id="t"),
}


def told_by(call) -> Iterator[str]:
    """Yield what a call tells: the reasons of its statuses, or its error with the causes of that."""
    try:
        report = call()
    except (EvimemError, MalformedError) as error:
        link: BaseException | None = error
        while link is not None:
            yield str(link)
            link = link.__cause__
    else:
        yield from (one.reason or "" for one in getattr(report, "statuses", ()))


@pytest.mark.parametrize("name", CALLS)
def test_no_call_quotes_what_was_said(memory, caplog, name):
    caplog.set_level(logging.DEBUG)
    memory.add("Vera", "I live in Rijeka.", time="2024-05-02", id="t")
    told = [line for given in MESSAGES for line in told_by(lambda given=given: CALLS[name](memory, given))]
    assert SAID not in "\n".join([*told, caplog.text])


FILES = {
    "bytes": SAID.encode() * 20,
    "json": json.dumps([{"role": [SAID], "content": SAID}]).encode(),
    "cut": f'{{"a": "{SAID}'.encode(),
    "lines": json.dumps({"speaker": {SAID: SAID}, "text": [SAID], "time": "2024-05-02"}).encode(),
    "messenger": json.dumps(
        {
            "participants": [{"name": "Vera"}],
            "messages": [{"sender_name": {SAID: 1}, "content": [SAID], "timestamp_ms": 1714644300000}],
        }
    ).encode(),
    "export": b'{"evimem": 1}\n' + json.dumps({"turn": {"text": [SAID], "id": [SAID]}}).encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_no_reading_of_a_file_quotes_its_content(memory, tmp_path, caplog, name):
    path = tmp_path / f"file.{'json' if name != 'bytes' else 'bin'}"
    path.write_bytes(FILES[name])
    readings = (
        lambda: evimem.open(path), lambda: memory.import_(path), lambda: memory.extend(load(path)),
    )  # fmt: skip
    told = [line for reading in readings for line in told_by(reading)]
    assert told
    assert SAID not in "\n".join([*told, caplog.text])


def test_half_of_a_surrogate_pair_in_a_session_is_bad_input_and_no_damage(memory):
    memory.add("Vera", "I live in Rijeka.", time="2024-05-02")
    with pytest.raises(evimem.InvalidQuery, match="lone surrogate"):
        memory.remember([{"role": "user", "content": "Hello."}], session="a\ud800", time="2024-05-02")
