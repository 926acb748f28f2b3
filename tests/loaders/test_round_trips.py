"""Every format: what its program writes is read as it was said, and no mutation of it ends in a traceback."""

import json
import random
from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evimem
from evimem.errors import ImportFailed
from evimem.loaders import load
from evimem.loaders.formats import detect_format
from tests.loaders.writers import NOON, SAMPLE, WRITERS, Message, places, with_value
from tests.sizes import SEED, few, share, sizes

PLAIN = {
    "transcript",
    "transcript bold",
    "transcript headings",
    "whatsapp iphone",
    "whatsapp arabic",
    "whatsapp android",
}  # without escapes
OF_ONE = {"discord-package", "discord-package csv", "mem0"}  # who speaks is always the same
ONE_LINE = {"gemini page", *PLAIN}
LETTERS = st.characters(codec="utf-8", exclude_categories=("C", "Z", "M"))
WORD = st.text(LETTERS, min_size=1, max_size=8)
PLAIN_WORD = st.text(st.characters(codec="utf-8", categories=("L", "Nd")), min_size=1, max_size=8)


def messages_of(words, lines):
    text = st.lists(st.lists(words, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=lines).map("\n".join)
    said = st.tuples(text, text, st.integers(0, 40 * 24 * 3600))
    return st.lists(said, min_size=2, max_size=4).map(in_time)


def in_time(pairs):
    """Return messages of a user and an assistant in turn, by time."""
    found = []
    for at, (said, answered, offset) in enumerate(sorted(pairs, key=lambda one: one[2])):
        time = NOON + timedelta(seconds=offset + at)
        found += [Message("user", said, time), Message("assistant", answered, time)]
    return found


def turns_of(path, **options):
    return [turn for one in load(path, **options) for turn in one.turns]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("export")


@pytest.mark.parametrize("name", WRITERS)
def test_a_made_export_of_every_dialect_is_known_by_what_it_holds_and_read(name, tmp_path):
    path = tmp_path / "given"
    path.write_bytes(WRITERS[name](SAMPLE))
    assert detect_format(path) == name.split(" ", maxsplit=1)[0]
    turns = turns_of(path)
    assert [turn.text for turn in turns] == [one.text for one in SAMPLE]
    assert [turn.time.replace(tzinfo=None, second=0, microsecond=0) for turn in turns] == [
        one.time.replace(tzinfo=None) if "gemini" not in name else SAMPLE[at - at % 2].time.replace(tzinfo=None)
        for at, one in enumerate(SAMPLE)
    ]


@pytest.mark.parametrize("name", WRITERS)
@given(data=st.data())
@few(12)
def test_messages_are_read_as_they_were_written(name, data, folder):
    plain = name in PLAIN
    messages = data.draw(messages_of(PLAIN_WORD if plain else WORD, 1 if name in ONE_LINE else 3))
    path = folder / "given"
    path.write_bytes(WRITERS[name](messages))
    kind = name.split(" ", maxsplit=1)[0]
    turns = turns_of(path, format=kind, date_order="dmy")
    assert [turn.text for turn in turns] == [one.text for one in messages]
    if name not in OF_ONE:
        said_by = [turn.speaker.replace("Gemini", "assistant") for turn in turns]
        assert said_by == [one.speaker for one in messages]
    assert len({(turn.session, turn.id) for turn in turns if turn.id}) in (0, len(turns))


def mutated(data, chance):
    """Return a file with a few of its bytes changed, cut out, doubled or put elsewhere."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 5)):
        at, length = chance.randrange(len(found)), chance.choice((1, 2, 8, 60, 400))
        piece = bytes(found[at : at + length])
        kind = chance.randrange(6)
        if kind == 0:
            found[at : at + length] = b""
        elif kind == 1:
            found[at:at] = piece * chance.choice((1, 3, 200))
        elif kind == 2:
            found[at : at + 1] = bytes([chance.randrange(256)])
        elif kind == 3:
            to = chance.randrange(len(found))
            found[to : to + length] = piece
        else:
            found[at:at] = chance.choice(HOSTILE)
        if not found:
            return b""
    return bytes(found)


HOSTILE = [
    b"null", b"[]", b"{}", b'["a"]', b"1e999", b"-1", b"9" * 400, b'"\\ud83d"', b"\x00", b"\xff\xfe", b"[" * 600,
    b'{"a":' * 300, b"<div>" * 700, b"]", b"}", b'"', b"\n", b",", b":", "\u200e\u202e".encode(), b'"text": ["a"],',
    b'"id": ["a"],', b"<!--", b"&#99999999;", b"99/99/9999, 99:99 - A: b\n", b"true", b'"ts": null,', b"<br>", b"\r",
    b"0001-01-01T00:00:00+14:00",
]  # fmt: skip


@pytest.mark.parametrize("count", sizes(40, nightly=3000, reduced=12))
@pytest.mark.parametrize("name", WRITERS)
def test_a_mutated_export_is_read_or_refused_with_a_place_or_a_typed_error(name, count, tmp_path):
    chance = random.Random(f"{SEED} {name}")
    data, path = WRITERS[name](SAMPLE), tmp_path / "given"
    for _ in range(count):
        path.write_bytes(mutated(data, chance))
        refused = []
        for format_ in (None, name.split(" ", maxsplit=1)[0]):
            with suppress(ImportFailed):
                turns = turns_of(path, format=format_, start=NOON, refuse=refused.append)
                assert all(isinstance(turn.text, str) and isinstance(turn.speaker, str) for turn in turns)
        assert all(one.where and one.why for one in refused)


def jsons():
    """Yield the names of the writers of JSON."""
    for name, write in WRITERS.items():
        with suppress(ValueError):
            json.loads(write(SAMPLE))
            yield name


WRONG = ("0001-01-01T00:00:00+14:00", "\ud83d", 10**400, ["a"], {"a": ["b"]}, "a" * 600, None, True, 1710267600000)


@pytest.mark.parametrize("name", list(jsons()))
def test_any_value_in_any_place_is_stored_or_refused_or_a_typed_error(name, tmp_path):
    value, path = json.loads(WRITERS[name](SAMPLE[:2])), tmp_path / "given"
    every = [(place, wrong) for place in places(value) for wrong in WRONG]
    with evimem.open(tmp_path / "m.evimem") as memory:
        for place, wrong in share(every, 8, name):
            path.write_text(json.dumps(with_value(value, place, wrong)))
            with suppress(ImportFailed):
                memory.extend(turns_of(path, format=name.split(" ", maxsplit=1)[0], refuse=lambda item: None))
        assert memory.check().problems == ()
