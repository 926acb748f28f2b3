import json
from datetime import datetime, timedelta, timezone

import pytest

from evimem.errors import ImportFailed
from evimem.loaders.formats import read_turns

LINE = {"speaker": "Mira", "text": "We adopted a puppy.", "time": "2024-03-12T18:20"}


@pytest.fixture
def written(tmp_path):
    def write(*lines):
        path = tmp_path / "turns.jsonl"
        path.write_bytes(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines))
        return path

    return write


def test_a_line_becomes_a_turn_with_all_its_fields(written):
    line = LINE | {"id": "s1:4", "session": "s1", "caption": "a puppy", "role": "user", "metadata": {"app": "chat"}}
    (turn,) = read_turns(written(line))
    assert (turn.id, turn.session, turn.speaker, turn.text) == ("s1:4", "s1", "Mira", "We adopted a puppy.")
    assert (turn.caption, turn.role, turn.metadata) == ("a puppy", "user", {"app": "chat"})
    assert turn.time == datetime(2024, 3, 12, 18, 20)


def test_empty_lines_and_a_byte_order_mark_are_skipped(written):
    assert len(list(read_turns(written(b"\xef\xbb\xbf" + json.dumps(LINE).encode(), b"", b"  ", LINE)))) == 2


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
def test_a_bad_line_is_refused_with_its_number_and_what_was_expected(written, line, reason):
    with pytest.raises(ImportFailed, match=rf"turns\.jsonl line 2: .*{reason}"):
        list(read_turns(written(LINE, line)))


def test_collected_refusals_do_not_stop_the_turns_after_them(written):
    refused = []
    turns = list(read_turns(written(b"{oops", LINE, b"null", LINE), refused.append))
    assert len(turns) == 2
    assert [refusal.where for refusal in refused] == ["turns.jsonl line 1", "turns.jsonl line 3"]


def test_a_line_that_is_too_long_is_refused_without_reading_it_whole(written, monkeypatch):
    monkeypatch.setattr("evimem.loaders.formats.MAX_LINE", 200)
    refused = []
    turns = list(read_turns(written(LINE, LINE | {"text": "x" * 1000}, LINE), refused.append))
    assert len(turns) == 2
    assert [str(refusal)[:32] for refusal in refused] == ["turns.jsonl line 2: longer than "]


def test_a_time_may_be_seconds_since_1970(written):
    (turn,) = read_turns(written(LINE | {"time": 86_400}))
    assert turn.time == datetime(1970, 1, 2, tzinfo=timezone.utc)


def test_an_aware_time_keeps_its_zone(written):
    (turn,) = read_turns(written(LINE | {"time": "2024-03-12T18:20:00+02:00"}))
    assert turn.time.utcoffset() == timedelta(hours=2)


def test_an_escaped_lone_surrogate_is_kept(written):
    (turn,) = read_turns(written(b'{"speaker": "Mira", "text": "cut \\ud83d", "time": "2024-03-12T18:20"}'))
    assert turn.text == "cut \ud83d"
