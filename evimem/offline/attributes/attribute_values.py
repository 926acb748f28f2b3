"""The values that a clause gives to attributes of its subject: a home, a place of work, a trade, an age, a liking."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from ...extract.tag_letters import Tag, TagSet
from ...lang import ENGLISH
from ...times.lexicon import SIMPLE_NUMBERS
from .colours import colour_run
from .entities import StatedValue
from .literal_values import literals
from .phrases import Phrase
from .statement import Clause, characters, spoken, until, without_determiner
from .tag_sets import AGE_ENDS, BEFORE_COMPLEMENT, LIKING_ENDS, LIKING_TRAILS, NAME_LIST, OBJECT_ENDS
from .word_classes import is_trade, is_trade_of


def _words(name: str) -> frozenset[str]:
    return frozenset(ENGLISH.words(name))


_BEFORE_WHEREABOUTS = _words("attributes.before_whereabouts")
_AFTER_AGE = _words("attributes.after_age")
_BREAKS_LIKING = _words("attributes.breaks_liking")
_ALLERGIES = _words("attributes.allergies")
_AT_WORK = _words("attributes.before_workplace")
_NO_WORKPLACE = _words("attributes.no_workplace")
_BEFORE_HOME = _words("attributes.before_home")
_NO_HOME = _words("attributes.no_home")
_COMES = _words("attributes.coming_verbs")
_ENDS = _words("attributes.ending_verbs")
_ENDS_A_JOB = _words("attributes.job_ending_verbs")
JOBS = _words("attributes.jobs")
_GIVES_UP = _words("attributes.giving_up_verbs")
_NO_KIND = _words("attributes.no_kind")
_BEARS = re.compile(r"\bcan(?:not| not|n['\u2019]?t|['\u2019]t)?\s+(?:bear|stand)\b", re.IGNORECASE)
_ALLERGIC = re.compile(r"\ballergic\s+to\s+", re.IGNORECASE)
_YEARS = re.compile(r"years?\b|yrs?\b|year-old|-year")
_NUMBER = re.compile(r"\d{1,3}$")
_LONGEST_LIKING = 9  # tokens of what is liked


def values_of(clause: Clause) -> list[StatedValue]:
    """Return the values that a clause states of its subject."""
    readers = (*_BY_KIND.get(clause.kind, ()), _allergic, _does, _object, literals)
    return [] if clause.first > clause.last else [one for reader in readers for one in reader(clause)]


def _copula(clause: Clause) -> Iterator[StatedValue]:
    """Read what the subject is: its age, colour, trade, origin."""
    tags, said = clause.sentence.tags, clause.sentence.words
    first = clause.first
    while first < clause.last and tags[first] in BEFORE_COMPLEMENT and not _NUMBER.match(said[first]):
        first += 1
    if first >= clause.last or clause.sense.negative:
        return
    yield from _age(clause, first)
    opening = next((p for p in clause.rest if p.first == first), None)
    if opening is not None and tags[first] in TagSet.DETERMINERS:
        yield from _complement(clause, opening)
    end = until(tags, first, clause.last) if tags[first] != Tag.DETERMINER or opening is None else opening.last
    if (tags[first] != Tag.DETERMINER or (opening is not None and opening.words)) and (
        run := colour_run(clause.sentence, first, end)
    ):
        yield clause.said("colour", *run)
    yield from _whereabouts(clause, first)


def _whereabouts(clause: Clause, first: int) -> Iterator[StatedValue]:
    """Read "is in Derby", "is from Naples", "has been at De Wit & Partners"."""
    lead = clause.sentence.words[first]
    where = next((p for p in clause.rest if p.first == first + 1 and not p.pronoun), None)
    if where is None or lead not in _BEFORE_WHEREABOUTS:
        return
    if lead == "at":
        yield clause.said("work", where.first, where.last)
    elif where.name or lead == "from":
        yield clause.said("from" if lead == "from" else "live", where.first, where.last)
        yield clause.said("place", where.first, where.last)


def _age(clause: Clause, first: int) -> Iterator[StatedValue]:
    """Read "is 67", "turned nineteen", "is Tilda, 34"; a number with another noun is no age."""
    tags, said = clause.sentence.tags, clause.sentence.words
    place = first
    if tags[place] == Tag.NAME:
        while place < clause.last and tags[place] in NAME_LIST:
            place += 1
        if tags[place - 1] != Tag.COMMA:
            return
    if place >= clause.last or not (_NUMBER.match(said[place]) or said[place].split("-")[0] in SIMPLE_NUMBERS):
        return
    after = said[place + 1] if place + 1 < clause.last else "."
    ends = place + 1 >= clause.last or tags[place + 1] in AGE_ENDS or after in _AFTER_AGE
    if _YEARS.match(after):
        old = place + 2 < clause.last and said[place + 2] == "old"
        yield clause.said("age", place, place + (3 if old else 2))
    elif ends and after != "of":
        yield clause.said("age", place, place + 1)


def _complement(clause: Clause, phrase: Phrase) -> Iterator[StatedValue]:
    """Read "is a solicitor", "is a Bosch", "is a night nurse at St Brannock's"."""
    at = without_determiner(clause.sentence, phrase)
    text = clause.turn.text[slice(*at)]
    trade = bool(phrase.head) and is_trade(phrase.head)
    if phrase.name and not trade:
        yield StatedValue("brand", phrase.name, clause.turn, phrase.name_at, clause.over)
    if phrase.head and phrase.head not in _NO_KIND:
        yield StatedValue("kind", text, clause.turn, at, clause.over)
        yield StatedValue("who", text, clause.turn, at, clause.over)
    if trade:
        yield StatedValue("job", text, clause.turn, at, clause.over)
        yield from _workplace(clause, phrase.last)


def _workplace(clause: Clause, first: int) -> Iterator[StatedValue]:
    """Yield the place of work that "at" or "for" names after a token, with the name that a comma adds."""
    for phrase in clause.rest:
        lead = clause.lead(phrase)
        if phrase.first < first or lead not in _AT_WORK or phrase.pronoun:
            continue
        if phrase.head in _NO_WORKPLACE or (lead == "for" and not phrase.name):
            continue
        end = phrase.last
        name = next((p for p in clause.rest if p.first == end + 1 and p.name and not p.words), None)
        if name is not None and clause.sentence.tags[end] == Tag.COMMA and not phrase.name:
            end = name.last
        yield clause.said("work", phrase.first, end, over=_is_ended(clause))
        return


def _home(clause: Clause) -> Iterator[StatedValue]:
    if clause.sense.negative:
        return
    places = [p for p in clause.rest if not p.pronoun and clause.lead(p) in _BEFORE_HOME and p.first >= clause.first]
    named = [p for p in places if p.name] or [p for p in places if p.head not in _NO_HOME]
    goal = next((p for p in named if clause.lead(p) in ("to", "into")), None) or next(iter(named), None)
    if goal is not None:
        yield clause.said("live", goal.first, goal.last)


def _job(clause: Clause) -> Iterator[StatedValue]:
    if clause.sense.negative:
        return
    for phrase in clause.rest:
        if clause.lead(phrase) == "as" and phrase.head:
            at = without_determiner(clause.sentence, phrase)
            yield StatedValue("job", clause.turn.text[slice(*at)], clause.turn, at, _is_ended(clause))
    yield from _workplace(clause, clause.first)
    if _is_ended(clause) and clause.rest and not clause.rest[0].pronoun:
        yield clause.said("left", clause.rest[0].first, clause.rest[0].last)


def _start(clause: Clause) -> Iterator[StatedValue]:
    """Read where the subject starts: "I start in the ward at York District"; a school is no place of work."""
    if not clause.sense.negative:
        yield from _workplace(clause, clause.first)


def _is_ended(clause: Clause) -> bool:
    lost = clause.sense.verb in _ENDS_A_JOB and any(phrase.head in JOBS for phrase in clause.rest)
    return clause.over or clause.sense.verb in _ENDS or lost


def bears(clause: Clause) -> bool:
    """Return whether a clause says what its subject cannot bear or stand."""
    return _BEARS.search(clause.fact.predicate) is not None


def _likes(clause: Clause) -> Iterator[StatedValue]:
    """Read what is liked or not, up to a "but"."""
    if (clause.kind not in ("like", "dislike") and not bears(clause)) or clause.sense.verb == "be":
        return
    last = clause.first
    while last < min(clause.last, clause.first + _LONGEST_LIKING) and clause.sentence.tags[last] not in LIKING_ENDS:
        if clause.sentence.words[last] in _BREAKS_LIKING:
            break
        last += 1
    while last > clause.first and clause.sentence.tags[last - 1] in LIKING_TRAILS:
        last -= 1
    pronoun = clause.rest[:1] and clause.rest[0].pronoun and clause.rest[0].first == clause.first
    if last > clause.first and not pronoun:
        disliked = bears(clause) or (clause.kind == "dislike") != clause.sense.negative
        yield clause.said("dislike" if disliked else "like", clause.first, last)


def _allergic(clause: Clause) -> Iterator[StatedValue]:
    """Read "is allergic to eggs" and "has an egg allergy"."""
    text = spoken(clause)
    found = _ALLERGIC.search(text)
    at = found.end() + characters(clause.sentence, clause.first, clause.last)[0] if found else -1
    for phrase in clause.rest:
        if clause.sentence.ranges[phrase.first][0] == at and not phrase.pronoun and not clause.sense.negative:
            yield clause.said("allergy", phrase.first, phrase.last)
        if phrase.head in _ALLERGIES and len(phrase.words) > 1 and not clause.sense.negative:
            first = phrase.first + (clause.sentence.tags[phrase.first] in TagSet.DETERMINERS)
            yield clause.said("allergy", first, phrase.last - 1)


def _does(clause: Clause) -> Iterator[StatedValue]:
    """Read a living from a verb that has a trade: "teaches chemistry"."""
    said = clause.sense
    if said.past or said.negative or clause.fact.kind not in ("state", "report") or said.verb in ("be", "have"):
        return
    if clause.first and is_trade_of(said.verb):
        last = until(clause.sentence.tags, clause.first, clause.last)
        if last > clause.first and not (clause.rest and clause.rest[0].pronoun):
            yield clause.said("does", clause.first - 1, last)
        yield from _workplace(clause, clause.first)


def _object(clause: Clause) -> Iterator[StatedValue]:
    """Keep the object of any verb, to answer "what does she eat"; what was given up is kept as another kind."""
    said = clause.sense
    if clause.rest and said.verb not in ("be", "have", "do"):
        phrase = clause.rest[0]
        if not phrase.pronoun and clause.sentence.tags[phrase.last - 1] in OBJECT_ENDS:
            ended = said.negative or said.verb in _GIVES_UP
            yield clause.said(f"{'not' if ended else 'do'} {said.verb}", phrase.first, phrase.last)
        if said.verb == "weigh" and not said.negative:
            yield clause.said("weight", phrase.first, phrase.last)
    if said.verb in _COMES:
        for phrase in clause.rest:
            if phrase.name and clause.lead(phrase) == "from":
                yield clause.said("live", phrase.first, phrase.last)


Reader: TypeAlias = Callable[[Clause], Iterator[StatedValue]]
_BY_KIND: dict[str, tuple[Reader, ...]] = {
    **dict.fromkeys(("be", "age", "name", "origin", "turn", "feel", "paint"), (_copula,)),
    **dict.fromkeys(("start", "begin", "join"), (_start,)),
    **dict.fromkeys(("like", "dislike", "bear", "stand"), (_likes,)),
    "live": (_home,),
    "work": (_job,),
}
