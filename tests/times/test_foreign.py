import subprocess
import sys
from datetime import datetime

import dateparser
import pytest

from evimem.times import find_times
from evimem.times.find_times import MAX_DATE_CHARACTERS, MAX_PARSES

SAID = datetime(2024, 3, 12)


@pytest.mark.parametrize("text", ["le 9 juin 2023", "am 9. Juni 2023", "el 9 de junio de 2023", "9 июня 2023"])
def test_dates_of_other_languages_are_days(text: str):
    (found,) = find_times(text, SAID)
    assert (found.start, found.granularity) == (datetime(2023, 6, 9), "day")


def test_a_word_between_numbers_that_is_no_month_gives_no_date():
    assert find_times("We sold 4 pairs 2023 times and 3 shirts 2021 times.", SAID) == []


def test_english_text_does_not_import_dateparser():
    code = """if True:
        import sys
        from datetime import datetime
        from evimem.times import find_times
        assert find_times("On 9 June 2023, the 5th of May, last Friday and 2021-04-03 at 4 pm.", datetime(2024, 3, 12))
        assert "dateparser" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_dateparser_is_called_a_bounded_number_of_times_per_text(monkeypatch: pytest.MonkeyPatch):
    calls = []
    monkeypatch.setattr(dateparser, "parse", lambda text, **options: calls.append((text, options["settings"])))
    find_times("12 foo 2023. " * 500, SAID)
    assert len(calls) == MAX_PARSES
    assert all(len(text) <= MAX_DATE_CHARACTERS and settings["RELATIVE_BASE"] == SAID for text, settings in calls)


def test_the_wall_clock_is_never_read(monkeypatch: pytest.MonkeyPatch):
    class OtherClock(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(1999, 1, 31, tzinfo=tz)

        today = utcnow = now

    text = "yesterday at 4 pm, last Friday, in May, since 2016, on the 15th, le 29 février 2024, at Easter, the 90s"
    expected = find_times(text, SAID)
    assert len(expected) == 8
    for name, module in list(sys.modules.items()):
        if name.startswith(("dateparser", "evimem.times")) and getattr(module, "datetime", None) is datetime:
            monkeypatch.setattr(module, "datetime", OtherClock)
    assert find_times(text, OtherClock(2024, 3, 12)) == expected
