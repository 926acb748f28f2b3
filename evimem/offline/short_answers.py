"""Short answers: an own detail looked up among the slots of the facts that were found, or the date of an event.

What a person says of themselves outranks what others say of them, whose later reports may contradict it. A value is
told only where nothing else could be meant: one owner, one value at a time. A detail is said not to be stated only
where no turn speaks of anything like it. A date is told where the one sentence that matches best has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from ..extract.own_words import outside, passed_on
from ..extract.slots import (
    USER,
    AskedSlot,
    StatedSlot,
    asked_slot,
    is_named,
    may_be_same,
    slots_of,
)
from ..extract.tagging import lemma
from ..judging.evidence import View
from ..lang import ENGLISH
from ..text.names import contrasted, synonyms
from ..text.sentences import sentences
from ..text.terms import STOP_WORDS, stem, words
from ..times import Conventions, Located, locate_times, mentions_time
from ..times.lexicon import FULL_WEEKDAYS, SIMPLE_NUMBERS, TENS
from ..times.render import date, day_of_year, render
from ..types.results import Citation
from ..types.stored import EVERYTHING
from ..types.values import Fact, Gap, TimeSpan, Turn
from .matching import Match, Matches, in_order, is_assistant, mentions, places, strength, word_vector

_any = ENGLISH.any_of


CURRENCY = r"$\u00a3\u20ac\u20a6\u20b9\u00a5"  # signs of it, for a set of characters
_SPELLED = "|".join(
    (
        *TENS,
        *ENGLISH.words("questions.large_numbers"),
        *(word for word, number in SIMPLE_NUMBERS.items() if 0 < number <= 20),
    )
)
NUMBER = rf"(?:\d+(?:[.,]\d+)*|(?:{_SPELLED})(?:[- ](?:and[- ])?(?:{_SPELLED}))*)"
ABOUT = rf"(?:{_any('questions.approximately')}\s+)?"
MONEY = re.compile(
    rf"[{CURRENCY}]\s?[-\u2212]?\d+(?:[.,]\d+)*(?:\s?(?:k|million))?"
    rf"|\b{_any('questions.money_codes')}\b\.?\s?[-\u2212]?\d+(?:[.,]\d+)*"
    rf"|\b\d+(?:[.,]\d+)*\s?k?\s?[{CURRENCY}\u00a2]"
    rf"|\b{NUMBER}\s*(?:{_any('questions.currencies')}|(?:{'|'.join(ENGLISH.words('questions.money_units'))}))\b",
    re.IGNORECASE,
)
SIZE = re.compile(
    rf"\b{ABOUT}{NUMBER}(?:\s*(?:x|by)\s*{NUMBER})?[\s-]*"
    r"(?:square\s+)?(?:mm|cm|km|m\u00b2|m|(?:centi|kilo|milli)?met(?:er|re)s?|inch(?:es)?|foot|feet|ft|yards?|miles?|acres?"
    rf"|hectares?|lit(?:er|re)s?)\b(?:\s+(?:{_any('questions.dimensions')}|away))?"
    rf"(?:\s+(?:and|by)\s+{NUMBER}\s+{_any('questions.dimensions')}\b)?",
    re.IGNORECASE,
)


_AKIN = 0.45  # cosine from which one noun may be said for another
_BESIDE = frozenset(("name", "birthday", "weight"))  # told in the turn beside the one that says of whom
_SEVERAL = 3  # values that are told of an attribute that has several
_NARROWER = {
    **ENGLISH.lists("word_classes.relatives.narrower"),
    "partner": ENGLISH.lists("kinds.instances")["spouse partner"],
}
_FAVOURITE = "favourite "
_PLAIN = frozenset(("state", "event"))  # kinds of facts that are neither hedged, heard, wished nor thought
_PAST_TENSE = frozenset(ENGLISH.words("slots.nouns.past_tense"))
_REST_OF_ADDRESS = re.compile(r"(?:, (?:[A-Z]\w+|\d[\w ]*\d)(?: [A-Z]\w+)*)+")  # ", Leeds"
_AGED = timedelta(days=183)  # after which an age is quoted
_EMPTY = STOP_WORDS.union(ENGLISH.words("questions.empty_replies"))
_MARKUP = re.compile(r"[*_`#|<>{}\[\]]")
# What belongs to an amount, so that a value beside it is only a part: "120 k" of "120 k\u20ac".
_AMOUNT_BEFORE = re.compile(
    rf"(?:[{CURRENCY}]\s?|(?:^|\s)[\-\u2212\u2013]|\b{ENGLISH.any_of('questions.bounds')}\s+)$", re.IGNORECASE
)
_AMOUNT_AFTER = re.compile(rf"\s?[\d%{CURRENCY}\u00a2]")
# What narrows a value, or goes on with its name: "Springfield, Illinois", "vegetarian but I eat fish". And the next of
# a list, where no word like "the" or "so" shows another clause.
_GOES_ON = re.compile(r",? (?:but|or|except|unless|apart from|other than)\b|, (?!I\b)[A-Z]")
_NEXT = re.compile(r"(?:,|,? (?:and|&|plus|as well as)) (?P<word>[\w-]+)")
_LOOK_BACK = 30  # characters before a value that may belong to it
Owners = Set[tuple[str, ...]]
_WEEKDAY_NAMES = [name.capitalize() for name in FULL_WEEKDAYS]
_FINE = ("minute", "hour", "day")
# The forms of a question for a time, and how fine a date must be for each; the first pattern found decides.
_GRANULAR = {
    "weekday": _FINE,
    "month": (*_FINE, "month"),
    "year": (*_FINE, "month", "year"),
    "day": _FINE,
    "when": (*_FINE, "weekend", "week", "month", "year", "season"),
}
_ABOUT = 0.5  # how far the sentence must be about the one who is asked about
_RIVAL = 0.6  # share of its strength from which another sentence with another date speaks against it
_SOON = timedelta(days=14)  # after which "it" is something else
_FORM_WORDS = frozenset(ENGLISH.words("asked_dates.form_words"))
_DID = re.compile(r"\bdid\b", re.IGNORECASE)
_STATED_YEAR = re.compile(r"\d{4}")
_MEASURED = re.compile(r"[-\u2212]?\d[\d.,]*\s?\w*")  # a number of the question with its unit


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """A short answer that the evidence states.

    Attributes:
        text: The answer, without markup.
        citations: The characters that state it, and those that stated the value before it.
        time: The interval that it states, if it states one.
        steps: What was computed, in words.
        query: What to search for once more, because it may have changed since; empty where that is not likely.
        conflict: The later reports of others that contradict it, where it rests on a person's own word.
    """

    text: str
    citations: tuple[Citation, ...]
    time: TimeSpan | None = None
    steps: tuple[str, ...] = ()
    query: str = ""
    conflict: Conflict | None = None


@dataclass(frozen=True, slots=True)
class NotStated:
    """An asked detail that is not told.

    Attributes:
        gap: What nothing states, as a phrase for people; empty where something may state it that no rule reads.
        query: The next one to search for; may be empty.
    """

    gap: str
    query: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """What a gap says of values that exclude each other, and the characters that state the other ones."""

    gap: Gap
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Detail:
    """A value of a slot as somebody told it: characters of a turn.

    `over` is whether it held once, `plain` whether it is neither hedged nor heard.
    """

    text: str
    turn: Turn
    span: tuple[int, int]
    over: bool
    plain: bool

    @property
    def citation(self) -> Citation:
        """The characters as a citation."""
        return Citation(self.turn.id, self.span, self.text)

    @property
    def phrase(self) -> str:
        """Who told what, and when."""
        said = self.turn.time
        return f"{self.turn.speaker} said {self.text} on {said.day} {said:%B} {said.year}"


Stated = Sequence[tuple[StatedSlot, Detail]]
UNCLEAR: Final = NotStated("")


def own_detail(view: View) -> ShortAnswer | NotStated | None:
    """Return the detail that is asked for, or that it is not stated; None where the question asks for none.

    `UNCLEAR` where something may be the detail, and nothing says for sure that it is.
    """
    asked = asked_slot(view.analysis.question)
    if asked is None:
        return None
    row = asked.row
    query = f"{asked.spoken} {row.search}" if row is not None and row.search else ""
    stated = list(_stated(view))
    owners = _owners(view, asked, stated)
    mine = [detail for slot, detail in stated if slot.name == asked.name and slot.owner in owners]
    if asked.name == "name" and len(asked.owner) == 1:
        mine = [detail for detail in mine if not mentions(asked.spoken, detail.text)]
    if owners and not mine:
        return _unstated(view, asked, owners, stated, query)
    several = row is not None and not row.one
    told, before = _values(view, asked, owners, mine, several=several)
    if not told or not all(_is_value(one, several=several) for one in told) or _has_passed(view, asked, told[0]):
        return UNCLEAR
    cited = tuple(one.citation for one in (*told, *before))
    against = None if several else _conflict(view, asked, told[0], mine)
    changing = query if row is not None and row.one else ""
    return ShortAnswer(", ".join(one.text for one in told), cited, query=changing, conflict=against)


def _unstated(view: View, asked: AskedSlot, owners: Owners, stated: Stated, query: str) -> NotStated | None:
    """Return what is known of a detail that no fact states: that something hints at it, or that nothing says it."""
    about = [turn for turn in in_order(view) if not is_assistant(turn) and _speaks_of(view, asked, owners, turn)]
    called = {word for slot, one in stated if slot.name == "name" for word in words(one.text)}
    called |= {word for person in view.speakers for word in words(person)}
    taken = {(one.turn.id, word) for slot, one in stated if slot.name == asked.name for word in words(one.text)}
    if _is_hinted(asked, about, taken, called if asked.name == "name" else frozenset()):
        return UNCLEAR
    row = asked.row
    if row is None and not asked.name.startswith(_FAVOURITE) and (len(asked.owner) == 1 or about):
        return None
    what = row.gap if row is not None else asked.noun or asked.name
    mine = len(asked.owner) == 1 and asked.owner[0] == USER
    return NotStated(f"nothing says your {what}" if mine else f"nothing says the {what} of {asked.spoken!r}", query)


def _values(
    view: View, asked: AskedSlot, owners: Owners, mine: Sequence[Detail], *, several: bool
) -> tuple[Sequence[Detail], Sequence[Detail]]:
    """Return the values to tell, newest first, and the one before where only one holds; none where it is not sure."""
    people = view.analysis.asked
    own = [one for one in mine if one.turn.speaker in people]
    is_hearsay = not own and not owners.isdisjoint((person.casefold(),) for person in people)
    is_part = asked.plural or (asked.noun and asked.name in ("like", "dislike"))
    if is_hearsay or is_part:  # others say it of who could say it; or only some of what is liked is asked for
        return (), ()
    said = own or mine
    now = [one for one in said if not one.over]
    if view.analysis.past:
        said = [one for one in said if one.over or (now and not may_be_same(one.text, now[0].text))]
    elif now:
        said = now
    elif view.scope == EVERYTHING and _PAST_TENSE.isdisjoint(words(view.analysis.question)):
        return (), ()  # it held once
    distinct: dict[str, Detail] = {}
    for one in said:
        distinct.setdefault(one.text.casefold(), one)
    values = list(distinct.values())
    if several:
        return values[:_SEVERAL], ()
    rivals = [one for one in values[1:] if not may_be_same(one.text, values[0].text)]
    return ((), ()) if any(one.turn.id == values[0].turn.id for one in rivals) else (values[:1], rivals[:1])


def _conflict(view: View, asked: AskedSlot, own: Detail, mine: Iterable[Detail]) -> Conflict | None:
    """Return how reports contradict a person's own word; None where none does.

    A report contradicts it that was told after it, plainly, and gives another value. Of one speaker the last counts.
    """
    if own.turn.speaker not in view.analysis.asked or view.analysis.past:
        return None
    at = places(view)
    later = [one for one in mine if one.turn.speaker != own.turn.speaker and at[one.turn.id] > at[own.turn.id]]
    last = {one.turn.speaker: one for one in sorted(later, key=lambda one: (at[one.turn.id], one.span))}
    against = [one for one in last.values() if one.plain and not one.over and _excludes(asked, own, one)]
    if not against:
        return None
    text = "; ".join(one.phrase for one in (own, *against))
    return Conflict(Gap("conflict", own.turn.speaker, text), tuple(one.citation for one in against))


def _excludes(asked: AskedSlot, own: Detail, other: Detail) -> bool:
    """Return whether two values exclude each other: neither "Leeds" and "a flat in Leeds" nor "Leeds" and "a flat".

    Two ages may both be right, where a birthday lies between the turns that state them.
    """
    if asked.name == "age" and own.text.isdigit() and other.text.isdigit():
        return abs(int(other.text) - int(own.text)) > 1
    return is_named(own.text) == is_named(other.text) and not may_be_same(own.text, other.text)


def _is_value(detail: Detail, *, several: bool) -> bool:
    """Return whether a value names something and is whole: no interjection, markup, part of a list or an amount."""
    text, (start, end) = detail.turn.text, detail.span
    last = detail.text.split()[-1:]
    if (last and last[0] in STOP_WORDS) or set(words(detail.text)) <= _EMPTY or _MARKUP.search(detail.text):
        return False
    cut = text[start].isdigit() and _AMOUNT_BEFORE.search(text, max(0, start - _LOOK_BACK), start)
    if cut or _AMOUNT_AFTER.match(text, end) or _GOES_ON.match(text, end):
        return False
    listed = _NEXT.match(text, end) if several else None
    return listed is None or listed["word"].lower() in STOP_WORDS


def _has_passed(view: View, asked: AskedSlot, told: Detail) -> bool:
    """Return whether a birthday may lie between an age and the question for it, so that only its date says how old."""
    return asked.name == "age" and view.asked_at is not None and view.asked_at - told.turn.time >= _AGED


def _stated(view: View) -> Iterator[tuple[StatedSlot, Detail]]:
    """Yield the slots that facts of the shown turns fill, the newest turn's first."""
    place = places(view)
    for item in sorted(view.shown, key=lambda item: place[item.turn.id], reverse=True):
        if is_assistant(item.turn):
            continue
        for fact in item.facts:
            for slot in slots_of(fact):
                at = _place(item.turn, fact, slot.value)
                if at is not None:
                    over = slot.over or fact.replaced_by is not None
                    yield slot, Detail(item.turn.text[slice(*at)], item.turn, at, over, fact.kind in _PLAIN)


def _place(turn: Turn, fact: Fact, value: str) -> tuple[int, int] | None:
    """Return where a turn says a value of a fact; None where it says it in other words, as of "my" for "user's"."""
    at = turn.text.find(value, *fact.span)
    more = _REST_OF_ADDRESS.match(turn.text, at + len(value)) if at >= 0 and value[0].isdigit() else None
    return (at, more.end() if more is not None else at + len(value)) if at >= 0 else None


def _owners(view: View, asked: AskedSlot, stated: Stated) -> set[tuple[str, ...]]:
    """Return whom an asked owner means: by what they are of whom, and by their names."""
    root, *things = asked.owner
    found: set[tuple[str, ...]]
    if root == USER:
        found = {(person.casefold(),) for person in view.analysis.asked} if len(view.analysis.asked) == 1 else set()
    else:
        found = _called(view, root, stated)
    known = {slot.owner for slot, _ in stated}
    for thing in things:
        meant = meanings(thing)
        found = {
            *((*owner, thing) for owner in found),
            *(one for one in known if one[:-1] in found and stem(one[-1].split()[-1]) in meant),
        }
    names = {detail.text.casefold() for slot, detail in stated if slot.name == "name" and slot.owner in found}
    return found | {(name,) for name in names if len(found) and things}


def _called(view: View, root: str, stated: Stated) -> set[tuple[str, ...]]:
    """Return the owners who go by a name; none where two do, who could both be meant."""
    people = {(one.casefold(),) for one in view.speakers if set(words(root)) <= set(words(one))}
    named = {slot.owner for slot, one in stated if slot.name == "name" and mentions(one.text, root)} - people
    if len(people) + len(named) > 1:
        return set()
    whole = set(words(root))
    short = {slot.owner for slot, _ in stated if len(slot.owner) == 1 and set(words(slot.owner[0])) < whole}
    alone = [(one,) for (one,) in short if sum(set(words(one)) <= set(words(other)) for other in view.speakers) == 1]
    return {(root,), *people, *named, *alone}


def meanings(noun: str) -> frozenset[str]:
    """Return the stems of what a noun that is asked for may be called; the last word counts: "cello teacher"."""
    noun = noun.rpartition(" ")[2]
    one = lemma(noun) if noun.endswith("s") and not noun.endswith("ss") else noun
    own = (stem(noun), stem(one), *synonyms(stem(one)))
    return frozenset((*own, *(stem(word) for word in _NARROWER.get(one, ()))))


def _is_hinted(asked: AskedSlot, about: Sequence[Turn], taken: Set[tuple[str, str]], called: Set[str]) -> bool:
    """Return whether a turn that speaks of the owner holds what could be the detail and is nobody else's.

    `taken` are words of turns that are the same detail of another, `called` the names of those who are known.
    """
    row = asked.row
    for turn in about:
        own = (turn.text[start:end] for start, end in outside(sentences(turn.text), passed_on(turn.text)))
        text = " ".join(sentence for sentence in own if not sentence.endswith("?"))
        said = [word for word in words(text) if word not in STOP_WORDS and (turn.id, word) not in taken]
        if row is None:
            nouns = words(asked.name.removeprefix(_FAVOURITE))
            if any(_is_akin(noun, word) for noun in nouns for word in said):
                return True
            continue
        if not row.words.isdisjoint(map(stem, said)) or (row.changes is not None and row.changes.search(text)):
            return True
        looks = row.looks.finditer(text) if row.looks is not None else ()
        for found in looks:
            like = words(found[0])
            if called.isdisjoint(like) and taken.isdisjoint((turn.id, word) for word in like):
                return True
    return False


def _speaks_of(view: View, asked: AskedSlot, owners: Owners, turn: Turn) -> bool:
    """Return whether a turn, or one beside it, says who the owner is; one's own turns speak of oneself."""
    if len(asked.owner) == 1 and (asked.owner[0] == USER or turn.speaker in view.analysis.asked):
        return turn.speaker in view.analysis.asked
    around = view.context.get(turn.id, (turn,)) if asked.name in _BESIDE else (turn,)
    place = next((place for place, one in enumerate(around) if one.id == turn.id), 0)
    text = " ".join(one.text for one in around[max(0, place - 1) : place + 2])
    said = [word for word in words(text) if word not in STOP_WORDS]
    stems, things = set(map(stem, said)), asked.row is not None and asked.row.of_things  # which may go by their make

    def is_meant(noun: str) -> bool:
        return any(_is_akin(noun, word) for word in said) if things else not meanings(noun).isdisjoint(stems)

    if len(asked.owner) > 1 and all(map(is_meant, asked.owner[1:])):
        return True
    return any(mentions(text, owner[0]) for owner in owners if len(owner) == 1)


def _is_akin(asked: str, said: str) -> bool:
    """Return whether a word may be said for a noun, as the more special one or of it: a labrador for a dog."""
    noun = asked.rpartition(" ")[2]
    return stem(said) in meanings(asked) or float(word_vector(noun) @ word_vector(said)) >= _AKIN


def _compiled(lists: Mapping[str, Sequence[str]]) -> dict[str, re.Pattern[str]]:
    return {name: re.compile("|".join(patterns), re.IGNORECASE) for name, patterns in lists.items()}


_FORMS, _PATTERNS = _compiled(ENGLISH.lists("asked_dates.forms")), _compiled(ENGLISH.lists("asked_dates.patterns"))
_YEARLY, _BORN, _NOT_STATED, _ANCHORED, _CORRECTS = (
    _PATTERNS[name] for name in ("yearly", "born", "not_stated", "anchored", "corrects")
)


def date_of_event(view: View, matches: Matches, conventions: Conventions) -> ShortAnswer | None:
    """Return the date that is asked for; None unless the best sentence, and the dialogue around it, say what is asked.

    It must have one date, and nothing like "after" or "because" that may tie the date to something else, and no other
    sentence that is nearly as good may have another.
    """
    question = view.analysis.question
    form = next((form for form, pattern in _FORMS.items() if pattern.search(question)), None)
    stating = [m for m in matches.ranked if m.shown and not m.unit.asks and not m.unit.caption]
    if form is None or _NOT_STATED.search(question) or not stating:
        return None

    def dates_in(m: Match) -> list[Located]:
        turn, (start, end) = m.unit.turn, m.unit.span
        times = view.kept(("times", turn.id), lambda: locate_times(turn.text, turn.time, conventions))
        return [one for one in times if start <= one.start < end and one.time.start is not None]

    def is_asked_for(one: Located, m: Match) -> bool:
        past = one.time.start is not None and one.time.start.date() <= m.unit.turn.time.date()
        return (one.time.granularity in _GRANULAR[form] or _is_short(one.time)) and (past or not _DID.search(question))

    best = max(stating, key=strength)
    dates, yearly = dates_in(best), _is_yearly(view)
    if (
        len(dates) != 1
        or not is_asked_for(dates[0], best)
        or not _is_of(view, best, matches)
        or _ANCHORED.search(best.unit.text)
    ):
        return None
    time, turn = dates[0].time, best.unit.turn
    rivals = (m for m in stating if m is not best and strength(m) >= _RIVAL * strength(best))
    others = (one.time for m in rivals for one in dates_in(m) if is_asked_for(one, m))
    if any(_day(one, yearly) != _day(time, yearly) for one in others) or _is_corrected(best, matches):
        return None
    span = dates[0].start, dates[0].end
    citation = Citation(turn.id, span, turn.text[slice(*span)])
    text = _worded(form, time, turn, yearly=yearly)
    return ShortAnswer(text, (citation,), time, (f"{citation.quote!r}, said on {turn.time:%Y-%m-%d}",))


def _day(time: TimeSpan, yearly: bool) -> tuple[int, ...]:  # noqa: FBT001
    """Return the first day of a time, without its year where it comes every year."""
    return () if time.start is None else (time.start.year * (not yearly), time.start.month, time.start.day)


def _is_of(view: View, best: Match, matches: Matches) -> bool:
    """Return whether a sentence is a person's own, about the one asked about, and leaves nothing asked unsaid."""
    turn = best.unit.turn
    others = view.kept(("passed on", turn.id), lambda: passed_on(turn.text))
    own = not is_assistant(turn) and best.own >= _ABOUT and bool(outside([best.unit.span], others))
    measured = all(
        re.search(rf"(?<![\d\-\u2212]){re.escape(found[0])}\b", best.unit.text, re.IGNORECASE)
        for found in _MEASURED.finditer(matches.analysis.question)
    )
    if not own or not measured or best.outdated or best.unsaid - _FORM_WORDS:
        return False
    return not contrasted(map(stem, matches.weights), set(map(stem, best.unit.words)))


def _is_corrected(best: Match, matches: Matches) -> bool:
    """Return whether a sentence soon after gives another time for what it calls "it"."""
    said = best.unit.turn.time
    later = (m.unit for m in matches.ranked if timedelta() <= m.unit.turn.time - said <= _SOON and not m.unit.asks)
    return any(unit is not best.unit and _CORRECTS.search(unit.text) and mentions_time(unit.text) for unit in later)


def _is_yearly(view: View) -> bool:
    """Return whether a day is asked for that comes every year."""
    question, people = view.analysis.question, {word for name in view.analysis.asked for word in words(name)}
    born = _BORN.search(question)
    return _YEARLY.search(question) is not None or (born is not None and {*words(born["who"])} <= people | {"i"})


def _is_short(time: TimeSpan) -> bool:
    """Return whether a span lies in one day or night: "last night"."""
    return time.start is not None and time.end is not None and time.end - time.start < timedelta(hours=24)


def _worded(form: str, time: TimeSpan, turn: Turn, *, yearly: bool) -> str:
    """Return a time as coarsely as the question asks for it."""
    assert time.start is not None
    if form == "weekday":
        return _WEEKDAY_NAMES[time.start.weekday()]
    if form == "year":
        return f"{time.start.year}"
    if form == "month":
        return f"{time.start:%B %Y}"
    if yearly and time.granularity in _FINE and not _STATED_YEAR.search(time.text):
        return day_of_year(time.start)
    return date(time.start) if _is_short(time) else render(time, turn.time, "day")
