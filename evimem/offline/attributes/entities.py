"""The people and things that a dialogue mentions, with what is stated of each: names, homes, trades, ages, colours.

People and things are distinguished by their owner: "my sister's dog" is not my dog. "He" and "it" refer to the last one
mentioned that they can refer to. Nothing is inferred; what cannot be attributed is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...lang import ENGLISH
from ...text.terms import stem
from ...types.values import Turn
from .phrases import Phrase
from .word_classes import gender, is_alive, is_person, meanings, stems

_UNITS = frozenset(ENGLISH.words("attributes.time_nouns"))
_LATELY = 8  # how many may be meant by a pronoun


@dataclass(frozen=True, slots=True)
class StatedValue:
    """One statement about a person or thing: its characters, and whether it was past when it was said."""

    kind: str
    text: str
    turn: Turn
    span: tuple[int, int]
    over: bool = False


@dataclass(eq=False, slots=True)
class Thing:
    """A person or thing. `heads` are the nouns it goes by, `words` the stems of all that is said of it.

    `stems` are those of the heads; `called` are the names and each word of them, in lower case.
    """

    owner: Thing | None = None
    by: str = ""
    heads: list[str] = field(default_factory=list)
    stems: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    names: list[str] = field(default_factory=list)
    called: set[str] = field(default_factory=set)
    pronoun: str = ""
    plural: bool = False
    said: list[StatedValue] = field(default_factory=list)

    def is_called(self, name: str) -> bool:
        """Return whether a name, or the first word of it, is one of its names."""
        return name.casefold() in self.called

    def is_a(self, head: str) -> bool:
        """Return whether it goes by a noun, or by one that stands for the same."""
        return not meanings(head).isdisjoint(self.stems)

    def goes_by(self, noun: str) -> None:
        """Add a noun that it goes by."""
        if noun and noun not in self.heads:
            self.heads.append(noun)
            self.stems |= stems(noun)

    def take_name(self, name: str) -> None:
        """Add a name."""
        if name and not self.is_called(name):
            self.names.append(name)
            self.called.update((name.casefold(), *name.casefold().split()))

    def can_be(self, pronoun: str) -> bool:
        """Return whether a pronoun may mean it."""
        if self.pronoun:
            return self.pronoun == pronoun
        known = next((found for found in map(gender, self.heads) if found), "")
        plural = self.plural
        if pronoun == "they":
            return plural
        if known or (pronoun in ("he", "she") and plural):
            return known == pronoun
        if pronoun == "it":
            return bool(self.heads) and not any(is_person(head) for head in self.heads)
        return bool(self.names and not self.heads) or any(is_alive(head) for head in self.heads)


class People:
    """Every person and thing mentioned so far, and the last ones mentioned."""

    def __init__(self, speakers: Sequence[str]) -> None:
        self.speakers: dict[str, Thing] = {}
        self.things: list[Thing] = []
        for name in speakers:
            self.speaker(name)
        self.read: set[str] = set()  # turns
        self.spelled: frozenset[str] = frozenset()  # words that are written as names
        self.vocabulary: set[str] = set()  # nouns and words of names
        self._lately: list[Thing] = []

    def speaker(self, name: str) -> Thing:
        """Return a speaker."""
        found = self.speakers.get(name.casefold())
        if found is None:
            found = self.speakers[name.casefold()] = Thing()
            found.take_name(name)
            self.things.append(found)
        return found

    def mention(self, thing: Thing) -> None:
        """Make a thing the first that a pronoun may refer to."""
        if not _UNITS.isdisjoint(thing.heads) or any(thing is speaker for speaker in self.speakers.values()):
            return
        self._lately = [thing, *(other for other in self._lately if other is not thing)][:_LATELY]

    def meant(self, phrase: Phrase, speaker: str, to: str | None) -> Thing | None:
        """Return what a phrase refers to, a new thing where it was not mentioned before; None for an unknown owner."""
        if phrase.pronoun:
            return self._by_pronoun(phrase.pronoun, speaker, to)
        owner = self.meant(phrase.owner, speaker, to) if phrase.owner else None
        if phrase.owner is not None and owner is None:
            return None
        found = next(self._known(phrase, owner, speaker), None)
        if found is None:
            found = Thing(owner, speaker)
            self.things.append(found)
        self._learn(found, phrase, owner)
        return found

    def give_name(self, thing: Thing, name: str) -> None:
        """Give a thing a name; what was known by that name alone is the same one."""
        for other in self.things:
            if other is not thing and not other.heads and other.owner is None and name in other.names:
                if other in self.speakers.values():
                    return
                self.things.remove(other)
                thing.said += other.said
                thing.words |= other.words
                thing.pronoun = thing.pronoun or other.pronoun
                for owned in self.things:
                    owned.owner = thing if owned.owner is other else owned.owner
                self._lately = [thing if one is other else one for one in self._lately]
                break
        thing.take_name(name)

    def known(self, phrase: Phrase, speaker: str) -> Thing | None:
        """Return what a phrase refers to where it was mentioned before: the speaker's, or one without an owner."""
        owner = self._by_pronoun(phrase.owner.pronoun, speaker, speaker) if phrase.owner else None
        if phrase.owner is None and not phrase.name:
            mine = self.speakers.get(speaker.casefold())
            return next(self._known(phrase, mine, speaker), None) or next(self._known(phrase, None, speaker), None)
        return next(self._known(phrase, owner, speaker), None)

    def _by_pronoun(self, pronoun: str, speaker: str, to: str | None) -> Thing | None:
        if pronoun == "i":
            return self.speaker(speaker)
        if pronoun == "you":
            return self.speaker(to) if to else None
        found = next((thing for thing in self._lately if thing.can_be(pronoun)), None)
        if found is not None and pronoun in ("he", "she", "it"):
            found.pronoun = found.pronoun or pronoun
        return found

    def person(self, pronoun: str) -> Thing | None:
        """Return the person, no animal, that a pronoun means first."""
        people = (one for one in self._lately if not one.heads or any(is_person(head) for head in one.heads))
        return next((one for one in people if one.can_be(pronoun)), None)

    def _known(self, phrase: Phrase, owner: Thing | None, speaker: str) -> Iterator[Thing]:
        if phrase.name:
            for thing in self.things:
                if thing.is_called(phrase.name) and (owner is None or thing.owner in (owner, None)):
                    yield thing
        if phrase.new or not phrase.head:
            return
        mine = owner is self.speaker(speaker)
        asked = meanings(phrase.head)
        for thing in reversed(self.things):
            if asked.isdisjoint(thing.stems) or (phrase.name and thing.names):
                continue
            unowned = thing.owner is None and thing.by == speaker and (mine or (owner is None and not phrase.name))
            anybodys = owner is None and thing.by == speaker and not phrase.name  # "the dog" is one mentioned before
            if thing.owner is owner or unowned or anybodys:
                yield thing

    def _learn(self, thing: Thing, phrase: Phrase, owner: Thing | None) -> None:
        thing.owner = thing.owner or owner
        thing.goes_by(phrase.head)
        self.vocabulary.update((phrase.head, *phrase.name.casefold().split()))
        thing.plural = thing.plural or phrase.plural
        thing.words.update(stem(word) for word in phrase.words)
        thing.take_name(phrase.name)
