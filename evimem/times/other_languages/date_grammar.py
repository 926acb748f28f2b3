"""The words and forms in which a language speaks of times, from `lang/<code>`, compiled for one reader."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Generic, TypeVar

from ...lang import Language
from ..date_order import FIGURES

T = TypeVar("T")

_BLANKS = "(?:[ \u00a0\u3000\n]{1,3})"
_ARABIC_POINTS = "[\u064b-\u0652]"
_NUKTA = "\u093c"
_SPELLINGS = {
    **dict.fromkeys("\u0627\u0623\u0625\u0622", "[\u0627\u0623\u0625\u0622]"),  # alef with and without hamza
    **dict.fromkeys("\u064a\u0649", "[\u064a\u0649]"),
    **dict.fromkeys("\u0629\u0647", "[\u0629\u0647]"),
    **dict.fromkeys("\u0901\u0902", "[\u0901\u0902]"),
    "\u00e4": "(?:\u00e4|ae|a)",
    "\u00f6": "(?:\u00f6|oe|o)",
    "\u00fc": "(?:\u00fc|ue|u)",
    " ": _BLANKS,
    "-": "[- ]?",
}
_SPELLINGS |= {  # letters that are one character with their nukta, or two
    unicodedata.normalize("NFD", letter)[0]: f"(?:{unicodedata.normalize('NFD', letter)[0]}{_NUKTA}?|{letter})"
    for letter in map(chr, range(0x958, 0x960))
}
_DROPPED = re.compile(f"[\u0300-\u036f{_NUKTA}\u0653-\u0655 \u00a0\u3000\n-]|{_ARABIC_POINTS}")
_WRITTEN_OUT = str.maketrans({"\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue"})
_SAME = str.maketrans({"\u0901": "\u0902", "\u0649": "\u064a", "\u0629": "\u0647"})


def spellings(word: str) -> str:
    """Return the source of a pattern that matches a lower-case word in its usual spellings.

    A word after an equals sign has only the one as it is given: "=pass\u00e9" is not "passe".
    """
    if word.startswith("="):
        return re.escape(word[1:])
    return "".join(_spelled(letter) for letter in unicodedata.normalize("NFC", word))


def _spelled(letter: str) -> str:
    if letter == _NUKTA:
        return ""
    base = unicodedata.normalize("NFD", letter)[0]
    if letter in _SPELLINGS:
        return _SPELLINGS[letter]
    if base in _SPELLINGS and "\u0958" <= letter <= "\u095f":
        return _SPELLINGS[base]
    return f"[{letter}{base}]" if base != letter and base.isascii() else re.escape(letter)


def any_of(words: Iterable[str]) -> str:
    """Return the source of a group that matches any of the words, the longest first; none where there are none."""
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return f"(?:{'|'.join(map(spellings, longest_first))})" if longest_first else "(?!)"


def spelling_key(word: str) -> str:
    """Return what all spellings of a word have in common: no accents, points, blanks and hyphens."""
    return _DROPPED.sub("", unicodedata.normalize("NFKD", word.lower())).translate(_SAME)


class SpelledTable(Generic[T]):
    """What words stand for, found by any of their spellings. `source` is a pattern of all of them."""

    def __init__(self, table: Mapping[str, T]) -> None:
        self.source: str = any_of(table)
        spelled = {word.removeprefix("="): value for word, value in table.items()}
        self._values = {spelling_key(word): value for word, value in spelled.items()}
        self._values |= {spelling_key(word.translate(_WRITTEN_OUT)): value for word, value in spelled.items()}

    def of(self, word: str) -> T:
        """Return what a word stands for, as it is spelled in a text; raise ValueError for another word."""
        try:
            return self._values[spelling_key(word)]
        except KeyError:
            raise ValueError(f"{word!r} is none of these words") from None


_DIGITS = {sign: value for value, signs in enumerate(("〇零", *"一二三四五六七八九")) for sign in signs}
_DIGITS |= {"两": 2, "兩": 2}
_TEN = "十"
IDEOGRAPHS = f"[{''.join(_DIGITS)}{_TEN}]"


def number(text: str, words: SpelledTable[int]) -> int:
    """Return the number that figures, a word or ideographs stand for; raise ValueError where they are no number."""
    if text.isdecimal():
        return int(text)
    if _TEN in text:
        tens, _, ones = text.partition(_TEN)
        return 10 * (_digits(tens) if tens else 1) + (_digits(ones) if ones else 0)
    if all(sign in _DIGITS for sign in text):
        return _digits(text)
    return words.of(text)


def _digits(signs: str) -> int:
    """Return the number that ideographs spell digit by digit: 二〇一八 is 2018."""
    if not signs or any(sign not in _DIGITS for sign in signs):
        raise ValueError(f"{signs!r} is no number")
    return int("".join(str(_DIGITS[sign]) for sign in signs))


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

    @cached_property
    def ordinals(self) -> SpelledTable[int]:
        """Which of several a word names; -1 is the last."""
        return SpelledTable(self.language.table("dates.ordinals"))

    @cached_property
    def holidays(self) -> SpelledTable[str]:
        """Holidays by the rule of their day; see `rules.holidays`."""
        return self._spelled(self.language.lists("dates.holidays"))

    @cached_property
    def sides(self) -> SpelledTable[int]:
        """Words for before (-1) and after (1) another day."""
        return SpelledTable(self.language.table("dates.sides"))

    @cached_property
    def half(self) -> str:
        return any_of(self.language.words("dates.half"))

    def relative_words(self, *names: str) -> list[str]:
        return [word for name in names for word in self.language.lists("dates.relative").get(name, ())]

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


SYNTAX = re.compile(r"\{(\w+)\}|(\\.|\[[^\]]*\]|\(\?[=!]|[()|?<>])|([^\\{}()|?<>\[]+)")
# Slots that have words of another one, of which they are some.
AS = {
    "short_weekday": "weekday",
    "full_weekday": "weekday",
    "last_or_next": "relative",
    "this": "relative",
    "week_phrase": "phrase",
}
_MONTH, _OCCURRENCE = frozenset(("month", "number")), frozenset(("month", "number", "season"))
# For each reader sets of slots: every match must fill one slot of each set.
_NEEDS: Mapping[str, tuple[Iterable[str], ...]] = {
    "day": (("named_day", "day_part"),),
    "phrase": (("phrase",),),
    "relative": (("relative",), {"unit", "weekday", "part", *_OCCURRENCE}),
    **dict.fromkeys(("ago", "perhaps_ago", "ahead", "perhaps_ahead"), (("amount",),)),
    "weekday": (("weekday",),),
    "part": (("part",),),
    "date": (("day",), _MONTH),
    "numeric": (("figures", "day"), {"figures", *_MONTH}),
    **dict.fromkeys(("month", "season"), (("year", "short_year"), _OCCURRENCE)),
    **dict.fromkeys(("bare_month", "bare_season"), (_OCCURRENCE,)),
    "holiday": (("holiday",),),
    "nth": (("ordinal",), {"unit", "weekday", "half_of"}, _MONTH),
    "offset": (("amount", "unit"), ("side",)),
    "third": (("third",), {"unit", *_OCCURRENCE}),
    "year": (("year",),),
    **dict.fromkeys(("sure_number", "number"), (("day",),)),
    "clock": (("hour",),),
    **dict.fromkeys(("bare_weekend", "none"), ()),
}
_Told = frozenset[frozenset[str]]
_NOTHING: _Told = frozenset((frozenset(),))


def check_slots(reader: str, form: str) -> None:
    """Raise ValueError for a form of which a match may leave its reader without a slot that it needs."""
    if reader not in _NEEDS:
        raise ValueError(f"no reader is called {reader!r}; expected one of {', '.join(_NEEDS)}")
    for told in told_by(form):
        for wanted in _NEEDS[reader]:
            if told.isdisjoint(wanted):
                expected = " or ".join(f"{{{slot}}}" for slot in sorted(wanted))
                raise ValueError(f"the form {form!r} can match without {expected}, which {reader!r} reads")


def told_by(form: str) -> _Told:
    """Return the sets of slots that a match of a form may fill: one set for each way through its branches."""
    outer: list[tuple[_Told, _Told, bool]] = []
    none: _Told = frozenset()
    finished, here, before, aside = none, _NOTHING, _NOTHING, False
    for found in SYNTAX.finditer(form):
        slot, syntax, _ = found.groups()
        inner = _NOTHING if slot is None else frozenset((frozenset((AS.get(slot, slot),)),))
        if syntax == "?":
            here |= before
            continue
        if syntax == "|":
            finished, here = finished | here, _NOTHING
            continue
        if syntax is not None and syntax.startswith("("):
            outer.append((finished, here, aside))
            finished, here, aside = none, _NOTHING, syntax != "("
            continue
        if syntax == ")":
            inner = _NOTHING if aside else finished | here
            finished, here, aside = outer.pop()
        before, here = here, frozenset(one | other for one in here for other in inner)
    return finished | here


_NAME = re.compile(r"\?P<\w+>")
_BRACKETS = {"(": "(?:", "<": "(?P<x>", ">": ")"}
_LETTER = "\\w\u0900-\u0963\u064b-\u0652"  # with the signs of Devanagari and the points of Arabic
_ARABIC_PREFIX = "[\u0648\u0641\u0628\u0644]"  # "and", "so", "in", "for" are written together with the next word
_MARKS = ".,!?;:()\u2026\u3001\u3002\uff0c\uff01\uff1f\u0964\u060c\u061f"
_CLAUSE_END = f"[{_MARKS}\n](?!\\d)"
_SENTENCE_END = "[.!?;\n\u3002\uff01\uff1f\u0964\u061f]"


@dataclass(frozen=True)
class Verbs:
    """The words of a sentence that show how it looks at its times."""

    words: DateWords

    @cached_property
    def tense(self) -> re.Pattern[str]:
        """Words that look back or ahead; a star in a list stands for the rest of a word, and whole words go first."""
        of = self.words.language.words
        back, ahead, now = of("dates.looking_back"), of("dates.looking_ahead"), of("dates.looking_at_now")
        start, end = (f"(?<![{_LETTER}])", f"(?![{_LETTER}])") if self.words.spaced else ("", "")
        # A word of time is no verb, whatever it ends like: "día" is no past.
        no_verb = rf"(?!(?:{self.words.units.source}|{self.words.parts.source}|{self.words.seasons.source}){end})"
        whole = f"(?P<back>{any_of(_whole(back))})|(?P<ahead>{any_of(_whole(ahead))})|(?P<now>{any_of(now)})"
        stems = f"(?P<will>{_stems(ahead, 1)})|(?P<was>{_stems(back, 2)})"
        return re.compile(f"{start}(?:{whole}|{no_verb}(?:{stems})){end}")

    @cached_property
    def before_noun(self) -> re.Pattern[str]:
        """What stands right before a noun, which may end as a verb does: "chez le kiné", "il mercato"."""
        return self._right_before("dates.before_nouns")

    @cached_property
    def now(self) -> frozenset[str]:
        """Verbs of the present."""
        return frozenset(self.words.language.words("dates.looking_at_now"))

    def _right_before(self, key: str) -> re.Pattern[str]:
        words = self.words.language.words(key)
        start = f"(?<![{_LETTER}])" if self.words.spaced else ""
        return re.compile(rf"{start}{any_of(words)}\s?$" if words else "(?!)")


@dataclass(frozen=True)
class Surroundings(Verbs):
    """The patterns of what stands beside an expression of time: what belongs to it, denies it, or tells its tense."""

    @cached_property
    def between(self) -> frozenset[str]:
        """What may stand between two parts of one expression."""
        return frozenset(self.words.language.words("dates.between"))

    @cached_property
    def range(self) -> frozenset[str]:
        """What may stand between the first and the last day of a range."""
        return frozenset(self.words.language.words("dates.range"))

    @cached_property
    def since(self) -> re.Pattern[str]:
        """The word for "since" right before a time, or right after it."""
        since = any_of(self.words.language.words("dates.since"))
        return re.compile(rf"\s?{since}" if self.words.since_follows else rf"(?<![{_LETTER}]){since}\s?$")

    @cached_property
    def habit(self) -> re.Pattern[str]:
        """What stands right before the time of a habit: every, each."""
        return self._right_before("dates.habit")

    @cached_property
    def any_habit(self) -> re.Pattern[str]:
        """The same anywhere, of words that are not an article too."""
        words = any_of(word for word in self.words.language.words("dates.habit") if len(word) >= 4)
        many = f"|{self.words.weekdays.source}(?:s|en)"  # "les lundis", "montags"
        return standing_alone(f"{words}{many}" if self.words.spaced else self.habit.pattern.rstrip("$"), self.words)

    @cached_property
    def usually(self) -> re.Pattern[str]:
        """What makes the weekday of its clause a habit: always, mostly."""
        return standing_alone(any_of(self.words.language.words("dates.usually")), self.words)

    @cached_property
    def habit_near(self) -> re.Pattern[str]:
        """The same with a word between: "every wet Sunday"."""
        words = any_of(self.words.language.words("dates.habit"))
        return re.compile(rf"(?<![{_LETTER}]){words}\s[^\W\d_]{{1,16}}\s$" if self.words.spaced else "(?!)")

    @cached_property
    def habit_of_a_weekday(self) -> re.Pattern[str]:
        """What stands right before a weekday or a part of it that recurs: French "le"."""
        return self._right_before("dates.habit_of_a_weekday")

    @cached_property
    def clause_end(self) -> re.Pattern[str]:
        return re.compile(_CLAUSE_END)

    @cached_property
    def listed(self) -> frozenset[str]:
        """What stands between the days of a list."""
        return frozenset(self.words.language.words("dates.listed"))

    @cached_property
    def correction(self) -> re.Pattern[str]:
        """What takes back the time before it, up to the one that follows."""
        corrected = any_of(self.words.language.words("dates.corrected"))
        last, reach = (f"(?![{_LETTER}])", 16) if self.words.spaced else ("", 8)
        stop = rf"\s?[{_MARKS}-]{{1,3}}\s?" if self.words.spaced else f"[{_MARKS}]{{0,2}}"
        return re.compile(rf"{stop}{corrected}{last}[^.!?\n\u3002]{{0,{reach}}}")

    @cached_property
    def subject(self) -> re.Pattern[str]:
        return standing_alone(any_of(self.words.language.words("dates.subjects")), self.words)

    @cached_property
    def unread_before(self) -> re.Pattern[str]:
        """What right before a time belongs to it: a number, an ordinal, "last", and words between them and the time."""
        words = self.words
        glue = any_of(sorted(self.between - {"", ","}))
        other = any_of(self.words.language.words("dates.not_before"))
        forms = words.language.lists("dates.forms")["relative"]
        follows = any("{last_or_next}" in form for form in forms)  # "semana pasada", so that "pasado hoy" is two things
        which = any_of(
            words.relative_words("next", "next_but_one", "last_but_one", *(() if follows else ("last", "this")))
        )
        some = f"{words.ordinals.source}|{which}|{other}"
        if not words.spaced:
            counted = rf"(?:\d|{IDEOGRAPHS}|\u5143)(?:{words.units.source})?"  # also the first year of an era
            return re.compile(rf"(?:{some}|{counted})(?:{glue})?$")
        run = any_of(sorted(self.range))
        unit = rf"(?:\s(?:{words.units.source}|{words.weekdays.source}))?"
        numbers = rf"\d+[.ºª°]{{0,2}}|{words.numbers.source}"
        return re.compile(
            rf"(?<![{_LETTER}])(?:(?:{some}){unit}(?:\s{glue})?|{words.units.source}\s{glue}"
            rf"|(?<![:.,/\d-])(?:{numbers})|\d[.ºª°]?\s?{run})\s?$"
        )

    @cached_property
    def day_before(self) -> re.Pattern[str]:
        """A number that is a day of the month after it."""
        glue = any_of(sorted(self.between - {"", ","}))
        return re.compile(rf"\d[.ºª°]{{0,2}}\s{glue}\s?$")

    @cached_property
    def birth(self) -> re.Pattern[str]:
        return standing_alone(any_of(self.words.language.words("dates.birth")), self.words)

    @cached_property
    def unread_after(self) -> re.Pattern[str]:
        """What right after a time belongs to it: "of the month", "next", the figures of a year."""
        words, after = self.words, any_of(self.words.language.words("dates.not_after"))
        if not words.spaced:
            return re.compile(rf"(?:{after}|{words.half}|\d)")
        glue = any_of(sorted(self.between - {"", ","}))
        return re.compile(
            rf"\s?(?:{after}|{words.half}|{any_of(self.words.relative_words('last', 'next'))})(?![{_LETTER}])"
            rf"|\s{any_of(name for name in words.named('months', 1) if len(name) > 2)}(?![{_LETTER}])"
            rf"|\s?{any_of(sorted(self.range))}\s?\d(?![\d]*[:h])"
            rf"|(?:\s(?:{glue}\s)?)'?(?P<figures>)\d{{1,4}}(?![\d:.,h%°]|\s?(?:{words.units.source}|h|€|km)(?![{_LETTER}]))"
        )

    @cached_property
    def month(self) -> re.Pattern[str]:
        return re.compile(self.words.months.source)

    @cached_property
    def sentence_end(self) -> re.Pattern[str]:
        return re.compile(_SENTENCE_END)


@dataclass(frozen=True)
class DateGrammar:
    """The patterns of expressions of time in a language."""

    words: DateWords

    @cached_property
    def beside(self) -> Surroundings:
        return Surroundings(self.words)

    @cached_property
    def forms(self) -> Mapping[str, tuple[re.Pattern[str], ...]]:
        """The patterns of the language by what they express. Raise ValueError for one that its reader cannot read."""
        forms = self.words.language.lists("dates.forms")
        for name, form in ((name, form) for name, some in forms.items() for form in some):
            check_slots(name, form)
        return {name: tuple(map(self._pattern, some)) for name, some in forms.items()}

    def _pattern(self, form: str) -> re.Pattern[str]:
        return standing_alone(self._source(form), self.words)

    def any_form(self, names: Iterable[str]) -> re.Pattern[str]:
        """Return a pattern that is found where any of these forms is, without its slots, faster than each by itself."""
        forms = self.words.language.lists("dates.forms")
        source = "|".join(_NAME.sub("?:", self._source(form)) for name in names for form in forms.get(name, ()))
        # Without spaces a form is tried at every character, and most stand in none.
        first = "" if self.words.spaced else rf"(?=[\d{re.escape(''.join(sorted({*source})))}])"
        return standing_alone(f"{first}(?:{source})", self.words)

    def _source(self, form: str) -> str:
        return "".join(self._element(*found.groups()) for found in SYNTAX.finditer(form))

    def _element(self, slot: str | None, syntax: str | None, text: str) -> str:
        if slot is not None:
            return self._slots[slot]
        return _BRACKETS.get(syntax, syntax) if syntax is not None else spellings(text)

    @cached_property
    def _slots(self) -> Mapping[str, str]:
        figures = r"\d{1,2}" if self.words.spaced else rf"(?:\d{{1,2}}|{IDEOGRAPHS}{{1,3}})"
        count = rf"(?:\d{{1,3}}|{figures}|{self.words.numbers.source}|{self.words.a_few.source})"
        year = r"\d{4}" if self.words.spaced else rf"(?:\d{{4}}|{IDEOGRAPHS}{{4}})"
        amount = (
            rf"(?P<count>{count}){spellings(' ') if self.words.spaced else ' ?'}(?P<unit>{self.words.units.source})"
        )
        sources = {
            "weekday": self.words.weekdays.source,
            "month": self.words.months.source,
            "season": self.words.seasons.source,
            "part": self.words.parts.source,
            "relative": self.words.relatives.source,
            "phrase": self.words.phrases.source,
            "third": self.words.thirds.source,
            "unit": self.words.units.source,
            "named_day": self.words.days.source,
            "day_part": self.words.day_parts.source,
            "half": self.words.half,
            "minute": r"[0-5]\d(?!\d)",
            "figures": FIGURES,
            "year": rf"{year}(?!\d)",
            "short_year": r"(?:' ?)?\d\d(?!\d)",
            "ordinal": self.words.ordinals.source,
            "side": self.words.sides.source,
            "holiday": self.words.holidays.source,
            "half_of": any_of(self.words.language.words("dates.half_of")),
            **dict.fromkeys(("day", "number", "hour"), rf"{figures}(?!\d)"),
        }
        variants = {
            "short_weekday": any_of(self.words.language.words("dates.short_weekdays")),
            "full_weekday": any_of(self.words.named("weekdays", 0)),
            "last_or_next": any_of(self.words.relative_words(*RELATIVES.keys() - {"this"})),
            "week_phrase": any_of(self.words.language.table("dates.phrases").get("week", {})),
            "this": any_of(self.words.relative_words("this")),
        }
        slots = {name: f"(?P<{name}>{source})" for name, source in sources.items()}
        slots |= {slot: f"(?P<{AS[slot]}>{source})" for slot, source in variants.items()}
        return slots | {"amount": f"(?:{amount}|(?P<amount>{self.words.amounts.source}))"}


def standing_alone(source: str, words: DateWords) -> re.Pattern[str]:
    """Return the pattern of a whole word; where there are no spaces, of one that is no part of a number."""
    if not words.spaced:
        return re.compile(rf"(?<!\d)(?:{source})")
    start = f"(?:(?<![{_LETTER}])|(?<=(?<![{_LETTER}]){_ARABIC_PREFIX}))"
    return re.compile(f"{start}(?:{source})(?![{_LETTER}])")


def _whole(words: Iterable[str]) -> list[str]:
    return [word for word in words if "*" not in word]


def _stems(words: Iterable[str], least: int) -> str:
    """Return a pattern for the words of a list that have a star in them, with their accents.

    The star stands for `least` to 20 letters: endings of the past are short, and end short words of other kinds too.
    """
    stems = []
    for word in (word for word in words if "*" in word):
        fewest = least + (len(word) == 2)  # "qué" is no past as "comió" is
        stems.append(f"[{_LETTER}]{{{fewest},20}}".join(map(re.escape, word.split("*"))))
    return "|".join(stems) or "(?!)"


@cache
def grammar(code: str) -> DateGrammar:
    """Return what the language of a code says of times."""
    return DateGrammar(DateWords(Language(code)))
