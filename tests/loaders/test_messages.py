import json
from datetime import datetime, timezone

import pytest

from evimem.errors import ImportFailed
from evimem.loaders.formats import read_messages

START = datetime(2024, 3, 12, 18, 20)
MESSAGES = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Hello!", "name": "Mira"},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "Hi."}, {"type": "image_url"}],
    },
]


@pytest.fixture
def written(tmp_path):
    def write(value):
        path = tmp_path / "chat.json"
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        return path

    return write


def test_messages_become_turns_a_minute_apart_from_the_start(written):
    turns = list(read_messages(written(MESSAGES), start=START))
    assert [(turn.speaker, turn.role, turn.text) for turn in turns] == [
        ("system", "system", "Be kind."),
        ("Mira", "user", "Hello!"),
        ("assistant", "assistant", "Hi.\n[picture]"),
    ]
    assert [turn.time.minute for turn in turns] == [20, 21, 22]
    assert [turn.id for turn in turns] == ["chat:1", "chat:2", "chat:3"]


def test_messages_without_a_time_need_a_start(written):
    with pytest.raises(ImportFailed, match=r"have no time .*--start 2024-03-12T18:20"):
        list(read_messages(written(MESSAGES)))


@pytest.mark.parametrize("name", ["time", "created_at", "timestamp", "create_time"])
def test_a_message_keeps_its_own_time_and_the_next_follows_it(written, name):
    first, second = read_messages(
        written([{"role": "user", "content": "a", name: 60}, {"role": "user", "content": "b"}])
    )
    assert first.time == datetime(1970, 1, 1, 0, 1, tzinfo=timezone.utc)
    assert second.time == datetime(1970, 1, 1, 0, 2, tzinfo=timezone.utc)


def test_a_message_without_any_text_is_skipped(written):
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": "12 degrees", "tool_call_id": "1"},
        {"role": "developer", "content": "Be brief."},
    ]
    turns = list(read_messages(written(messages), start=START))
    assert [(turn.role, turn.text, turn.id) for turn in turns] == [
        ("tool", "12 degrees", "chat:2"),
        ("system", "Be brief.", "chat:3"),
    ]


@pytest.mark.parametrize(
    "data", [{"messages": MESSAGES}, b"\n".join(json.dumps(message).encode() for message in MESSAGES)]
)
def test_messages_may_stand_in_an_object_or_on_lines(written, data):
    assert len(list(read_messages(written(data), start=START))) == 3


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"content": "Hi"}, "expected an object with role and content"),
        ("Hi", "expected an object with role and content"),
        ({"role": "user", "content": "Hi", "time": 7e30}, "expected seconds since 1970"),
        ({"role": "user", "content": "Hi", "time": "noon"}, "time is 'noon'; expected ISO 8601"),
    ],
)
def test_a_bad_message_is_refused_with_its_number(written, message, reason):
    with pytest.raises(ImportFailed, match=rf"chat\.json message 2: .*{reason}"):
        list(read_messages(written([MESSAGES[1], message]), start=START))
