"""The attribute that a question asks for, looked up in what the evidence states of its owner: stated, or not stated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from typing import TypeAlias

from ...extract.verbs import lemma
from ...judging.evidence import View
from ...lang import ENGLISH
from ...protocols import Extractor
from ...text.terms import stem, words
from ...types.values import Fact, Turn
from ..sentence_units import addressee, is_assistant
from .asked_attribute import Attribute, attribute_of
from .clauses import names_in, read_turn
from .entities import People, StatedValue, Thing
from .indirect_mentions import is_hinted
from .literal_values import noun_of
from .phrases import LOOSE, POSSESSIVE, Phrase, phrases
from .tag_sets import AUXILIARY_OR_FIRST_PERSON
from .tagged_turn import TaggedTurn, extent, reading
from .word_classes import akin, same_noun, singular

_APART = timedelta(hours=3)  # turns further apart belong to different conversations
_PLAIN = frozenset(ENGLISH.words("attributes.plain"))
CHECKED = frozenset(ENGLISH.words("attributes.checked"))
_NAMES = ENGLISH.table("attributes.gap_names")
_TITLES = frozenset(ENGLISH.words("people.honorifics"))
_VAGUE = frozenset(ENGLISH.words("attributes.vague_people"))
_FAVOURITE = frozenset(ENGLISH.words("attributes.favourite"))
_FAVOURITE_STEMS = frozenset(map(stem, _FAVOURITE))
_SINGLE = frozenset(ENGLISH.words("attributes.single"))
_AGE = re.compile(r"\d+")
_YEAR = timedelta(days=365.25)
_SEVERAL = 3  # values given for an attribute that has more than one
_MOST_NAMES = 6


@dataclass(frozen=True, slots=True)
class Stated:
    """An attribute and its statements, newest first; none where the evidence does not state it."""

    attribute: Attribute
    said: tuple[StatedValue, ...]
    hinted: bool = False  # something that could be a value of it occurs, unattributed
    given_up: str = ""  # what was done once and no longer, where nothing else is stated
    reports: tuple[StatedValue, ...] = ()  # what others state of one whose participant states it too

    @property
    def outcome(self) -> float:
        """1 where the attribute is stated, -1 where it is not stated, 0 where that cannot be checked."""
        if self.said:
            return 1.0
        if self.given_up:
            return -1.0
        return -1.0 if self.attribute.kind in CHECKED and not self.hinted else 0.0

    @property
    def gap(self) -> str:
        """What is missing, in words."""
        kind, noun = self.attribute.kind, self.attribute.noun
        whose = "you" if self.attribute.of.pronoun == "i" else repr(self.attribute.spoken)
        if self.given_up:
            return f"only what {whose} gave up is stated: {self.given_up}"
        what = noun if kind in ("have", "attribute") else f"favourite {noun}" if kind == "favourite" else kind
        what = _NAMES.get(what, what)
        return f"nothing says your {what}" if whose == "you" else f"nothing says the {what} of {whose}"

    @property
    def wording(self) -> tuple[StatedValue, ...]:
        """The statements that answer: one, or several where the question asks for all."""
        distinct: dict[str, StatedValue] = {}
        for one in self.said:
            distinct.setdefault(one.text.casefold(), one)
        if self.attribute.kind == "name" and self.attribute.of.plural:
            return tuple(sorted(distinct.values(), key=lambda one: (one.turn.time, one.span)))[:_MOST_NAMES]
        several = self.attribute.kind in ("like", "dislike", "allergy") or _plural(self.attribute.noun)
        return tuple(distinct.values())[: _SEVERAL if several else 1]


def stated(view: View, attribute: Attribute, extractor: Extractor) -> Stated:
    """Return what the evidence states of an attribute."""
    ordered = in_order(view)
    places = {turn.id: place for place, turn in enumerate(ordered)}
    people = _people(view, ordered, extractor)
    owners = list(_meant(people, attribute.of, view))
    shown = {item.turn.id for item in view.shown}
    of_each = [[one for one in _of_one(people, attribute, thing) if one.turn.id in shown] for thing in owners]
    said = [one for of_one in of_each for one in of_one]
    said.sort(key=lambda one: (places[one.turn.id], one.span), reverse=True)
    found = tuple(_in_force(said, past=view.analysis.past))
    if found:
        return Stated(attribute, found, reports=tuple(_reports(view, attribute, of_each)))
    gone = [one.text for thing in owners for one in _of_kind(thing, f"not {lemma(attribute.verb)}") if attribute.verb]
    return Stated(attribute, (), is_hinted(view, attribute, people, owners), gone[-1] if gone else "")


def _plural(noun: str) -> bool:
    return noun.endswith("s") and not noun.endswith("ss")


def _in_force(said: Sequence[StatedValue], *, past: bool) -> Sequence[StatedValue]:
    """Return what holds, newest first; or what held before, where the past is asked about."""
    now = [one for one in said if not one.over]
    if not past:
        return now or said
    return [one for one in said if one.over or (now and one.text.casefold() != now[0].text.casefold())]


def _reports(view: View, attribute: Attribute, of_each: Sequence[Sequence[StatedValue]]) -> Iterator[StatedValue]:
    """Yield what others state, as of now, of a person or thing of which those asked about state one value too."""
    if attribute.kind not in _SINGLE or view.analysis.past:
        return
    for of_one in of_each:
        own = [one for one in of_one if one.turn.speaker in view.analysis.asked and not one.over]
        others = [one for one in of_one if one.turn.speaker not in view.analysis.asked and not one.over]
        if own:
            yield from (one for one in others if attribute.kind != "age" or not _has_aged(own[-1], one))


def _has_aged(own: StatedValue, other: StatedValue) -> bool:
    """Return whether two ages may both be right, because years lie between the turns that state them."""
    ages = [_AGE.search(one.text) for one in (own, other)]
    if ages[0] is None or ages[1] is None:
        return True
    grown = int(ages[1][0]) - int(ages[0][0])
    years = (other.turn.time - own.turn.time) / _YEAR
    return years - 1 < grown < years + 1


def in_order(view: View) -> list[Turn]:
    """Return the turns found, and those just before them, in the order they were said.

    The dialogue around them orders those of one time.
    """
    turns: dict[str, Turn] = {item.turn.id: item.turn for item in view.evidence}
    before: dict[str, Turn] = {}
    for turn_id, around in view.context.items():
        place = next((place for place, turn in enumerate(around) if turn.id == turn_id), 0)
        turns.update((turn.id, turn) for turn in around[:place])
        before.update((later.id, earlier) for earlier, later in pairwise(around) if earlier.time == later.time)

    def depth(turn: Turn) -> int:
        steps = 0
        while turn.id in before:
            turn, steps = before[turn.id], steps + 1
        return steps

    return sorted(turns.values(), key=lambda turn: (turn.time, turn.session, depth(turn)))


def _people(view: View, ordered: Sequence[Turn], extractor: Extractor) -> People:
    """Read the turns that an earlier check has not read, in their order."""
    facts = {item.turn.id: item.facts for item in view.evidence}
    people: People = view.memo.setdefault("people", People(view.speakers))
    new = [turn for turn in ordered if turn.id not in people.read]
    people.spelled |= names_in(reading(view, turn) for turn in new)
    for place, turn in enumerate(ordered):
        if turn.id in people.read:
            continue
        people.read.add(turn.id)
        tagged = reading(view, turn)
        before = ordered[place - 1] if place else None
        to = addressee(turn, ordered[max(0, place - 2) : place + 3])
        if is_assistant(turn):
            _hear(people, tagged, to)
            continue
        if before is not None and before.speaker != turn.speaker and turn.time - before.time < _APART:
            _reply(people, reading(view, before), tagged)
        read_turn(people, tagged, facts[turn.id] if turn.id in facts else _extracted(view, turn, extractor), to)
    return people


def _extracted(view: View, turn: Turn, extractor: Extractor) -> Sequence[Fact]:
    """Return the facts of a turn next to the evidence, which were not fetched, by the memory's own extractor."""
    return view.kept(("facts", turn.id), lambda: extractor.extract(turn))


def _hear(people: People, turn: TaggedTurn, to: str | None) -> None:
    """Note what an assistant mentions, for the pronouns after it; it states nothing of the user."""
    for sentence in turn.sentences:
        if people.vocabulary.isdisjoint(sentence.words):
            continue
        for phrase in phrases(sentence, 0, len(sentence.tags), people.spelled):
            known = None if phrase.new or phrase.pronoun else people.known(phrase, to or turn.turn.speaker)
            if known is not None:
                people.mention(known)


def _reply(people: People, before: TaggedTurn, turn: TaggedTurn) -> None:
    """Read "Peonies." after "What is your favourite flower?" as what it answers."""
    attribute = _asked(before)
    if attribute is None or not turn.sentences:
        return
    sentence = turn.sentences[0]
    if set(sentence.tags) & set(AUXILIARY_OR_FIRST_PERSON):
        return
    owner = people.meant(attribute.of, before.turn.speaker, turn.turn.speaker)
    found = next((p for p in phrases(sentence, 0, len(sentence.tags), people.spelled) if p.words or p.name), None)
    if owner is None or (found is None and attribute.kind != "age"):
        return
    first, last = (0, 1) if found is None or attribute.kind == "age" else (found.first, found.last)
    span = sentence.ranges[first][0], sentence.ranges[last - 1][1]
    kind = f"favourite {attribute.noun}" if attribute.kind == "favourite" else attribute.kind
    owner.said.append(StatedValue(kind, turn.turn.text[slice(*span)], turn.turn, span))


def _asked(turn: TaggedTurn) -> Attribute | None:
    """Return the attribute that the last question of a turn asks for."""
    spans = [extent(sentence) for sentence in turn.sentences if sentence.words[-1] == "?"]
    return attribute_of(turn.turn.text[slice(*spans[-1])]) if spans else None


def _meant(people: People, phrase: Phrase, view: View) -> Iterator[Thing]:
    """Yield who or what a phrase of the question may mean."""
    if phrase.pronoun:
        who = {"i": "user", "you": "assistant"}.get(phrase.pronoun)
        if who in people.speakers:
            yield people.speakers[who]
        return
    if phrase.owner is not None:
        for owner in list(_meant(people, phrase.owner, view)):
            yield from _of(people, phrase, owner)
        return
    for thing in people.things:
        named = bool(phrase.name) and thing.is_called(phrase.name)
        if named or (not phrase.name and phrase.head and thing.is_a(phrase.head) and _described(phrase, thing)):
            yield thing


def _of(people: People, phrase: Phrase, owner: Thing) -> Iterator[Thing]:
    """Yield what an owner has that a phrase may mean; a thing without an owner is the speaker's who mentioned it."""
    mine = [t for t in people.things if t.owner is owner]
    loose = [t for t in people.things if t.owner is None and owner.names and t.by == owner.names[0] and t is not owner]
    for group in (mine, loose):
        if phrase.name:
            found = [t for t in group if t.is_called(phrase.name)]
        else:
            nouns = [(t, [*t.heads, *map(str.casefold, t.names)]) for t in group if _described(phrase, t)]
            found = [t for t, known in nouns if any(akin(phrase.head, noun) for noun in known)]
        is_told = any(one.said and (one in found or one.owner in found) for one in people.things)
        if is_told or (found and group is loose):
            yield from found
            return


def _described(phrase: Phrase, thing: Thing) -> bool:
    """Return whether the other words of a phrase are said of a thing: "my front door" is not any door."""
    return all(word in LOOSE or stem(word) in thing.words for word in phrase.words[:-1])


def _of_one(people: People, attribute: Attribute, thing: Thing) -> Iterable[StatedValue]:
    """Return what is said of a thing that is of the kind asked for."""
    kind = attribute.kind
    if kind in _PLAIN:
        found = _of_kind(thing, kind)
        return [one for one in found if not attribute.which or _is_whole(one.text, attribute.which)]
    find = _FINDERS.get(kind)
    return find(people, attribute, thing) if find is not None else ()


def _of_kind(thing: Thing, *kinds: str) -> list[StatedValue]:
    return [one for one in thing.said if one.kind in kinds]


def _surname(_people: People, _attribute: Attribute, thing: Thing) -> list[StatedValue]:
    return [one for one in _of_kind(thing, "name") if _is_whole(one.text, "last")]


def _who(_people: People, attribute: Attribute, thing: Thing) -> list[StatedValue]:
    """Return the name of "my coach", or whose what "Bas" is: "my brother"."""
    asks_name = bool(attribute.of.words) and not attribute.of.name
    found = _of_kind(thing, "name" if asks_name else "who")
    said = [one for one in found if not set(words(one.text)) <= _VAGUE]
    return [one for one in said if words(one.text)[:1] and words(one.text)[0] in POSSESSIVE] or said


def _workplace(_people: People, _attribute: Attribute, thing: Thing) -> list[StatedValue]:
    left = [StatedValue("work", one.text, one.turn, one.span, over=True) for one in _of_kind(thing, "left")]
    return _of_kind(thing, "work") + left


def _trade(_people: People, attribute: Attribute, thing: Thing) -> list[StatedValue]:
    """Return a trade; where none is stated, what the person does or where, unless a title is asked for."""
    wider = ("does", "work") if attribute.kind == "job" else ()
    return next((found for kind in ("job", *wider) if (found := _of_kind(thing, kind))), [])


def _is_whole(name: str, which: str) -> bool:
    """Return whether a name has the part that is asked for: "Mr. Adeyemi" has no first name."""
    said = name.casefold().replace(".", "").split()
    titled = said[0] in _TITLES
    return not titled if which == "first" else titled or len(said) > 1


def _favourites(people: People, attribute: Attribute, thing: Thing) -> Iterator[StatedValue]:
    noun = attribute.noun.split()[-1]
    yield from (one for one in thing.said if one.kind == f"favourite {attribute.noun}")
    for other in people.things:
        for one in other.said:
            said = words(one.text)
            if one.kind == "who" and noun in said and _FAVOURITE & set(said):
                for name in other.names:
                    at = one.turn.text.find(name)
                    if at >= 0:
                        yield StatedValue("favourite", name, one.turn, (at, at + len(name)))
        if other.owner is thing and other.words & _FAVOURITE_STEMS and other.is_a(noun):
            yield from (one for one in other.said if one.kind in ("name", "brand", "kind"))


def _things_of(people: People, attribute: Attribute, thing: Thing) -> Iterator[StatedValue]:
    """Yield what a person has of a kind ("what car do I drive"), or does ("what does she eat")."""
    attribute = replace(attribute, noun=singular(attribute.noun))
    done = {f"do {lemma(attribute.verb)}"} if attribute.verb else set()
    given_up = {w for one in thing.said if one.kind == f"not {lemma(attribute.verb)}" for w in words(one.text)}
    for one in thing.said:
        noun_fits = not attribute.noun or any(akin(attribute.noun, word) for word in words(one.text))
        noun_fits = noun_fits and not set(map(stem, words(one.text))) <= set(map(stem, words(attribute.noun)))
        if one.kind in done and noun_fits and not given_up & set(words(one.text)):
            yield one
    if attribute.kind == "do":
        return
    for other in people.things:
        nouns = [*other.heads, *map(str.casefold, other.names)]
        if other.owner is thing and any(
            same_noun(attribute.noun, noun) or akin(attribute.noun, noun) for noun in nouns
        ):
            exact = any(same_noun(attribute.noun, noun) for noun in nouns)
            said = [one for one in other.said if one.kind in ("brand", "kind")] if exact else []
            yield from said or (one for one in thing.said if one.kind == f"has {other.heads[0] if other.heads else ''}")


def _literals(people: People, attribute: Attribute, thing: Thing) -> Iterator[StatedValue]:
    kind = f"is {noun_of(attribute.noun)}"
    yield from (one for other in people.things if other.owner is thing for one in other.said if one.kind == kind)


Finder: TypeAlias = Callable[[People, Attribute, Thing], Iterable[StatedValue]]
_FINDERS: dict[str, Finder] = {
    "surname": _surname,
    "who": _who,
    "work": _workplace,
    "job": _trade,
    "title": _trade,
    "favourite": _favourites,
    "have": _things_of,
    "do": _things_of,
    "attribute": _literals,
}
