from datetime import datetime

from evimem.times import find_times


def test_two_weekends_ago_is_a_weekend():
    (found,) = find_times("We met two weekends ago.", said_at=datetime(2024, 3, 12))
    assert (found.start, found.end) == (datetime(2024, 3, 2), datetime(2024, 3, 4))
    assert (found.granularity, found.text) == ("weekend", "two weekends ago")
