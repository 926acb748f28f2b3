from datetime import datetime, timedelta

import pytest

from benchmarks.dates import score
from benchmarks.times import gold, shares
from evimem.types.values import TimeSpan

SAID = datetime(2021, 8, 20)


@pytest.mark.parametrize(
    ("answer", "start", "days"),
    [
        ("4 August 2021", datetime(2021, 8, 4), 1),
        ("August 4th, 2021", datetime(2021, 8, 4), 1),
        ("4August, 2021.", datetime(2021, 8, 4), 1),
        ("4 August", datetime(2021, 8, 4), 1),
        ("August, 2021", datetime(2021, 8, 1), 31),
        ("Since 2019", datetime(2019, 1, 1), 365),
        ("The week before 4 August 2021", datetime(2021, 7, 28), 7),
        ("The week of 4 August 2021", datetime(2021, 8, 2), 7),
        ("The Friday before 4 August 2021", datetime(2021, 7, 30), 1),
        ("two weekends before 4 August 2021", datetime(2021, 7, 24), 2),
        ("first weekend of August 2021", datetime(2021, 8, 7), 2),
        ("last week of July 2021", datetime(2021, 7, 25), 7),
        ("The summer of 2020", datetime(2020, 6, 1), 92),
    ],
)
def test_gold_answers_are_read_as_intervals(answer: str, start: datetime, days: int):
    assert gold(answer, SAID) == (start, start + timedelta(days))


def test_an_answer_that_names_no_time_has_no_interval():
    assert gold("A few years ago", SAID) is None


def test_a_day_within_the_gold_month_is_within_it_but_hardly_overlaps():
    day = TimeSpan(datetime(2021, 8, 4), datetime(2021, 8, 5), "day", "")
    within, shared = shares(day, (datetime(2021, 8, 1), datetime(2021, 9, 1)))
    assert within == 1
    assert shared < 0.05


def test_what_is_asserted_is_right_wrong_or_not_judged():
    text = "We flew on 3 May, and every Friday since we cook; an hour ago he rang on a Monday."
    row = {"id": "1", "language": "en", "said_at": "2024-06-12T18:00", "before": [], "text": text}
    row["expressions"] = [
        {"words": "3 May", "start": "2024-05-03", "end": "2024-05-04", "accept": []},
        {"words": "every Friday", "none": True, "why": "habit"},
        {"words": "that summer", "start": "2020-06-01", "end": "2020-09-01", "accept": []},
    ]
    report = score([row | {"text": f"{text} that summer. Paid on 4 May."}])
    total = report.scores["all"]
    assert (total.asserted, total.right, total.real, total.found) == (2, 1, 2, 1)
    assert "'4 May'" in report.wrong[0]
    assert "'that summer'" in report.missed[0]
