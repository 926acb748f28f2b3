"""The forms in which a language speaks of times, from its table, as patterns, and the slots that a text can fill."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from .date_order import FIGURES
from .lexicon import IDEOGRAPHS, DateWords, SpelledTable, any_of, as_written, date_words, spellings, words_of

SYNTAX = re.compile(
    r"\{([a-z_]\w*)?(?::([\w.+]+))?\}"
    r"|(\\.|\[\^?\]?[^\]]*\]|\(\?P<\w+>|\(\?P=\w+\)|\(\?<?[=!]|\{\d*,?\d*\}|[()|?<>*+$])"
    r"|([^\\{}()|?<>\[*+$]+)"
)
# Slots that have words of another one, of which they are some.
AS = {
    "short_weekday": "weekday",
    "full_weekday": "weekday",
    "last_or_next": "relative",
    "this": "relative",
    "week_phrase": "phrase",
}
_MONTH, _OCCURRENCE = frozenset(("month", "number")), frozenset(("month", "number", "season", "holiday"))
# For each reader sets of slots: every match must fill one slot of each set.
_NEEDS: Mapping[str, tuple[Iterable[str], ...]] = {
    "day": (("named_day", "day_part"),),
    "phrase": (("phrase",),),
    "relative": (("relative",), {"unit", "weekday", "part", *_OCCURRENCE}),
    **dict.fromkeys(("ago", "perhaps_ago", "ahead", "perhaps_ahead"), (("amount_word", "count"),)),
    **dict.fromkeys(("within", "lasting"), (("amount_word", "count"),)),
    **dict.fromkeys(("past", "coming"), (("amount_word", "count", "unit"),)),
    "weekday": (("weekday",),),
    "part": (("part",),),
    "date": (("day",), _MONTH),
    "dates": (("day",), ("last",), _MONTH),
    "numeric": (("figures", "day", "first"), {"figures", "second", *_MONTH}),
    **dict.fromkeys(("month", "season"), (("year", "short_year"), _OCCURRENCE)),
    **dict.fromkeys(("bare_month", "bare_season"), (_OCCURRENCE,)),
    "holiday": (("holiday",),),
    "week_number": (("number",),),
    "part_of_today": (("part",),),
    "spoken": (("after", "before", "same"),),
    "nth": (("ordinal",), {"unit", "weekday", "half_of"}, _MONTH),
    "offset": (("amount_word", "count", "unit"), ("side",)),
    "third": (("third",),),
    "year": (("year", "short_year"),),
    "decade": (("decade",),),
    **dict.fromkeys(("sure_number", "number"), (("day",),)),
    **dict.fromkeys(("clock", "time_of_day"), (("hour", "named_hour"),)),
}
SlotSets = frozenset[frozenset[str]]
_AMOUNT: SlotSets = frozenset((frozenset(("count", "unit")), frozenset(("amount_word",))))
_NOTHING: SlotSets = frozenset((frozenset(),))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a form: text, a slot, or alternatives of parts that are a group, optional, required or forbidden.

    `name` is that of the slot or group, or the text; `words` is the list that the slot takes its words from.
    """

    kind: str
    name: str = ""
    words: str = ""
    branches: tuple[tuple[Part, ...], ...] = ()


def parse_form(form: str) -> tuple[tuple[Part, ...], ...]:
    """Return the alternatives of a form, each in order."""
    outer: list[tuple[str, list[list[Part]]]] = []
    branches: list[list[Part]] = [[]]
    for found in SYNTAX.finditer(form):
        slot, words, syntax, text = found.groups()
        if syntax is None:
            branches[-1].append(Part("text", text) if text else Part("slot", slot or "", words or ""))
        elif syntax == "|":
            branches.append([])
        elif syntax == "<" or (syntax[0] == "(" and not syntax.startswith("(?P=")):
            outer.append((syntax, branches))
            branches = [[]]
        elif syntax in (")", ">"):
            (opener, around), inner = outer.pop(), tuple(map(tuple, branches))
            kind = {"=": "look", "!": "lack"}.get(opener[-1], "group")
            around[-1].append(Part(kind, opener[4:-1] if "P<" in opener else "", branches=inner))
            branches = around
        elif syntax in "?*" or syntax.startswith(("{0", "{,")):
            branches[-1].append(Part("optional", branches=((branches[-1].pop(),),)))
        else:  # beside a boundary of a word no letter stands, as beside a blank
            branches[-1].append(Part("text", " " if syntax in (r"\s", r"\b") else ""))
    return tuple(map(tuple, branches))


def check_slots(reader: str, form: str) -> None:
    """Raise ValueError for a form of which a match may leave its reader without a slot that it needs."""
    for told in possible_slot_sets(form):
        for wanted in _NEEDS.get(reader, ()):
            if told.isdisjoint(wanted):
                expected = " or ".join(f"{{{slot}}}" for slot in sorted(wanted))
                raise ValueError(f"the form {form!r} can match without {expected}, which {reader!r} reads")


def possible_slot_sets(form: str, *, listed: bool = False) -> SlotSets:
    """Return the sets of slots that a match of a form may fill: one set for each way through its branches.

    With `listed` a slot that takes its words from a list of another name has both names: "unit:units.weekend".
    """
    return _slot_sets_of_branches(parse_form(form), listed=listed)


def _slot_sets_of_branches(branches: tuple[tuple[Part, ...], ...], *, listed: bool) -> SlotSets:
    return frozenset(told for branch in branches for told in _slot_sets_of_parts(branch, listed=listed))


def _slot_sets_of_parts(parts: tuple[Part, ...], *, listed: bool) -> SlotSets:
    ways = _NOTHING
    for part in parts:
        inner = _NOTHING
        if part.kind == "slot" and part.name:
            name = AS.get(part.name, part.name)
            if listed and part.words:
                name = f"{name}:{part.words}" if name in _SEEN else name if name in _FIGURES else part.words
            inner = frozenset((frozenset((name,)),))
            inner = _AMOUNT if part.name == "amount" else inner
        elif part.kind in ("group", "optional"):
            inner = _slot_sets_of_branches(part.branches, listed=listed) | (
                _NOTHING if part.kind == "optional" else frozenset()
            )
            inner = frozenset(told | {part.name} for told in inner) if part.name else inner
        ways = frozenset(one | other for one in ways for other in inner)
    return ways


# ---- The words of a form itself, which a text must have beside those of its slots

Needed = tuple[frozenset[str], ...]


def required_words(form: str) -> Needed:
    """Return sets of words in plain letters, of each of which every match of a form has one as a whole word.

    Of "(past|last) {amount} or so" they are "past" or "last", "or", and "so".
    """
    return _required_in_every_branch(parse_form(form), (True, True))


def _required_in_every_branch(branches: tuple[tuple[Part, ...], ...], closed: tuple[bool, bool]) -> Needed:
    """Return the sets for some branches; `closed` says on which side no letter stands beside them."""
    found = [_required_words_of_parts(branch, closed) for branch in branches]
    if len(found) == 1:
        return found[0]
    return (frozenset().union(*(min(sets, key=len) for sets in found)),) if all(found) else ()


def _required_words_of_parts(parts: tuple[Part, ...], closed: tuple[bool, bool]) -> Needed:
    found: list[frozenset[str]] = []
    for at, part in enumerate(parts):
        # of a part, the one before it and the one after it
        before, after = (_is_closed(parts, at, side, closed) for side in (-1, 1))
        if part.kind == "group":
            found += _required_in_every_branch(part.branches, (before, after))
        elif part.kind == "look":
            found += _required_in_every_branch(part.branches, (False, False))
        elif part.kind == "text":
            words = _PLAIN_WORD.finditer(part.name)
            whole = (one for one in words if (one.start() or before) and (one.end() < len(part.name) or after))
            found += [frozenset((one[0],)) for one in whole]
    return tuple(found)


def _is_closed(parts: tuple[Part, ...], at: int, side: int, closed: tuple[bool, bool]) -> bool:
    """Return whether surely no letter stands beside a part of a branch; `closed` says that of the whole branch."""
    at += side
    while 0 <= at < len(parts):
        part, own = parts[at], (False, False)  # the text beyond a group says nothing of its ends
        if part.kind == "text":
            return part.name != "" and not part.name[-1 if side < 0 else 0].isalpha()
        if part.kind == "optional" and part.branches[0][0].kind != "group":
            return False
        if part.kind in ("slot", "group", "optional"):
            ends = [_is_closed(inner, len(inner) if side < 0 else -1, side, own) for inner in part.branches]
            if part.kind != "optional" or not all(ends):
                return bool(ends) and all(ends)
        at += side
    return closed[max(side, 0)]


_PLAIN_WORD = re.compile(r"(?<![^\W\d_])[a-z]{2,}(?![^\W\d_])")  # of a form, with one spelling
_NAME = re.compile(r"\?P<\w+>")
_BRACKETS = {"(": "(?:", "<": "(?P<x>", ">": ")"}
LETTER = "\\w\u0900-\u0963\u064b-\u0652"  # with the signs of Devanagari and the points of Arabic
MARKS = ".,!?;:()\u2026\u3001\u3002\uff0c\uff01\uff1f\u0964\u060c\u061f"
# Slots whose words a text has or lacks; a form without such a slot may match any text.
_SEEN = {
    "named_day": "days", "day_part": "day_parts", "phrase": "phrases", "relative": "relatives", "weekday": "weekdays",
    "month": "months", "season": "seasons", "part": "parts", "unit": "units", "third": "thirds", "ordinal": "ordinals",
    "holiday": "holidays", "side": "sides", "amount_word": "amounts", "vague": "vague", "decade": "decades",
}  # fmt: skip
# Patterns that a text must match for slots of figures; ordinals and names of decades are looked for besides.
_FIGURES = {name: re.compile(r"\d") for name in ("day", "number", "minute", "short_year", "digits")} | {
    "year": re.compile(r"\d(?:(?<='\d)|\d{3})"),
    "figures": re.compile(r"\d[/.-] ?\d\d?[/.-]"), "decade": re.compile(r"(?:1[5-9]\d|20\d|[2-9])0(?!\d)"),
    "quarter": re.compile(r"q\d"),
}  # fmt: skip
_LOOKED_FOR = _FIGURES.keys() | _SEEN.keys()
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Form:
    """A form of a language: the name of its reader, its words, and its pattern."""

    grammar: DateForms
    reader: str
    form: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return whole_word_pattern(self.grammar.pattern_source(self.form), self.grammar.words)

    @property
    def is_a_time(self) -> bool:
        """Whether the form is a time without another one beside it."""
        # These readers read no time by itself.
        return self.reader not in {"part", "clock", "number", "none", "offset"}

    @cached_property
    def slot_sets(self) -> tuple[frozenset[str], ...]:
        """The slots that must have words in a text for the form to match, for each way through its branches."""
        told = possible_slot_sets(self.form, listed=True)
        return tuple(frozenset(name for name in way if name in _LOOKED_FOR or ":" in name) for way in told)

    @cached_property
    def required_words(self) -> Needed:
        """Sets of words of the form itself, of each of which a text must have one for it to match."""
        return required_words(self.form) if self.grammar.words.latin else ()

    @cached_property
    def rarity(self) -> tuple[bool, int]:
        """How seldom it matches a text that has the words and figures for it: those of figures alone seldom do."""
        least = min(self.slot_sets, key=len, default=frozenset())
        return bool(least) and least <= _FIGURES.keys(), len(least) + len(self.required_words)


@dataclass(frozen=True)
class DateForms:
    """The forms in which a language speaks of times."""

    words: DateWords

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The forms of the language in their order. Raise ValueError for one that its reader cannot read."""
        found = [(name, form) for name, some in self.words.lists("forms").items() for form in some]
        for name, form in found:
            check_slots(name, form)
        return tuple(Form(self, name, form) for name, form in found)

    @cached_property
    def _tables_of_slots(self) -> Mapping[str, SpelledTable[Any]]:
        """The words by which a text fills a slot, also of slots with a list of their own."""
        tables = {slot: getattr(self.words, table) for slot, table in _SEEN.items()}
        for name in {name for form in self.forms for way in form.slot_sets for name in way if ":" in name}:
            slot, _, words = name.partition(":")
            tables[name] = (
                tables[slot] if words in self.slot_forms else SpelledTable(dict.fromkeys(self._list_words(words), 0))
            )
        return tables

    @cached_property
    def _bits(self) -> Mapping[str, int]:
        """A bit for each slot, in the order of their names."""
        slots = sorted(
            {*_FIGURES, *self._tables_of_slots, *(slot for form in self.forms for slot in set().union(*form.slot_sets))}
        )
        return {slot: 1 << at for at, slot in enumerate(slots)}

    @cached_property
    def _slots_of_words(self) -> Mapping[str, int]:
        """The bits of the slots that a word fills."""
        found: dict[str, int] = {}
        for slot, table in self._tables_of_slots.items():
            for word in table.whole_words:
                found[word] = found.get(word, 0) | self._bits[slot]
        return found

    @cached_property
    def _needs_of_forms(self) -> tuple[tuple[Form, tuple[int, ...], Needed], ...]:
        """The forms in their order, each with the bits of its ways and its own words."""
        return tuple((form, tuple(map(self._slot_bits, form.slot_sets)), form.required_words) for form in self.forms)

    @cached_property
    def _needs_of_times(self) -> tuple[tuple[Form, tuple[int, ...], Needed], ...]:
        """Those of `_needs_of_forms` that are a time by themselves, those that match oftener first."""
        return tuple(sorted((one for one in self._needs_of_forms if one[0].is_a_time), key=lambda one: one[0].rarity))

    def _slot_bits(self, slots: Iterable[str]) -> int:
        return sum(self._bits[slot] for slot in slots)

    @cached_property
    def _patterns_of_slots(self) -> Mapping[str, re.Pattern[str]]:
        return {slot: re.compile(table.source) for slot, table in self._tables_of_slots.items()}

    def forms_possible_in(self, folded: str) -> tuple[Form, ...]:
        """Return the forms for which a folded text has the words."""
        return tuple(self._forms_with_words_in(folded, are_times=False))

    def time_forms_possible_in(self, folded: str) -> Iterator[Form]:
        """Yield those of them that are a time by themselves; those that match oftener first."""
        return self._forms_with_words_in(folded, are_times=True)

    def _forms_with_words_in(self, folded: str, *, are_times: bool) -> Iterator[Form]:
        words, slots = frozenset[str](), 0
        if self.words.latin:
            words = words_of(folded)
            for word in words:
                slots |= self._slots_of_words.get(word, 0)
            words |= frozenset() if folded.isascii() else as_written(folded)
        else:
            slots = self._slot_bits(slot for slot, pattern in self._patterns_of_slots.items() if pattern.search(folded))
        if not self.words.has_spaces:
            slots |= self._slot_bits(_FIGURES)
        elif _DIGIT.search(folded):
            slots |= self._slot_bits(slot for slot, pattern in _FIGURES.items() if pattern.search(folded))
        elif slots & self._bits["ordinal"]:
            slots |= self._bits["day"]  # "the fifth"
        found = self._able_forms.get((are_times, slots))
        if found is None:
            if len(self._able_forms) >= 4_096:
                self._able_forms.clear()
            wanted = self._needs_of_times if are_times else self._needs_of_forms
            able = ((form, own) for form, ways, own in wanted if any(way & slots == way for way in ways))
            found = self._able_forms[are_times, slots] = tuple(able)
        for form, own in found:
            if not any(map(words.isdisjoint, own)):
                yield form

    @cached_property
    def _able_forms(self) -> dict[tuple[bool, int], tuple[tuple[Form, Needed], ...]]:
        """The forms, with their own words, that a text with some slots may have; nothing of a text."""
        return {}

    def pattern_source(self, form: str) -> str:
        """Return the source of the pattern of a form."""
        return "".join(self._element_source(*found.groups()) for found in SYNTAX.finditer(form))

    def _element_source(self, slot: str | None, words: str | None, syntax: str | None, text: str | None) -> str:
        if text is not None:
            return "-".join(map(spellings, text.split("-")))
        if syntax is not None:
            return _BRACKETS.get(syntax, syntax)
        if slot is not None and slot in self.slot_pieces:
            return f"(?:{self.pattern_source(self.slot_pieces[slot])})"
        source = self._plain_source(words or slot or "")
        return f"(?P<{AS.get(slot, slot)}>{source})" if slot else f"(?:{source})"

    def _plain_source(self, name: str) -> str:
        if name in self.slot_pieces or name in self.slot_forms:
            return _NAME.sub("?:", self.pattern_source(self.slot_pieces.get(name) or self.slot_forms[name]))
        if name in self.slot_sources:
            return self.slot_sources[name]
        return any_of(self._list_words(name))

    def _list_words(self, name: str) -> list[str]:
        return [word for part in name.split("+") for word in self.words.words_in(part)]

    @cached_property
    def slot_forms(self) -> Mapping[str, str]:
        """Slots of the language that are no table, as forms."""
        return self.words.table("slots")

    @cached_property
    def slot_pieces(self) -> Mapping[str, str]:
        """Parts of forms that fill slots of their own."""
        count = "{count}( |(?<=\\d)){unit}" if self.words.has_spaces else "{count} ?{unit}"
        # A word for an amount goes first: "quinze jours" is two weeks, not fifteen days.
        return {"amount": "{amount_word:amounts}|" + count, **self.words.table("pieces")}

    @cached_property
    def slot_sources(self) -> Mapping[str, str]:
        figures = r"\d{1,2}" if self.words.has_spaces else rf"(?:\d{{1,2}}|{IDEOGRAPHS}{{1,3}})"
        year = r"\d{4}" if self.words.has_spaces else rf"(?:\d{{4}}|{IDEOGRAPHS}{{4}})"
        return {
            **dict.fromkeys(("minute", "last_minute"), r"[0-5]\d(?!\d)"),
            "figures": FIGURES,
            "year": rf"{year}(?!\d)",
            "short_year": r"(?:' ?)?\d\d(?!\d)",
            "decade": _FIGURES["decade"].pattern,
            "count": rf"(?:\d{{1,3}}|{figures}|{self.words.numbers.source}|{self.words.rough.source})",
            "spoken_hour": rf"(?:{figures}(?!\d)|{self.words.numbers.source})",
            **dict.fromkeys(("day", "number", "hour", "last_hour"), rf"{figures}(?!\d)"),
        }


@dataclass(frozen=True)
class DateGrammar(DateForms):
    """The text between and beside expressions of a language, and how a sentence looks at them."""

    @cached_property
    def joining_words(self) -> frozenset[str]:
        """Words that may stand between two parts of one expression."""
        return frozenset(self.words.words_in("between"))

    @cached_property
    def range_words(self) -> frozenset[str]:
        """Words that may stand between the first and the last day of a range."""
        return frozenset(self.words.words_in("range"))

    @cached_property
    def since_pattern(self) -> re.Pattern[str]:
        """The word for "since" right before a time, or right after it."""
        since = any_of(self.words.words_in("since"))
        return re.compile(rf"\s?{since}" if self.since_follows else rf"(?<![{LETTER}]){since}\s?\Z")

    @cached_property
    def since_follows(self) -> bool:
        return "since_follows" in self.words.writing

    @cached_property
    def clause_start_pattern(self) -> re.Pattern[str]:
        """A word that begins another clause, or does something in it."""
        return whole_word_pattern(
            any_of((*self.words.words_in("subjects"), *self.words.words_in("conjunctions"))), self.words
        )

    @cached_property
    def month_pattern(self) -> re.Pattern[str]:
        return re.compile(self.words.months.source)

    @cached_property
    def noun_that_follows(self) -> re.Pattern[str] | None:
        """Words that may follow an expression that a noun would make a part of itself; None where any word may."""
        followers = self.words.words_in("followers")
        if not followers:
            return None
        word = any_of((*followers, *self.words.parts.words))
        return re.compile(rf"(?:'s)?(?: *\n|\s*$|\s*[^\w\s'$-]| +-| {word}(?![\w'])| [^\w\s$]| \d)")

    @cached_property
    def following_clock_pattern(self) -> re.Pattern[str]:
        """A figure, or a part of the day, right after a day, also with a word like "at" between them."""
        glue = any_of(word for word in self.joining_words if word[-1:].isalpha())
        return re.compile(rf"\s?(?:,\s)?(?:{glue}\s)?(?:\d\d?(?![\d.])|{self.words.parts.source}(?![{LETTER}]))")

    # -- how a sentence looks at its times

    @cached_property
    def clause_end_pattern(self) -> re.Pattern[str]:
        """The ends of a clause: a mark, or a conjunction with the subject of another one."""
        words = self.words
        another = rf"\s{any_of(words.words_in('conjunctions'))}\s(?={any_of(words.words_in('subjects'))}(?!\w))"
        return re.compile(rf"[{MARKS}](?!\d)|\n|{another}")

    @cached_property
    def tense_pattern(self) -> re.Pattern[str]:
        """Words that look back or ahead; a star in a list stands for the rest of a word, and whole words go first."""
        if forms := self.words.lists("tense"):
            looks = (f"(?P<{name}>{'|'.join(map(self.pattern_source, some))})" for name, some in forms.items())
            return re.compile(rf"(?<![\w'])(?:{'|'.join(looks)})(?!\w)|(?P<will>'ll\b)")
        words = self.words
        back, ahead, now = map(words.words_in, ("looking_back", "looking_ahead", "looking_at_now"))
        start, end = (f"(?<![{LETTER}])", f"(?![{LETTER}])") if words.has_spaces else ("", "")
        # A word of time is no verb, whatever it ends like: "día" is no past.
        of_time = (words.units, words.parts, words.seasons, words.weekdays, words.months)
        sources = (*(table.source for table in of_time), any_of(words.words_in("not_past")))
        no_verb = rf"(?!(?:{'|'.join(sources)}){end})"
        whole = (
            f"(?P<back>{any_of(_words_without_star(back))})|(?P<ahead>{any_of(_words_without_star(ahead))})"
            f"|(?P<is>{any_of(now)})"
        )
        stems = f"(?P<like_will>{_star_words_pattern(ahead, 1)})|(?P<like_was>{_star_words_pattern(back, 2)})"
        return re.compile(f"{start}(?:{whole}|{no_verb}(?:{stems})){end}")

    def list_word_pattern(self, name: str) -> re.Pattern[str]:
        """Return the pattern of a word or form of a list that stands right before an index."""
        if name not in self._before:
            words = sorted(self.words.words_in(name), key=len, reverse=True)
            start = f"(?<![{LETTER}])" if self.words.has_spaces else ""
            source = rf"{start}(?:{'|'.join(map(self.pattern_source, words))})\s?[*_(]*\Z" if words else "(?!)"
            self._before[name] = re.compile(source)
        return self._before[name]

    @cached_property
    def _before(self) -> dict[str, re.Pattern[str]]:
        return {}


def _words_without_star(words: Iterable[str]) -> list[str]:
    return [word for word in words if "*" not in word]


def _star_words_pattern(words: Iterable[str], least: int) -> str:
    """Return a pattern for the words of a list that have a star in them, with their accents.

    The star stands for `least` to 20 letters: endings of the past are short, and end short words of other kinds too.
    """
    stems = []
    for word in (word for word in words if "*" in word):
        fewest = least + (len(word) == 2)  # "qué" is no past as "comió" is
        stems.append(f"[{LETTER}]{{{fewest},20}}".join(map(re.escape, word.split("*"))))
    return "|".join(stems) or "(?!)"


def whole_word_pattern(source: str, words: DateWords) -> re.Pattern[str]:
    """Return the pattern of a whole word; where there are no spaces, of one that is no part of a number."""
    if not words.has_spaces:
        return re.compile(rf"(?<!\d)(?:{source})")
    letter = f"[{LETTER}]" if words.language.code in ("hi", "ar") else r"\w"
    prefix = "[\u0648\u0641\u0628\u0644]"  # "and", "so", "in", "for" are written together with the next word in Arabic
    start = f"(?:(?<!{letter})|(?<=(?<!{letter}){prefix}))" if words.joins_prefixes else f"(?<!{letter})"
    return re.compile(f"{start}(?:{source})(?!{letter})")


@cache
def load_grammar(code: str) -> DateGrammar:
    """Return the grammar of times of the language of a code."""
    return DateGrammar(date_words(code))
