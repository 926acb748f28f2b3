"""Files of turns, of chat messages and of JSON lists: each is known by what it holds, and what is wrong is told."""

import io
import json
import tracemalloc
from datetime import datetime, timedelta, timezone
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.errors import ImportFailed
from evimem.loaders import json_stream, load
from evimem.loaders.conversation import ImportLog
from evimem.loaders.formats import FORMATS, detect_format, read_messages, read_turns

START = datetime(2024, 3, 12, 18, 20)
LINE = {"speaker": "Mira", "text": "We adopted a puppy.", "time": "2024-03-12T18:20"}
MESSAGES = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Hello!", "name": "Mira"},
    {"role": "assistant", "content": [{"type": "text", "text": "Hi."}, {"type": "image_url"}]},
]
BEGINNINGS = {
    '{"speaker": "Mira", "text": "Hi", "time": "2024-03-12"}\n': "turns",
    '[{"role": "user", "content": "Hi"}]': "messages",
    '{"messages": [{"role": "user", "content": "Hi"}]}': "messages",
    '{\n  "messages": [\n': "messages",
    '{"role": "user", "content": "Hi"}\n': "messages",
    '[{"title": "x", "mapping": {}}]': "chatgpt",
}


@pytest.fixture
def written(tmp_path):
    """Write a file: bytes as they are, a list as JSON, other values a line each."""

    def write(*values):
        path = tmp_path / "chat.json"
        lines = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
        path.write_bytes(b"\n".join(lines))
        return path

    return write


@pytest.mark.parametrize(("text", "name"), BEGINNINGS.items())
def test_a_format_is_seen_from_the_beginning_of_a_file_whose_path_may_be_a_string(written, text, name):
    path = written(text.encode())

    def read(given):
        try:
            return [list(one.turns) for one in load(given, start=START)]
        except ImportFailed as error:
            return str(error)

    assert detect_format(path) == detect_format(str(path)) == name
    assert read(str(path)) == read(path)


def test_a_format_that_does_not_exist_is_refused_with_those_that_do_and_an_export_of_ours_is_pointed_on(written):
    with pytest.raises(ImportFailed, match=f"no format 'xls'; expected one of {', '.join(FORMATS)}"):
        list(load("a", "xls"))
    with pytest.raises(ImportFailed, match="evimem import"):
        detect_format(written({"evimem": 1}))


def test_a_line_becomes_a_turn_with_all_its_fields(written):
    line = LINE | {"id": "s1:4", "session": "s1", "caption": "a puppy", "role": "user", "metadata": {"app": "chat"}}
    (turn,) = read_turns(written(line))
    assert (turn.id, turn.session, turn.speaker, turn.text) == ("s1:4", "s1", "Mira", "We adopted a puppy.")
    assert (turn.caption, turn.role, turn.metadata) == ("a puppy", "user", {"app": "chat"})
    assert turn.time == START


@pytest.mark.parametrize(
    ("time", "read"),
    [
        (86_400, datetime(1970, 1, 2, tzinfo=timezone.utc)),
        ("2024-03-12T18:20:00+02:00", START.replace(tzinfo=timezone(timedelta(hours=2)))),
    ],
)
def test_a_time_is_seconds_since_1970_or_keeps_its_zone(written, time, read):
    (turn,) = read_turns(written(LINE | {"time": time}))
    assert (turn.time, turn.time.utcoffset()) == (read, read.utcoffset())


def test_empty_lines_and_a_byte_order_mark_are_skipped_and_half_of_an_emoji_is_kept(written):
    cut = json.dumps(LINE | {"text": "cut \ud83d"}).encode()
    turns = list(read_turns(written(b"\xef\xbb\xbf" + json.dumps(LINE).encode(), b"", b"  ", cut)))
    assert [turn.text for turn in turns] == [LINE["text"], "cut \ud83d"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{oops", "not JSON"),
        (b'{"speaker": "\\ud83d", "text": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"speaker": "\\ud83d", "text": NaN}', "NaN is not JSON"),
        ([1], r"a line is \[1\]; expected an object with speaker, text and time"),
        ({"text": "hm", "time": "2024-03-12"}, "no speaker"),
        (LINE | {"text": 12}, "text is 12; expected a string"),
        (LINE | {"time": "last Friday"}, "time is 'last Friday'; expected ISO 8601"),
        (LINE | {"time": None}, "time is None; expected ISO 8601"),
        (LINE | {"time": 1e18}, "expected seconds since 1970, not milliseconds"),
        (LINE | {"capton": "a puppy"}, "unknown field 'capton'; known are id, session"),
        (LINE | {"metadata": [1]}, "metadata is .1.; expected an object"),
    ],
)
def test_a_bad_line_is_refused_with_its_number_and_what_was_expected_and_the_others_are_read(written, line, reason):
    path, refused = written(LINE, line, LINE), []
    with pytest.raises(ImportFailed, match=rf"chat\.json line 2: .*{reason}"):
        list(read_turns(path))
    assert len(list(read_turns(path, ImportLog(refused.append)))) == 2
    assert [item.where for item in refused] == ["chat.json line 2"]


def test_a_line_that_is_too_long_is_refused_without_reading_it_whole(written, monkeypatch):
    for module in ("json_lines", "formats"):
        monkeypatch.setattr(f"evimem.loaders.{module}.MAX_LINE", 200)
    refused = []
    assert len(list(read_turns(written(LINE, LINE | {"text": "x" * 1000}, LINE), ImportLog(refused.append)))) == 2
    assert [str(item)[:30] for item in refused] == ["chat.json line 2: longer than "]


@pytest.mark.parametrize("as_given", [[MESSAGES], [{"messages": MESSAGES}], MESSAGES])
def test_messages_in_a_list_an_object_or_lines_become_turns_a_minute_apart_from_the_start(written, as_given):
    turns = list(read_messages(written(*as_given), start=START))
    assert [(turn.speaker, turn.role, turn.text) for turn in turns] == [
        ("system", "system", "Be kind."),
        ("Mira", "user", "Hello!"),
        ("assistant", "assistant", "Hi.\n[picture]"),
    ]
    assert [turn.time.minute for turn in turns] == [20, 21, 22]
    assert [turn.id for turn in turns] == ["chat:1", "chat:2", "chat:3"]


SAID = [("user", "How do I prune roses?"), ("assistant", "In March, above a bud."), ("user", "And hedges?")]


def test_replies_that_stand_below_messages_are_read_in_order_with_their_roles(written):
    third = {"messageId": "3", "text": SAID[2][1], "sender": "User", "isCreatedByUser": True, "children": []}
    parts = [{"type": "text", "text": SAID[1][1]}]
    second = {"messageId": "2", "text": "", "content": parts, "sender": "Claude", "isCreatedByUser": False}
    first = {"messageId": "1", "text": SAID[0][1], "sender": "User", "isCreatedByUser": True, "children": [second]}
    second["children"] = [third]
    for message, minute in ((first, 20), (second, 21), (third, 22)):
        message["createdAt"] = f"2024-03-12T18:{minute}:00.000Z"
    path = written({"conversationId": "c", "recursive": True, "messages": [first]})
    turns = list(read_messages(path))
    assert [(turn.role, turn.text) for turn in turns] == SAID
    assert [(turn.id, turn.time.minute) for turn in turns] == [("1", 20), ("2", 21), ("3", 22)]


def test_the_chats_of_a_list_are_sessions_by_their_ids(written):
    messages = [{"role": role, "content": text, "timestamp": 1_710_267_600} for role, text in SAID]
    path = written([{"id": name, "title": "Roses", "chat": {"messages": messages}} for name in "ab"])
    assert detect_format(path) == "messages"
    turns = list(read_messages(path))
    assert [turn.session for turn in turns] == ["a"] * 3 + ["b"] * 3
    assert [(turn.role, turn.text) for turn in turns] == SAID * 2


def test_a_message_of_an_unknown_role_is_kept_as_the_result_of_a_tool(written):
    (turn,) = read_messages(written([{"role": "narrator", "content": "Night.", "timestamp": 1_710_267_600}]))
    assert (turn.role, turn.speaker, turn.text) == ("tool", "narrator", "Night.")


def test_messages_without_a_time_need_a_start(written):
    with pytest.raises(ImportFailed, match=r"have no time .*--start 2024-03-12T18:20"):
        list(read_messages(written(MESSAGES)))


@pytest.mark.parametrize("name", ["time", "created_at", "timestamp", "create_time"])
def test_a_message_keeps_its_own_time_and_the_next_follows_it(written, name):
    timed = {"role": "user", "content": "a", name: 60}
    turns = list(read_messages(written([timed, {"role": "user", "content": "b"}])))
    assert [turn.time for turn in turns] == [datetime(1970, 1, 1, 0, minute, tzinfo=timezone.utc) for minute in (1, 2)]


def test_a_message_without_any_text_is_skipped(written):
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": "12 degrees", "tool_call_id": "1"},
        {"role": "developer", "content": "Be brief."},
    ]
    assert [(turn.role, turn.text, turn.id) for turn in read_messages(written(messages), start=START)] == [
        ("tool", "12 degrees", "chat:2"),
        ("system", "Be brief.", "chat:3"),
    ]


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


TEXT = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(VALUES, max_size=6), st.integers(1, 7), st.booleans())
def test_the_elements_are_those_of_the_list_whatever_the_chunks(values, chunk, spaced):
    original, json_stream._CHUNK_CHARACTERS = json_stream._CHUNK_CHARACTERS, chunk
    data = json.dumps(values, indent=2 if spaced else None, ensure_ascii=not spaced).encode()
    try:
        assert list(json_stream.read_list_elements(io.BytesIO(data), "a list")) == values
    finally:
        json_stream._CHUNK_CHARACTERS = original


@pytest.mark.parametrize(
    ("data", "says"),
    [
        *((data, "truncated|not JSON") for data in (b'[{"a": 1}, {"b": 2', b'[{"a": 1}', b'["never', b'["escaped \\')),
        (b'["' + b"x" * 1000 + b'"]', "has an element of over 0 MiB"),
    ],
)
def test_a_list_cut_short_or_an_endless_element_is_an_error_and_not_a_shorter_list(data, says, monkeypatch):
    monkeypatch.setattr(json_stream, "_CHUNK_CHARACTERS", 64)
    monkeypatch.setattr(json_stream, "MAX_ELEMENT", 256)
    with pytest.raises(ImportFailed, match=says):
        list(json_stream.read_list_elements(io.BytesIO(data), "export.json"))


def test_a_list_is_read_in_the_memory_of_its_largest_value(written, monkeypatch):
    monkeypatch.setattr(json_stream, "_CHUNK_CHARACTERS", 1 << 14)
    path = written([{"role": "user", "content": "x" * 100, "time": 60}] * 20_000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in islice(read_messages(path), 2_000)) == 2_000
        assert tracemalloc.get_traced_memory()[1] < 1 << 20  # of a file of over 2 MiB
    finally:
        tracemalloc.stop()


def test_a_message_that_is_nested_too_deeply_is_refused_alone(written):
    deep = "[" * 300 + "]" * 300
    path, refused = (
        written(f'[{{"role": "user", "content": {deep}}}, {{"role": "user", "content": "Hi"}}]'.encode()),
        [],
    )
    turns = list(read_messages(path, ImportLog(refused.append), start=START))
    assert [turn.text for turn in turns] == ["Hi"]
    assert [(item.where, "nested too deeply" in item.why) for item in refused] == [("chat.json message 1", True)]


def test_conversations_of_messages_a_line_are_sessions(written):
    lines = [{"id": "a", "messages": MESSAGES[1:2]}, {"messages": MESSAGES[1:]}]
    turns = list(read_messages(written(*lines), start=START))
    assert [turn.session for turn in turns] == ["a", "chat:2", "chat:2"]
