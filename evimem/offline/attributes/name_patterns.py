"""Names, and what people are to one another: "my sister Amal", "a man called Bruno", "we named her Marmalade"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ...extract.tag_letters import Tag, TagSet
from ...extract.tagging import Tagged
from ...lang import ENGLISH
from ...types.values import Turn
from .entities import People, StatedValue, Thing
from .phrases import Phrase
from .statement import Clause, characters, without_determiner
from .tag_sets import LIST_BREAKS, LISTED, PREPOSITIONS

Mean: TypeAlias = Callable[[Phrase], "Thing | None"]
_PREPOSITIONS = tuple(PREPOSITIONS)
_CALLED = ENGLISH.words("grammar.naming_participles")
_BEFORE_NAME = frozenset((*_CALLED, *(f", {word}" for word in _CALLED)))
_PRO_NOUNS = frozenset(ENGLISH.words("attributes.pro_nouns"))


def named(turn: Turn, sentence: Tagged, phrase: Phrase, thing: Thing) -> None:
    """Record the name in "my sister Amal", and who she is."""
    if not phrase.name or not phrase.words or sentence.ranges[phrase.last - 1][1] > phrase.name_at[1]:
        return  # "the Fiat engine" names no engine
    first = before_name(sentence, phrase)
    thing.said.append(StatedValue("name", phrase.name, turn, phrase.name_at))
    if phrase.first < first < phrase.last:
        thing.said.append(_said("who", turn, characters(sentence, phrase.first, first)))


def before_name(sentence: Tagged, phrase: Phrase) -> int:
    """Return the token at which a name begins, with "called", that the words of a phrase lead to; else its end."""
    if not phrase.name or not phrase.words:
        return phrase.last
    first = min(place for place in range(phrase.first, phrase.last) if sentence.ranges[place][0] >= phrase.name_at[0])
    while first > phrase.first and sentence.words[first - 1] in _CALLED:
        first -= 1
    return first if first > phrase.first else phrase.last


def appositions(
    turn: Turn, sentence: Tagged, found: Sequence[Phrase], things: Sequence[Thing | None], mean: Mean
) -> None:
    """Read "my teacher, Ms. Brandt", "two cats, Saffron and Moritz", "a phone, a Fairphone"."""
    for place, (phrase, thing) in enumerate(zip(found, things, strict=True)):
        if thing is None or phrase.pronoun:
            continue
        for other, called in _following(sentence, phrase, found[place + 1 :]):
            only_name = other.name and not other.words and sentence.tags[other.first] not in TagSet.DETERMINERS
            if called or only_name:
                if not called and not _may_have_name(sentence, phrase):
                    break
                _name(turn, sentence, thing, phrase, other, mean)
                continue
            if (phrase.new or not (phrase.words and phrase.name)) and sentence.tags[other.first] in TagSet.DETERMINERS:
                _is_a(turn, sentence, thing, other)
            break


def _following(sentence: Tagged, phrase: Phrase, rest: Sequence[Phrase]) -> Iterator[tuple[Phrase, bool]]:
    """Yield the phrases that only commas part from one, and whether "called" leads to them."""
    for other in rest:
        between = " ".join(sentence.words[phrase.last : other.first])
        tags = sentence.tags[phrase.last : other.first]
        called = between in _BEFORE_NAME
        if not called and not (tags and tags[0] in LIST_BREAKS and set(tags) <= set(LISTED)):
            return
        yield other, called


def _may_have_name(sentence: Tagged, phrase: Phrase) -> bool:
    """Return whether what is only a name, after a comma, is that of a phrase, and not the next of a list."""
    return bool(phrase.words) and not phrase.name and sentence.tags[phrase.last - 1] != Tag.GERUND


def _name(turn: Turn, sentence: Tagged, thing: Thing, phrase: Phrase, other: Phrase, mean: Mean) -> None:
    one: Thing | None = thing
    if phrase.plural:  # each of them goes by the noun in the singular
        one = mean(Phrase(name=other.name))
        if one is None:
            return
        one.goes_by("" if one.heads else phrase.head.removesuffix("s"))
        one.owner = one.owner or thing.owner
        thing.said.append(StatedValue("name", other.name, turn, other.name_at))
    else:
        thing.take_name(other.name)
    one = one or thing
    one.said.append(StatedValue("name", other.name, turn, other.name_at))
    one.said.append(_said("who", turn, characters(sentence, phrase.first, phrase.last)))


def _is_a(turn: Turn, sentence: Tagged, thing: Thing, other: Phrase) -> None:
    """Record what "a phone, a Fairphone" and "the Lantern Parade, my favourite band" say that something is."""
    thing.said.append(_said("who", turn, characters(sentence, other.first, other.last)))
    if other.name:
        thing.said.append(StatedValue("brand", other.name, turn, other.name_at))
    elif other.head and other.head not in _PRO_NOUNS:
        thing.said.append(_said("kind", turn, without_determiner(sentence, other)))


def named_by_clause(people: People, clause: Clause, things: Sequence[Thing | None], mean: Mean) -> None:
    """Read "she is called Juno", "his name is Kit", "we named her Juno", "my partner is Lieve"."""
    subject, verb, tags = clause.subject, clause.sense.verb, clause.sentence.tags
    given = [(place, phrase) for place, phrase in enumerate(clause.rest) if phrase.name]
    if subject is None or not given or clause.sense.negative:
        return
    place, phrase = given[0]
    if verb in ("call", "name"):
        passive = Tag.BE in tags[: clause.first]
        bare = [(at, p) for at, p in given if not p.words and tags[p.first - 1 : p.first] not in _PREPOSITIONS] or given
        place, phrase = bare[0] if passive else bare[-1]
        thing = things[0] if place else subject
        if phrase.owner is not None and not phrase.words:  # "named her Marmalade"
            thing = mean(phrase.owner)
        _give_name(people, clause, thing, phrase)
    elif verb == "be" and not place and phrase.first == clause.first and _is_bare(clause, phrase):
        _give_name(people, clause, subject.owner if "name" in subject.heads else subject, phrase)


def _is_bare(clause: Clause, phrase: Phrase) -> bool:
    """Return whether a phrase is a name and nothing else."""
    return not phrase.words and not phrase.owner and clause.sentence.tags[phrase.first] not in TagSet.DETERMINERS


def _give_name(people: People, clause: Clause, thing: Thing | None, phrase: Phrase) -> None:
    if thing is not None:
        people.give_name(thing, phrase.name)
        thing.said.append(StatedValue("name", phrase.name, clause.turn, phrase.name_at))


def _said(kind: str, turn: Turn, span: tuple[int, int]) -> StatedValue:
    return StatedValue(kind, turn.text[slice(*span)], turn, span)
