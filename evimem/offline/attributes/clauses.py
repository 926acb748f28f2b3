"""What the clauses of a dialogue state, and of which person or thing: one clause per fact, in the order of speech."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from ...extract.aliases import ALSO_KNOWN_AS
from ...extract.grammar import ClauseSpan, find_clauses
from ...extract.predicates import predicate_class, sense
from ...extract.tag_letters import Tag
from ...extract.tagging import Tagged
from ...extract.verbs import lemma
from ...lang import ENGLISH
from ...text.terms import STOP_WORDS, stem, words
from ...types.values import Fact, Turn
from .attribute_values import JOBS, bears, values_of
from .colours import coloured, is_only_coloured
from .entities import People, StatedValue, Thing
from .name_patterns import Mean, appositions, before_name, named, named_by_clause
from .phrases import Phrase, names_of, phrases
from .statement import Clause, spoken
from .tag_sets import PREPOSITIONS
from .tagged_turn import TaggedTurn, extent
from .word_classes import is_person, is_trade


def _words(name: str) -> frozenset[str]:
    return frozenset(ENGLISH.words(name))


_PREPOSITIONS = tuple(PREPOSITIONS)
_HOMES = _words("attributes.homes")
_BEFORE_PLACE = _words("attributes.before_place")
_TAKES = _words("attributes.job_verbs")
_HAS = _words("attributes.owning_verbs")
_NOT_THEIRS = _words("attributes.not_owned_after")
_NOT_HOME = _words("attributes.not_home_verbs")
_PRO_NOUNS = _words("attributes.pro_nouns")
_CALLED = _words("grammar.naming_participles")


def read_turn(people: People, turn: TaggedTurn, facts: Sequence[Fact], to: str | None) -> None:
    """Add the statements of a turn; only sentences with a fact state anything."""
    stated = sorted((fact for fact in facts if fact.kind != "image"), key=lambda fact: fact.span)
    for sentence in turn.sentences:
        start, end = extent(sentence)
        inside = [fact for fact in stated if start <= fact.span[0] < end]
        if inside:
            _read(people, turn.turn, sentence, inside, to)


def names_in(turns: Iterable[TaggedTurn]) -> frozenset[str]:
    """Return the words that are written as names in these turns."""
    found = {name for turn in turns for sentence in turn.sentences for name in names_of(sentence)}
    return frozenset(word for word in found if word.casefold() not in STOP_WORDS and not is_person(word.casefold()))


def _read(people: People, turn: Turn, sentence: Tagged, facts: Sequence[Fact], to: str | None) -> None:
    names = people.spelled
    mean = partial(people.meant, speaker=turn.speaker, to=to)
    groups = [group for group in find_clauses(sentence.tags) if not _is_called(sentence, group)]
    subject: Thing | None = None
    read = False
    for place, group in enumerate(groups):
        after = [
            other.subject for other in groups[place + 1 :] if other.role != "shared" and other.subject >= group.end
        ]
        last = min(after, default=len(sentence.tags))
        fact = _fact_of(sentence, group.verb, facts)
        if fact is None:
            _introduce(people, turn, sentence, (group.end, last), facts, mean)
            continue
        read = True
        if group.role == "dropped":
            subject = people.speaker(turn.speaker)
        elif group.role == "main":
            before = list(phrases(sentence, group.subject, group.verb, names))
            subject = _subject(turn, sentence, before, mean)
            if [phrase.pronoun for phrase in before] in (["he"], ["she"]) and _is_trade_next(sentence, group.end):
                subject = people.person(before[0].pronoun) or subject  # no dog is a plumber
        _state(people, _clause(turn, sentence, subject, fact, group, last, names), mean)
    if not read:
        last = len(sentence.tags)
        rest = tuple(phrases(sentence, 0, last, names))
        _state(people, Clause(turn, sentence, None, facts[0], sense(""), "", 0, last, rest), mean)


def _introduce(
    people: People, turn: Turn, sentence: Tagged, place: tuple[int, int], facts: Sequence[Fact], mean: Mean
) -> None:
    """Record who is named after a verb that states nothing: "I need a plan for my daughter Ida"."""
    named_by = [fact.span for fact in facts if fact.predicate == ALSO_KNOWN_AS]
    for phrase in phrases(sentence, *place, people.spelled):
        inside = any(start <= phrase.name_at[0] < end for start, end in named_by)
        thing = mean(phrase) if inside and phrase.words and phrase.name else None
        if thing is not None:
            named(turn, sentence, phrase, thing)
            people.mention(thing)


def _is_trade_next(sentence: Tagged, first: int) -> bool:
    """Return whether a trade follows a verb: "a plumber"."""
    found = next(phrases(sentence, first, len(sentence.tags)), None)
    return (
        found is not None and found.first == first and sentence.tags[first] == Tag.DETERMINER and is_trade(found.head)
    )


def _clause(
    turn: Turn, sentence: Tagged, subject: Thing | None, fact: Fact, group: ClauseSpan, last: int, names: frozenset[str]
) -> Clause:
    verbs = " ".join(sentence.words[group.verb : group.end])
    predicate = fact.predicate if _says(fact, verbs) else verbs
    kind = predicate_class(predicate, " ".join(sentence.words[group.end : last]), fact.subject)
    rest = tuple(phrases(sentence, group.end, last, names))
    return Clause(turn, sentence, subject, fact, sense(predicate), kind, group.end, last, rest)


def _is_called(sentence: Tagged, group: ClauseSpan) -> bool:
    """Return whether a group of verbs only adds to a noun: "a man called Bruno"."""
    verb = sentence.words[group.verb : group.end]
    return group.role == "main" and len(verb) == 1 and verb[0] in _CALLED and group.subject < group.verb - 1


def _says(fact: Fact, verbs: str) -> bool:
    """Return whether the predicate of a fact is made of these verbs."""
    last = lemma(verbs.rsplit(maxsplit=1)[-1])
    said = fact.predicate.casefold().replace("n't", " n't").split()
    return last in ("'m", "'s", "'re") or any(lemma(word) == last for word in said)


def _fact_of(sentence: Tagged, verb: int, facts: Sequence[Fact]) -> Fact | None:
    at = sentence.ranges[verb][0]
    return next((fact for fact in reversed(facts) if fact.span[0] <= at < fact.span[1]), None)


def _subject(turn: Turn, sentence: Tagged, before: Sequence[Phrase], mean: Mean) -> Thing | None:
    """Return who a clause is about; record the names and colours that it is given there."""
    things = [mean(phrase) for phrase in before]
    appositions(turn, sentence, before, things, mean)
    for phrase, thing in zip(before, things, strict=True):
        if thing is not None:
            coloured(turn, sentence, phrase, thing)
            named(turn, sentence, phrase, thing)
    return next((thing for thing in things if thing is not None), None)


def _state(people: People, clause: Clause, mean: Mean) -> None:
    """Record what a clause states and what it mentions, for the pronouns after it."""
    subject = clause.subject
    if subject is not None:
        people.mention(subject)
        subject.words.update(stem(word) for word in words(spoken(clause)))
    complement = subject is not None and clause.complement is not None
    things = [None if complement and not place else mean(phrase) for place, phrase in enumerate(clause.rest)]
    if complement and subject is not None:  # "it was a red Trek" mentions one thing
        things[0] = subject
        subject.goes_by(clause.rest[0].head)
    _owned(clause, things)
    appositions(clause.turn, clause.sentence, clause.rest, things, mean)
    known = [(phrase, thing) for phrase, thing in zip(clause.rest, things, strict=True) if thing is not None]
    _described(clause, known)
    if subject is not None and not _is_anothers_opinion(clause) and (bears(clause) or _is_told(clause)):
        subject.said += values_of(clause)
        named_by_clause(people, clause, things, mean)
    _remember(people, clause, known)


def _is_told(clause: Clause) -> bool:
    return not clause.sense.modal and clause.fact.kind != "plan"


def _is_anothers_opinion(clause: Clause) -> bool:
    """Return whether somebody else is said to think it: "everyone thinks I'm 25"."""
    return clause.fact.kind == "opinion" and clause.fact.subject != clause.turn.speaker


def _owned(clause: Clause, things: Sequence[Thing | None]) -> None:
    """Make the subject the owner of what it has, gets or buys."""
    subject = clause.subject
    has = clause.kind == "own" or clause.sense.verb in _HAS
    if subject is None or not has or clause.sense.modal or clause.sense.negative:
        return
    for phrase, thing in zip(clause.rest, things, strict=True):
        if thing is None or thing.owner is not None or thing is subject or phrase.pronoun:
            continue
        if phrase.head not in _PRO_NOUNS and clause.lead(phrase) not in _NOT_THEIRS:
            thing.owner = subject
            noun = thing.heads[0] if thing.heads else ""
            subject.said.append(clause.said(f"has {noun}", phrase.first, before_name(clause.sentence, phrase)))


def _described(clause: Clause, known: Sequence[tuple[Phrase, Thing]]) -> None:
    """Record names, colours, places and parts that the phrases after the verb give."""
    tags = clause.sentence.tags
    main: Thing | None = None
    before: Thing | None = None
    for phrase, thing in known:
        named(clause.turn, clause.sentence, phrase, thing)
        only = is_only_coloured(phrase)  # "a Toyota in the end, a silver one"
        if not clause.sense.negative:  # "I didn't buy the red car"
            coloured(clause.turn, clause.sentence, phrase, main if only and main is not None else thing)
        if not only and (main is None or tags[phrase.first - 1 : phrase.first] not in _PREPOSITIONS):
            main = thing
        _placed(clause, phrase, thing)
        if before is not None and phrase.new and clause.lead(phrase) == "with":
            thing.owner = thing.owner or before  # "a shed with a blue door"
        before = thing


def _placed(clause: Clause, phrase: Phrase, thing: Thing) -> None:
    """Record where something is, "a cottage in Strandhill"; a home is where one lives, a job where one works."""
    words_, tags = clause.sentence.words, clause.sentence.tags
    after = next((p for p in clause.rest if p.first == phrase.last + 1), None)
    if after is None or tags[phrase.last] not in PREPOSITIONS or words_[phrase.last] not in _BEFORE_PLACE:
        return
    if not after.name and words_[phrase.last] != "at":
        return
    place = clause.said("place", after.first, after.last)
    thing.said.append(place)
    subject, verb = clause.subject, clause.sense.verb
    if subject is None or clause.sense.modal or clause.sense.negative:
        return
    if phrase.head in JOBS and verb in _TAKES:
        subject.said.append(StatedValue("work", place.text, place.turn, place.span, clause.over))
    if phrase.head in _HOMES and verb not in _NOT_HOME and after.name:
        subject.said.append(StatedValue("live", place.text, place.turn, place.span, clause.over))


def _remember(people: People, clause: Clause, known: Sequence[tuple[Phrase, Thing]]) -> None:
    """Note what is mentioned: the rest, then the subject, then what is new; pronouns refer to the last first."""
    tags = clause.sentence.tags
    known = [(phrase, thing) for phrase, thing in known if thing in people.things]  # a name may have been merged
    bare = [(p, thing) for p, thing in known if not (p.first and tags[p.first - 1] in PREPOSITIONS)]
    for phrase, thing in known:
        place = phrase.name and not phrase.words and not thing.pronoun  # "in York" is not meant by "it"
        if (phrase, thing) not in bare and not place:
            people.mention(thing)
    for phrase, thing in reversed(bare):
        if not phrase.new:
            people.mention(thing)
    if clause.subject is not None:
        people.mention(clause.subject)
    for phrase, thing in reversed(bare):
        if phrase.new or (phrase.name and clause.sense.verb in ("be", "have")):
            people.mention(thing)
