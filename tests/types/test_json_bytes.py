"""What a caller gave as JSON: times as ISO 8601, whoever made their zone."""

from datetime import date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.types.public_value import json_bytes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.text(), part),
)


class RaisingZone(tzinfo):
    def utcoffset(self, _: datetime | None) -> timedelta | None:
        raise RuntimeError


@given(JSON, st.booleans())
def test_json_is_what_orjson_makes_of_it(value, sort_keys):
    assert json_bytes(value, sort_keys=sort_keys) == orjson.dumps(value, option=orjson.OPT_SORT_KEYS * sort_keys)


@pytest.mark.parametrize(
    "value",
    [
        datetime(2024, 3, 12, 18, 20), datetime(1, 1, 1, 0, 0, 0, 7), datetime(2024, 3, 12, tzinfo=timezone.utc),
        datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("Europe/Madrid")), date(2024, 3, 12), time(18, 20),
    ],
)  # fmt: skip
def test_a_time_is_the_text_that_orjson_writes(value):
    assert json_bytes([value]) == orjson.dumps([value])


@pytest.mark.parametrize(
    "value", [datetime(2024, 3, 12, tzinfo=RaisingZone()), {7: 1}, object(), b"a", 2**70, "\ud800", [time.min, set()]]
)
def test_what_is_no_json_is_a_type_error(value):
    with pytest.raises(TypeError):
        json_bytes({"a": value})
