"""The words in which a language speaks of times, from `lang/<code>/common.toml` and `dates.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ...lang import Language
from .word_patterns import SpelledTable

RELATIVES = {"last_but_one": -2, "last": -1, "this": 0, "next": 1, "next_but_one": 2}


@dataclass(frozen=True)
class DateWords:
    """What the words of a language stand for, in any spelling."""

    language: Language

    @cached_property
    def spaced(self) -> bool:
        """Whether the language puts spaces between its words."""
        return "spaces" in self.language.words("dates.writing")

    @cached_property
    def since_follows(self) -> bool:
        """Whether the word for "since" follows its time."""
        return "since_follows" in self.language.words("dates.writing")

    @cached_property
    def weekday_by_week(self) -> bool:
        """Whether "last" and "next" before a weekday are those of the week before and after."""
        return "weekday_by_week" in self.language.words("dates.writing")

    @cached_property
    def weekday_needs_tense(self) -> bool:
        """Whether a bare weekday is left unread where no word shows the tense: its verbs show it by too many forms."""
        return "weekday_needs_tense" in self.language.words("dates.writing")

    @cached_property
    def days(self) -> SpelledTable[tuple[int, ...]]:
        """Days by their distance from today; two distances where the tense decides."""
        return SpelledTable(
            {word: tuple(n) if isinstance(n, list) else (n,) for word, n in self.language.table("dates.days").items()}
        )

    @cached_property
    def weekdays(self) -> SpelledTable[int]:
        shorts = {name: number for number, name in enumerate(self.language.words("dates.short_weekdays"))}
        return SpelledTable(self.named("weekdays", 0) | shorts)

    @cached_property
    def months(self) -> SpelledTable[int]:
        return SpelledTable(self.named("months", 1))

    @cached_property
    def seasons(self) -> SpelledTable[int]:
        """Seasons by their first month."""
        return SpelledTable(self.language.table("dates.seasons"))

    @cached_property
    def numbers(self) -> SpelledTable[int]:
        return SpelledTable(self.language.table("dates.numbers"))

    @cached_property
    def a_few(self) -> SpelledTable[str]:
        return self._spelled({"few": self.language.words("dates.a_few")})

    @cached_property
    def relatives(self) -> SpelledTable[int]:
        """Words for last (-1), this (0), next (1), and the ones before and after those."""
        lists = self.language.lists("dates.relative")
        return SpelledTable({word: RELATIVES[name] for name, words in lists.items() for word in words})

    @cached_property
    def parts(self) -> SpelledTable[str]:
        """Parts of the day by their words."""
        return self._spelled(self.language.lists("dates.parts"))

    @cached_property
    def day_parts(self) -> SpelledTable[tuple[int, str]]:
        """Phrases for a part of a certain day: its distance from today, and the part."""
        return SpelledTable(
            {phrase: (day, part) for phrase, (day, part) in self.language.table("dates.day_parts").items()}
        )

    @cached_property
    def units(self) -> SpelledTable[str]:
        """Units of the calendar by their words."""
        return self._spelled(self.language.lists("dates.units"))

    @cached_property
    def phrases(self) -> SpelledTable[tuple[str, int]]:
        """Phrases for a unit of the calendar, and its distance from the present one."""
        return self._counted("dates.phrases")

    @cached_property
    def amounts(self) -> SpelledTable[tuple[str, int]]:
        """Words for a number of units: an Arabic dual, half a year."""
        return self._counted("dates.amounts")

    @cached_property
    def thirds(self) -> SpelledTable[int]:
        """Words for the beginning (0), middle (1) and end (2) of a longer time."""
        return SpelledTable(self.language.table("dates.thirds"))

    def named(self, key: str, first: int) -> dict[str, int]:
        """Return the names of a list of common.toml, and their other spellings, by their place in it."""
        names = {name: place for place, name in enumerate(self.language.words(f"common.{key}"), start=first)}
        also = self.language.lists("common.also")
        return names | {other: place for name, place in names.items() for other in also.get(name, ())}

    def _counted(self, key: str) -> SpelledTable[tuple[str, int]]:
        table = self.language.table(key)
        return SpelledTable({phrase: (unit, n) for unit, phrases in table.items() for phrase, n in phrases.items()})

    @staticmethod
    def _spelled(lists: Mapping[str, tuple[str, ...]]) -> SpelledTable[str]:
        return SpelledTable({word: name for name, words in lists.items() for word in words})
