"""The forms in which a language speaks of times, from its table, as patterns with the words that each of them needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from sys import maxsize as MAXSIZE

from .date_order import FIGURES
from .lexicon import IDEOGRAPHS, DateWords, any_of, date_words, spellings

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
MASK = "\ue000"  # stands for each character of an amount where a form has one
DIGIT = "0"  # stands for any digit among the words of a text
_MONTH, _OCCURRENCE = frozenset(("month", "number")), frozenset(("month", "number", "season"))
# For each reader sets of slots: every match must fill one slot of each set.
_NEEDS: Mapping[str, tuple[Iterable[str], ...]] = {
    "day": (("named_day", "day_part"),),
    "phrase": (("phrase",),),
    "relative": (("relative",), {"unit", "weekday", "part", *_OCCURRENCE}),
    **dict.fromkeys(("ago", "perhaps_ago", "ahead", "perhaps_ahead"), (("amount", "count"),)),
    "weekday": (("weekday",),),
    "part": (("part",),),
    "date": (("day",), _MONTH),
    "numeric": (("figures", "day", "first"), {"figures", "second", *_MONTH}),
    **dict.fromkeys(("month", "season"), (("year", "short_year"), _OCCURRENCE)),
    **dict.fromkeys(("bare_month", "bare_season"), (_OCCURRENCE,)),
    "holiday": (("holiday",),),
    "nth": (("ordinal",), {"unit", "weekday", "half_of"}, _MONTH),
    "offset": (("amount", "count", "unit"), ("side",)),
    "third": (("third",), {"unit", *_OCCURRENCE}),
    "year": (("year",),),
    **dict.fromkeys(("sure_number", "number"), (("day",),)),
    "clock": (("hour", "named_hour"),),
}
Told = frozenset[frozenset[str]]
_NOTHING: Told = frozenset((frozenset(),))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a form: text, a slot, a sign, or alternatives of parts that are a group, optional, or looked at.

    `value` is the text or sign; of a slot and of a group it is the name.
    """

    kind: str
    value: str = ""
    words: str | None = None
    branches: tuple[tuple[Part, ...], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the part may be no characters of the text."""
        return self.kind == "optional" or self.value in ("free", "about") or any(not some for some in self.branches)


def parsed(form: str) -> tuple[tuple[Part, ...], ...]:
    """Return the alternatives of a form, each in order."""
    outer: list[tuple[str, list[list[Part]]]] = []
    branches: list[list[Part]] = [[]]
    for found in SYNTAX.finditer(form):
        slot, words, syntax, text = found.groups()
        if syntax is None:
            branches[-1].append(Part("text", text) if text else Part("slot", slot or "", words))
        elif syntax == "|":
            branches.append([])
        elif syntax == "<" or (syntax[0] == "(" and not syntax.startswith("(?P=")):
            outer.append((syntax, branches))
            branches = [[]]
        elif syntax in (")", ">"):
            (opener, around), inner = outer.pop(), tuple(map(tuple, branches))
            kind = "look" if opener[-1] in "=!" else "group"
            around[-1].append(Part(kind, opener[4:-1] if "P<" in opener else "", branches=inner))
            branches = around
        elif syntax in "?*" or syntax.startswith(("{0", "{,")):
            before = branches[-1].pop()
            if before.kind == "text" and len(before.value) > 1:
                branches[-1].append(Part("text", before.value[:-1]))
                before = Part("text", before.value[-1])
            branches[-1].append(Part("optional", branches=((before,),)))
        else:
            branches[-1].append(Part("sign", syntax))
    return tuple(map(tuple, branches))


def check_slots(reader: str, form: str) -> None:
    """Raise ValueError for a form of which a match may leave its reader without a slot that it needs."""
    for told in told_by(form):
        for wanted in _NEEDS.get(reader, ()):
            if told.isdisjoint(wanted):
                expected = " or ".join(f"{{{slot}}}" for slot in sorted(wanted))
                raise ValueError(f"the form {form!r} can match without {expected}, which {reader!r} reads")


def told_by(form: str) -> Told:
    """Return the sets of slots that a match of a form may fill: one set for each way through its branches."""
    return _told(parsed(form))


def _told(branches: tuple[tuple[Part, ...], ...]) -> Told:
    return frozenset(told for branch in branches for told in _told_in_order(branch))


def _told_in_order(parts: tuple[Part, ...]) -> Told:
    ways = _NOTHING
    for part in parts:
        inner = _NOTHING
        if part.kind == "slot":
            inner = frozenset((frozenset((AS.get(part.value, part.value),)),))
            inner = frozenset((frozenset(("count", "unit")),)) if part.value == "amount" else inner
        elif part.kind in ("group", "optional"):
            inner = _told(part.branches) | (_NOTHING if part.kind == "optional" else frozenset())
            inner = frozenset(told | {part.value} for told in inner) if part.value else inner
        ways = frozenset(one | other for one in ways for other in inner)
    return ways


_NAME = re.compile(r"\?P<\w+>")
_BRACKETS = {"(": "(?:", "<": "(?P<x>", ">": ")"}
LETTER = "\\w\u0900-\u0963\u064b-\u0652"  # with the signs of Devanagari and the points of Arabic
_ARABIC_PREFIX = "[\u0648\u0641\u0628\u0644]"  # "and", "so", "in", "for" are written together with the next word
_WORD = re.compile("[a-z]+")
MARKS = ".,!?;:()\u2026\u3001\u3002\uff0c\uff01\uff1f\u0964\u060c\u061f"
_CLAUSE_END = f"[{MARKS}\n](?!\\d)"
_SENTENCE_END = "[.!?;\n\u3002\uff01\uff1f\u0964\u061f]"
Needs = tuple[frozenset[str], ...]


@dataclass(frozen=True)
class Form:
    """A form of a language: the name of its reader, its pattern, and lists of words: a match has one of each."""

    grammar: DateForms
    reader: str
    form: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        form = (
            self.form.replace("{amount}", f"(?<!{MASK})(?P<amount>{MASK}+)(?!{MASK})") if self.is_masked else self.form
        )
        source = self.grammar.source(form)
        return re.compile(rf"(?:{source})(?!\w)") if self.at_word else standing_alone(source, self.grammar.words)

    @cached_property
    def at_word(self) -> bool:
        """Whether matches are sought that begin at a word: a pattern with that condition is several times slower."""
        first = parsed(self.form)[0][0]
        return (
            bool(self.grammar.words.table("pieces")) and first.kind in ("text", "slot", "group") and not first.is_empty
        )

    def matches(self, text: str, start: int = 0, end: int = MAXSIZE) -> Iterator[re.Match[str]]:
        """Yield the matches in a range of a text."""
        for match in self.pattern.finditer(text, start, end):
            if not (
                self.at_word and match.start() and (text[match.start() - 1].isalnum() or text[match.start() - 1] == "_")
            ):
                yield match

    @cached_property
    def is_masked(self) -> bool:
        """Whether the pattern is for a text whose amounts are masked: they are found once, as theirs is the longest."""
        return self.reader != "amount" and "{amount}" in self.form and bool(self.grammar.words.table("pieces"))

    @cached_property
    def needs(self) -> Needs:
        return tuple(self.grammar.needed_words.of(parsed(self.form)))

    @cached_property
    def expression(self) -> str | int:
        """The group that marks the expression in a match: `x` where there is one, else the whole."""
        return "x" if "x" in self.pattern.groupindex else 0

    def may_match(self, words: frozenset[str]) -> bool:
        """Return whether a text that has these words can match."""
        for some in self.needs:  # noqa: SIM110  called for every form and text, where a generator costs twice as much
            if some.isdisjoint(words):
                return False
        return True


@dataclass(frozen=True)
class DateForms:
    """The patterns of expressions of time in a language."""

    words: DateWords

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The forms of the language in their order. Raise ValueError for one that its reader cannot read."""
        found = [(name, form) for name, some in self.words.lists("forms").items() for form in some]
        for name, form in found:
            check_slots(name, form)
        return tuple(Form(self, name, form) for name, form in found)

    def form(self, reader: str) -> Form:
        """Return the first form of a reader. Raise StopIteration for one without forms."""
        return next(form for form in self.forms if form.reader == reader)

    def any_form(self, names: Iterable[str]) -> re.Pattern[str]:
        """Return a pattern that is found where any of these forms is, without its slots, faster than each by itself."""
        sources = (self.source(each.form) for name in names for each in self.forms if each.reader == name)
        source = "|".join(_NAME.sub("?:", each) for each in sources)
        # Without spaces a form is tried at every character, and most stand in none.
        first = "" if self.words.spaced else rf"(?=[\d{re.escape(''.join(sorted({*source})))}])"
        return standing_alone(f"{first}(?:{source})", self.words)

    def source(self, form: str) -> str:
        """Return the source of the pattern of a form."""
        return "".join(self._element(*found.groups()) for found in SYNTAX.finditer(form))

    def _element(self, slot: str | None, words: str | None, syntax: str | None, text: str | None) -> str:
        if text is not None:
            return "-".join(map(spellings, text.split("-")))
        if syntax is not None:
            return _BRACKETS.get(syntax, syntax)
        if slot is not None and slot in self.pieces:
            return f"(?:{self.source(self.pieces[slot])})"
        source = self._unnamed(words or slot or "")
        return f"(?P<{AS.get(slot, slot)}>{source})" if slot else f"(?:{source})"

    def _unnamed(self, name: str) -> str:
        if name in self.pieces or name in self.own:
            return _NAME.sub("?:", self.source(self.pieces.get(name) or self.own[name]))
        return self.sources[name] if name in self.sources else any_of(self.listed(name))

    @cached_property
    def own(self) -> Mapping[str, str]:
        return self.words.table("slots")

    @cached_property
    def pieces(self) -> Mapping[str, str]:
        own = self.words.table("pieces")
        return own or {
            "amount": ("{count} {unit}" if self.words.spaced else "{count} ?{unit}") + "|{amount_word:amounts}"
        }

    @cached_property
    def sources(self) -> Mapping[str, str]:
        figures = r"\d{1,2}" if self.words.spaced else rf"(?:\d{{1,2}}|{IDEOGRAPHS}{{1,3}})"
        year = r"\d{4}" if self.words.spaced else rf"(?:\d{{4}}|{IDEOGRAPHS}{{4}})"
        return {
            "minute": r"[0-5]\d(?!\d)",
            "figures": FIGURES,
            "year": rf"{year}(?!\d)",
            "short_year": r"(?:' ?)?\d\d(?!\d)",
            "count": rf"(?:\d{{1,3}}|{figures}|{self.words.numbers.source}|{self.words.rough.source})",
            "spoken_hour": rf"(?:{figures}(?!\d)|{self.words.numbers.source})",
            **dict.fromkeys(("day", "number", "hour"), rf"{figures}(?!\d)"),
        }

    def pattern(self, name: str) -> re.Pattern[str]:
        """Return the pattern of a name in the table `patterns`; one that never matches where the language has none."""
        if name not in self._patterns:
            form = self.words.table("patterns").get(name)
            self._patterns[name] = re.compile("(?!)" if form is None else self.source(form))
        return self._patterns[name]

    @cached_property
    def _patterns(self) -> dict[str, re.Pattern[str]]:
        return {}

    def listed(self, name: str) -> Iterable[str]:
        return [word for part in name.split("+") for word in self.words.listed(part)]

    @cached_property
    def all_needed(self) -> frozenset[str]:
        """The words that some form needs."""
        return frozenset().union(*(words for form in self.forms for words in form.needs))

    @cached_property
    def needed_words(self) -> NeededWords:
        return NeededWords(self)


@dataclass(frozen=True)
class DateGrammar(DateForms):
    """The patterns of what stands between and beside expressions, and of how a sentence looks at them."""

    @cached_property
    def has_patterns(self) -> bool:
        """Whether the language says by patterns what stands between and beside expressions; else it does by lists."""
        return bool(self.words.table("patterns"))

    @cached_property
    def last_words(self) -> Mapping[str, frozenset[str]]:
        """The last words, apart from "the", of what stands before an expression and belongs to it, by its pattern."""
        return {name: frozenset(words) for name, words in self.words.lists("last_words").items()}

    @cached_property
    def between(self) -> frozenset[str]:
        """What may stand between two parts of one expression."""
        return frozenset(self.words.listed("between"))

    @cached_property
    def range(self) -> frozenset[str]:
        """What may stand between the first and the last day of a range."""
        return frozenset(self.words.listed("range"))

    @cached_property
    def since(self) -> re.Pattern[str]:
        """The word for "since" right before a time, or right after it."""
        since = any_of(self.words.listed("since"))
        follows = "since_follows" in self.words.writing
        return re.compile(rf"\s?{since}" if follows else rf"(?<![{LETTER}]){since}\s?\Z")

    def since_after(self, folded: str, end: int) -> re.Match[str] | None:
        """Return the word for "since" right after a time, where it follows."""
        return self.since.match(folded, end) if "since_follows" in self.words.writing else None

    @cached_property
    def subject(self) -> re.Pattern[str]:
        return standing_alone(any_of(self.words.listed("subjects")), self.words)

    @cached_property
    def moved_to(self) -> re.Pattern[str]:
        """What makes the day after it one to come: "verschoben auf" Freitag."""
        return self.right_before("moved_to")

    @cached_property
    def month(self) -> re.Pattern[str]:
        return re.compile(self.words.months.source)

    # -- how a sentence looks at its times

    @cached_property
    def governs(self) -> bool:
        """Whether a past form after a word of the future belongs to it ("will have left"), and sentences go on."""
        return bool(self.words.table("tense"))

    @cached_property
    def sentence_end(self) -> re.Pattern[str]:
        return self.pattern("sentence_end") if self.words.table("patterns") else re.compile(_SENTENCE_END)

    @cached_property
    def clause_end(self) -> re.Pattern[str]:
        return self.pattern("clause_end") if self.words.table("patterns") else re.compile(_CLAUSE_END)

    @cached_property
    def tense(self) -> re.Pattern[str]:
        """Words that look back or ahead; a star in a list stands for the rest of a word, and whole words go first."""
        if forms := self.words.lists("tense"):
            looks = (f"(?P<{name}>{'|'.join(map(self.source, some))})" for name, some in forms.items())
            return re.compile(rf"(?<![\w'])(?:{'|'.join(looks)})(?!\w)|(?P<will>'ll\b)")
        words = self.words
        back, ahead, now = map(words.listed, ("looking_back", "looking_ahead", "looking_at_now"))
        start, end = (f"(?<![{LETTER}])", f"(?![{LETTER}])") if words.spaced else ("", "")
        # A word of time is no verb, whatever it ends like: "día" is no past.
        no_verb = rf"(?!(?:{words.units.source}|{words.parts.source}|{words.seasons.source}){end})"
        whole = f"(?P<back>{any_of(_whole(back))})|(?P<ahead>{any_of(_whole(ahead))})|(?P<is>{any_of(now)})"
        stems = f"(?P<like_will>{_stems(ahead, 1)})|(?P<like_was>{_stems(back, 2)})"
        return re.compile(f"{start}(?:{whole}|{no_verb}(?:{stems})){end}")

    def is_verb(self, cue: re.Match[str]) -> bool:
        """Return whether a word that looks back or ahead is no noun that only ends like such a verb: "il mercato"."""
        if cue.lastgroup not in ("like_was", "like_will"):
            return True
        return self._before_noun.search(cue.string, max(0, cue.start() - 12), cue.start()) is None

    @cached_property
    def _before_noun(self) -> re.Pattern[str]:
        return self.right_before("before_nouns")

    def right_before(self, name: str) -> re.Pattern[str]:
        """Return the pattern of a word of a list that stands right before an index."""
        words = self.words.listed(name)
        start = f"(?<![{LETTER}])" if self.words.spaced else ""
        return re.compile(rf"{start}{any_of(words)}\s?\Z" if words else "(?!)")


def _whole(words: Iterable[str]) -> list[str]:
    return [word for word in words if "*" not in word]


def _stems(words: Iterable[str], least: int) -> str:
    """Return a pattern for the words of a list that have a star in them, with their accents.

    The star stands for `least` to 20 letters: endings of the past are short, and end short words of other kinds too.
    """
    stems = []
    for word in (word for word in words if "*" in word):
        fewest = least + (len(word) == 2)  # "qué" is no past as "comió" is
        stems.append(f"[{LETTER}]{{{fewest},20}}".join(map(re.escape, word.split("*"))))
    return "|".join(stems) or "(?!)"


@dataclass(frozen=True)
class NeededWords:
    """The words that a text must have to match a form, told by the form."""

    grammar: DateForms

    def of(self, branches: tuple[tuple[Part, ...], ...]) -> list[frozenset[str]]:
        """Return lists of words: what matches one of these branches has one word of each list."""
        needed = [list(self._needs_in_order(branch)) for branch in branches]
        if len(needed) == 1:
            return needed[0]
        return [frozenset().union(*(min(some, key=len) for some in needed))] if all(needed) else []

    def _needs_in_order(self, parts: tuple[Part, ...]) -> Iterator[frozenset[str]]:
        for at, part in enumerate(parts):
            if part.kind == "text":
                before = at > 0 and self._may_glue(parts[at - 1], -1)
                after = at + 1 < len(parts) and self._may_glue(parts[at + 1], 0)
                for word in _WORD.finditer(part.value):
                    if not (before and word.start() == 0) and not (after and word.end() == len(part.value)):
                        yield frozenset((word[0],))
            elif part.kind == "group":
                yield from self.of(part.branches)
            elif part.kind == "sign" and (part.value == r"\d" or re.fullmatch(r"\[[\d-]+\]", part.value)):
                yield frozenset((DIGIT,))
            elif part.kind == "slot":
                yield from self._needs_of_slot(part.words or part.value)

    def _may_glue(self, part: Part, side: int) -> bool:
        """Return whether the side of a part may be letters of the word beside it."""
        if part.kind == "text":
            return part.value[side].isalpha()
        if part.kind == "optional" and part.branches[0] == (Part("text", " "),):
            return True
        if part.kind in ("group", "optional"):
            return any(not branch or self._may_glue(branch[side], side) for branch in part.branches)
        if part.kind == "slot" and part.value in self.grammar.pieces:
            return any(
                not branch or self._may_glue(branch[side], side) for branch in parsed(self.grammar.pieces[part.value])
            )
        return part.kind == "slot" or (part.kind == "sign" and part.value not in (r"\b", r"\d"))

    def _needs_of_slot(self, name: str) -> list[frozenset[str]]:
        if name not in self._needed:
            form = self.grammar.pieces.get(name) or self.grammar.own.get(name)
            if form is not None:
                self._needed[name] = self.of(parsed(form))
            elif name in self.grammar.sources:
                self._needed[name] = [frozenset((DIGIT,))]
            else:
                words = [max(_WORD.findall(word) or [""], key=len) for word in self.grammar.listed(name)]
                known = frozenset(words) | {f"{word}s" for word in words}
                digits = {DIGIT} if any(map(str.isdigit, "".join(self.grammar.listed(name)))) else set()
                self._needed[name] = [known | digits] if all(words) or digits else []
        return self._needed[name]

    @cached_property
    def _needed(self) -> dict[str, list[frozenset[str]]]:
        return {}


# ---- Where a long text is worth looking at

SHORT = 400  # characters of a text that is looked through as a whole
WINDOW_REACH = 80  # characters before and after the beginning of a needed word within which a match with it lies
_WORD_OR_DIGITS = re.compile(r"[a-z]+|\d+")


def windows(folded: str, needed: frozenset[str]) -> Callable[[Form], list[tuple[int, int]]]:
    """Return a function from a form to the ranges of a folded text around the rarest words it needs."""
    if len(folded) <= SHORT:
        return lambda _: [(0, len(folded))]
    places: dict[str, list[int]] = {}
    for match in _WORD_OR_DIGITS.finditer(folded):
        if (word := match[0]) in needed or word.isdigit():
            places.setdefault(DIGIT if word.isdigit() else word, []).append(match.start())

    @cache
    def starts(words: frozenset[str]) -> list[int]:
        return sorted(start for word in places.keys() & words for start in places[word])

    @cache
    def around(words: frozenset[str]) -> list[tuple[int, int]]:
        return list(_merged(starts(words), len(folded)))

    def of(form: Form) -> list[tuple[int, int]]:
        return around(min(form.needs, key=lambda some: len(starts(some)))) if form.needs else [(0, len(folded))]

    return of


def _merged(starts: Iterable[int], end: int) -> Iterator[tuple[int, int]]:
    first = last = -1
    for start in starts:
        if start - WINDOW_REACH > last >= 0:
            yield first, last
            first = -1
        first = max(0, start - WINDOW_REACH) if first < 0 else first
        last = min(end, start + WINDOW_REACH)
    if last >= 0:
        yield first, last


def standing_alone(source: str, words: DateWords) -> re.Pattern[str]:
    """Return the pattern of a whole word; where there are no spaces, of one that is no part of a number."""
    if not words.spaced:
        return re.compile(rf"(?<!\d)(?:{source})")
    code = words.language.code
    letter = f"[{LETTER}]" if code in ("hi", "ar") else r"\w"
    start = f"(?:(?<!{letter})|(?<=(?<!{letter}){_ARABIC_PREFIX}))" if code == "ar" else f"(?<!{letter})"
    return re.compile(f"{start}(?:{source})(?!{letter})")


@cache
def grammar(code: str) -> DateGrammar:
    """Return what the language of a code says of times."""
    return DateGrammar(date_words(code))
