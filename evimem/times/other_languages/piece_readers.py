"""What reads the matches of each form."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import dated_pieces as dated
from . import relative_pieces as relative
from .date_pieces import Match, Said, TimePiece

Read = Callable[[Match, Said], "TimePiece | None"]
READERS: Mapping[str, Read] = {
    "day": relative.named_day,
    "phrase": relative.phrase,
    "relative": relative.relative,
    "ago": lambda match, said: relative.counted(match, said, -1),
    "perhaps_ago": relative.perhaps_ago,
    "ahead": relative.ahead,
    "perhaps_ahead": relative.perhaps_ahead,
    "weekday": relative.bare_weekday,
    "part": dated.part,
    "date": dated.date,
    "numeric": dated.numeric,
    "month": dated.month_of_year,
    "season": dated.month_of_year,
    "bare_month": dated.bare_month,
    "bare_season": lambda match, said: TimePiece(*match.span(), yearly=dated.month_or_season(match, said)),
    "third": dated.third,
    "year": dated.whole_year,
    "sure_number": dated.sure_numbered_day,
    "number": dated.numbered_day,
    "bare_weekend": relative.bare_weekend,
    "clock": dated.clock,
    "none": lambda match, _: TimePiece(*match.span()),
}


NO_TIMES_ALONE = frozenset(("part", "clock", "number", "bare_season", "none"))
