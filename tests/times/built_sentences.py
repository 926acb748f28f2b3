"""Sentences built from the project's own tables of times: every form, with every word and the numbers at the edges.

`python -m tests.times.built_sentences 100000` reads so many of each language, and prints how many raised what.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from random import Random

from evimem.lang.guess import LANGUAGES, OTHER
from evimem.times import Conventions
from evimem.times.find_times import locate_dates, locate_times, may_mention_dates
from evimem.times.forms import SYNTAX, DateGrammar, load_grammar
from evimem.times.lexicon import EN, DateWords, fold
from evimem.times.render import onset

# Days and years at the edges of the calendar, of months and of what is read as a year.
FIGURES = (
    "0 00 1 2 9 12 13 24 25 28 29 30 31 32 99 100 999 1499 1500 1900 1999 2000 2023 2024 2100 2199 2200 9999".split()
)
IDEOGRAPHS = "〇 一 二 两 九 十 十一 十二 二十九 三十 三十一 三十二 九十九 十十 二〇二三 二〇二四 九九九九".split()  # noqa: RUF001
MOMENTS = (
    datetime(2024, 3, 12, 9, 30),
    datetime(2024, 2, 29, 23, 59),
    datetime(2023, 12, 31, 0, 1),
    datetime(2025, 1, 31),
    datetime(1900, 2, 28),
    datetime(1, 1, 1),
    datetime(9999, 12, 31, 23, 59),
)
TABLES = (EN.months, EN.numbers, EN.ordinals, EN.rough, EN.seasons, EN.units, EN.weekdays, EN.holidays)
ENGLISH = sorted({word for table in TABLES for word in table.words})
GLUE = """
    last next this the a in on at since for from to until between and of before after ago back later early mid late end
    yesterday today tomorrow tonight morning night noon midnight weekend 4 pm 16:30 '09 15th 29th 31st 31st of
    2023-02-29 29/2/2023 6/9 9999-12-31 will was been have now half first second week's year's the 90s q4
    other every while
""".split()


def sentences(language: str, random: Random) -> Iterator[str]:
    """Yield sentences of a language without end: pieces of time, and what the tables say may stand between them."""
    if language == "en":
        while True:
            words = random.choices(ENGLISH, k=3) + random.choices(GLUE, k=4) + random.choices(FIGURES, k=1)
            random.shuffle(words)
            yield " ".join(words)
    spoken = _Spoken(load_grammar(language), random)
    while True:
        yield spoken.sentence()


class _Spoken:
    """What can be said in a language, by its forms."""

    def __init__(self, of: DateGrammar, random: Random) -> None:
        words, language = of.words, of.words.language
        self._random, self._blank = random, " " if words.has_spaces else ""
        self._forms = [form for forms in language.lists("dates.forms").values() for form in forms]
        numbers = FIGURES + sorted(language.table("dates.numbers")) + ([] if words.has_spaces else IDEOGRAPHS)
        phrases = [phrase for some in language.table("dates.phrases").values() for phrase in some]
        amounts = [amount for some in language.table("dates.amounts").values() for amount in some]
        weekdays, months = sorted(words.names_by_place("weekdays", 0)), sorted(words.names_by_place("months", 1))
        shorts = list(language.words("dates.short_weekdays")) or weekdays
        self._words: dict[str, list[str]] = {
            **dict.fromkeys(("weekday", "full_weekday"), weekdays),
            **dict.fromkeys(("number", "hour", "year", "minute", "last", "last_hour", "last_minute"), numbers),
            "day": numbers + len(numbers) // 2 * ["29", "31"],  # those that months and years lack
            **dict.fromkeys(("relative", "last_or_next", "this"), _all(language.lists("dates.relative"))),
            **dict.fromkeys(("phrase", "week_phrase"), phrases or weekdays),
            "short_weekday": shorts,
            "month": months or numbers,
            "season": sorted(language.table("dates.seasons")),
            "part": _all(language.lists("dates.parts")),
            "third": sorted(language.table("dates.thirds")),
            "unit": _all(language.lists("dates.units")),
            "named_day": sorted(language.table("dates.days")),
            "day_part": sorted(language.table("dates.day_parts")) or weekdays,
            "ordinal": sorted(language.table("dates.ordinals")),
            "holiday": _all(language.lists("dates.holidays")),
            "side": sorted(language.table("dates.sides")) or weekdays,
            "half_of": list(language.words("dates.half_of")) or weekdays,
            "short_year": numbers,
            "decade": [*DateWords(language).table("decades"), "20", "90", "1800", "1990", "2090"],
            "named_hour": sorted(DateWords(language).table("named_hours")) or numbers,
            "half": list(language.words("dates.half")) or numbers,
            "figures": [
                f"{d}{sign}{m}{sign}{y}"
                for d in (1, 12, 29, 31)
                for m in (2, 4, 13)
                for y in (24, 2023)
                for sign in "/.-"
            ],
        }
        few = [*numbers, *language.words("dates.a_few")]
        units = self._words["unit"]
        self._words["amount"] = amounts + [f"{n}{self._blank}{unit}" for n in few for unit in units]
        self._between = [*language.words("dates.between"), *language.words("dates.range")]
        self._before = ["", *language.words("dates.since"), *language.words("dates.habit")]

    def sentence(self) -> str:
        pick = self._random.choice
        said = pick(self._before) + self._blank + self._said(pick(self._forms))
        for _ in range(self._random.randrange(3)):
            said += self._blank + pick(self._between) + self._blank + self._said(pick(self._forms))
        return said.replace("=", "")

    def _said(self, form: str) -> str:
        """Return one of the texts that a form matches: a branch of each alternative, with words in its slots."""
        outer: list[list[list[str]]] = []
        branches: list[list[str]] = [[]]
        for found in SYNTAX.finditer(form):
            slot, words, syntax, text = found.groups()
            if words is not None and slot is None:
                branches[-1].append(words)
            elif slot is not None:
                branches[-1].append(self._random.choice(self._words[slot]))
            elif text is not None:
                branches[-1].append(text)
            elif syntax == "|":
                branches.append([])
            elif syntax == ")":
                inner, branches = "".join(self._random.choice(branches)), outer.pop()
                branches[-1].append(inner)
            elif syntax.startswith("("):
                outer.append(branches)
                branches = [[]]
            elif syntax == "?" and self._random.random() < 0.5:
                branches[-1][-1:] = []
            elif syntax[0] in "\\[":
                branches[-1].append(syntax[1])
        return "".join(self._random.choice(branches))


def _all(lists: dict[str, tuple[str, ...]]) -> list[str]:
    return [word for some in lists.values() for word in some]


def read(language: str, said: str, at: datetime) -> None:
    """Read a sentence as the language it is of, and as the one it is guessed to be."""
    if language != "en":
        for order in (None, "dmy", "mdy"):
            for code in (language, OTHER):
                list(locate_dates(code, said, fold(said), at.replace(tzinfo=None), Conventions(date_order=order)))
        may_mention_dates(language, fold(said))
    for located in locate_times(said, at):
        onset(located.time)


def raised(
    language: str, count: int, seed: int = 0, reading: Callable[[str, str, datetime], None] = read
) -> Counter[str]:
    """Return how many of so many sentences raised what, by type and one of them."""
    random = Random(f"{language} {seed}")
    told: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for _, said in zip(range(count), sentences(language, random), strict=False):
        at = random.choice(MOMENTS)
        at = at.replace(tzinfo=timezone.utc) if random.random() < 0.2 else at
        try:
            reading(language, said, at)
        except Exception as error:  # noqa: BLE001 - this is what is counted
            name = type(error).__name__
            told[f"{name}: {shown.setdefault(name, f'{said!r} at {at}')}"] += 1
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("languages", nargs="*", default=LANGUAGES)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for language in options.languages:
        found = raised(language, options.count, options.seed)
        lines = (f"{language}: {found.total()} of {options.count} sentences raised", *map(str, found.items()))
        sys.stdout.write("\n  ".join(lines) + "\n")


if __name__ == "__main__":
    main()
