"""The statements of a tagged sentence: sure claims about the speaker, their possessions, or people they name.

A clause is read whole or not at all: it begins where the sentence or a conjunction begins, its subject is sure, its
verb states something, and no word of its object points out of it. A sentence that hedges, supposes or asks states
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Literal, NamedTuple

from ..lang import ENGLISH
from ..types.values import Fact
from .tagging import TAGS, Tag, Tagged, TagSet, guess_tag, lemma, tag_letters, tag_pattern, tag_set, third_person

Role = Literal["main", "shared", "dropped"]
Kind = Literal["event", "state", "opinion", "image"]

_WOMEN, _MEN = frozenset(ENGLISH.words("people.women")), frozenset(ENGLISH.words("people.men"))
_ABLE = ("stand", "bear", "speak", "play")  # a statement about ability may use these
_NAMED = re.compile(r"[^\W\d_a-z][^\W\d_A-Z]|[A-Z][a-z'\u2019]*[A-Z][a-z]")  # no "HST"

_PHRASE = "[NOUN_PHRASE PAST_OR_PARTICIPLE]"
_GROUP = """(?: ADVERBS* (?:
    MODAL ADVERBS* [BASES DO]
    | DO NOT ADVERBS* [BASES HAVE]
    | HAVE ADVERBS* (?: BE ADVERBS* )? [PARTICIPLES PAST GERUND HAVE]?
    | BE ADVERBS* [GERUND PARTICIPLES]?
    | PAST_OR_PARTICIPLE TO [BASES BE HAVE]
    | [PASTS S_FORM] | (?<=[NOUNS THIRD_PERSON ADVERB NOT]) S_FORM_OR_PLURAL
    | (?<=[FIRST_PERSON PLURAL S_FORM_OR_PLURAL ADVERB NOT]) BASES
) (?! [BE MODAL] ) )"""
# The name of the group that holds the verb is the kind of the subject.
_CLAUSE = re.compile(
    tag_pattern(f"""
    (?: (?<![^ COMMA BREAK AND SUBORDINATOR SO ADVERB INTERJECTION TIME SYMBOL QUOTE PREPOSITION_OR_CONJUNCTION]) | ^ )
    (?: (?P<subject>
        FIRST_PERSON (?: AND [NAME NOUN] )?
        | THIRD_PERSON
        | [NAME NOUN]{{1,2}} AND FIRST_PERSON
        | POSSESSIVE {_PHRASE}{{1,4}}? (?: APOSTROPHE {_PHRASE}{{1,3}}? )* (?: COMMA? NAME{{1,2}} COMMA? )?
          (?: AND FIRST_PERSON )?
        | [NAME NOUN] NAME{{0,2}} (?: APOSTROPHE {_PHRASE}{{1,3}}? )*
    ) (?P<main> {_GROUP} )
    | (?<=AND) ADVERB* (?P<shared>
        NOT? (?: [PASTS S_FORM] | HAVE ADVERBS* PARTICIPLES | BE ADVERBS* [GERUND PARTICIPLES] )
    )
    | (?: ^ [INTERJECTION COMMA SYMBOL ADVERB SO]* ) (?P<dropped> [PASTS] (?! [BE MODAL]) )
    )
    """)
)
_AHEAD = re.compile(tag_pattern("[ADVERB TIME]* (?: [PERSONS IT THERE THAT] | [AUXILIARIES PASTS S_FORM BASE] )"))
# "before the factory closed", "since I was five"
_CLAUSE_AFTER = re.compile(
    tag_pattern(
        """
        PREPOSITION_OR_CONJUNCTION [DETERMINERS NOUN_PHRASE PERSONS IT THERE THAT]+ ADVERBS*
        [PASTS AUXILIARIES S_FORM BASE]
        """
    )
)
_LIST = re.compile(
    tag_pattern(
        """
        (?: COMMA [NOUN_PHRASE DETERMINERS]{1,4} )* COMMA? AND [NOUN_PHRASE DETERMINERS]{1,5}
        (?= [END BREAK COMMA SUBORDINATOR TIME] | $ )
        """
    )
)
_LIST_UNREAD = re.compile(tag_pattern("COMMA [NOUN_PHRASE DETERMINERS GERUND S_FORM]{1,4} COMMA? AND"))
_TIME_AFTER = re.compile(
    tag_pattern(
        """
        (?: [PREPOSITION PREPOSITION_OR_CONJUNCTION TO] [DETERMINER IT]? )? TIME+
        (?: PREPOSITION [DETERMINER IT]? TIME+ )* [ADVERB]* $
        """
    )
)
_WITHIN = frozenset(
    tag_letters(
        "NOUN_PHRASE DETERMINERS PREPOSITION PREPOSITION_OR_CONJUNCTION TO TIME PARTICLE ADVERB APOSTROPHE "
        "PAST_OR_PARTICIPLE BASES LIKE SYMBOL"
    )
)
_INSERTED = re.compile(tag_pattern("COMMA QUESTION_WORD [^ COMMA END]+ COMMA [DETERMINERS NOUNS]"))
"""What stands inside an object that goes on after it: "my mother, who turned seventy, a camera"."""
_FOLDED = tag_letters("PREPOSITION TO")
_HEAD = tag_letters("FULL_VERBS")


class ClauseSpan(NamedTuple):
    """One subject with one finite verb group: token ranges, half-open."""

    role: Role
    subject: int
    verb: int
    end: int


def read_statements(sentence: Tagged, voice: Voice, limit: int | None = None, whom: str = "") -> list[Statement]:
    """Return the sure statements of a sentence (its first `limit` tokens) in order; `whom` is the "he" of its start."""
    tags = sentence.tags if limit is None else sentence.tags[:limit]
    return statements_from(sentence, tags, list(find_clauses(tags)), voice, whom)


def find_clauses(tags: str) -> Iterator[ClauseSpan]:
    """Yield the clauses that may be sure, in order."""
    for found in _CLAUSE.finditer(tags):
        role: Role = "shared" if found["shared"] else "dropped" if found["dropped"] else "main"
        start = found.start("subject" if role == "main" else role)
        yield ClauseSpan(role, start, found.start(role), found.end())


def statements_from(
    sentence: Tagged, tags: str, clauses: Sequence[ClauseSpan], voice: Voice, whom: str = ""
) -> list[Statement]:
    """Return the statements of clauses; a clause that shares a subject comes after the one that names it."""
    words = sentence.words[: len(tags)]
    if (
        not ENGLISH["statements.unsure"].isdisjoint(words)
        or tags.lstrip(tag_letters("ADVERB INTERJECTION SYMBOL COMMA SO AND"))[:1] == Tag.QUESTION_WORD
    ):
        return []
    silent = _find_reporting_verb(words, tags)
    found: list[Statement] = []
    before: ClauseSpan | None = None
    subject = ""
    for place, clause in enumerate(clauses):
        if clause.verb > silent:
            break
        if clause.role == "shared" and (before is None or not _shares_subject(tags, clause, before)):
            continue
        if tags[clause.subject] == Tag.THIRD_PERSON:
            meant = subject if subject != voice.name else ""
            subject = (meant or whom) if may_refer_to(words[clause.subject], meant or whom) else ""
        elif clause.role != "shared":
            subject = _find_subject(sentence, tags, clause, voice)
        before = clause if subject else None
        end = clauses[place + 1].subject if place + 1 < len(clauses) else len(tags)
        made = _make_statement(sentence, tags[:end], clause, subject, voice) if subject else None
        if made is not None:
            found.append(made)
    return found


def may_refer_to(pronoun: str, whom: str) -> bool:
    """Return whether "he" or "she" may be somebody: not a sister, nor a husband, of the other kind."""
    other = {"he": _WOMEN, "she": _MEN}.get(pronoun)
    return other is not None and other.isdisjoint(whom.casefold().split())


def _find_reporting_verb(words: Sequence[str], tags: str) -> int:
    """Return the token of the first verb of saying, thinking or wishing: the words after it are not stated."""
    verbs = (
        place
        for place, tag in enumerate(tags)
        if tag in _HEAD and lemma(words[place]) in ENGLISH["statements.reporting"]
    )
    return next(verbs, len(tags))


def _shares_subject(tags: str, clause: ClauseSpan, before: ClauseSpan) -> bool:
    """Return whether a verb without a subject has that of the clause before: its tense, and no other's between."""
    return _is_past_tense(tags, before) == _is_past_tense(tags, clause) and tag_set(
        "QUESTION_WORD PERSONS IT THAT THERE"
    ).isdisjoint(tags[before.end : clause.subject])


def _is_past_tense(tags: str, clause: ClauseSpan) -> bool:
    """Return whether a verb group is in the past."""
    return tags[clause.verb : clause.end].strip(TagSet.QUALIFIERS)[:1] in tuple(TagSet.PASTS)


def _find_subject(sentence: Tagged, tags: str, clause: ClauseSpan, voice: Voice) -> str:
    """Return the subject of a clause; nothing where it is not sure."""
    words, start = sentence.words, clause.subject
    opener = words[start - 1] if start else ""
    depends = tags[start - 1 : start] in (Tag.SUBORDINATOR, Tag.PREPOSITION_OR_CONJUNCTION)
    if opener in ("or", "nor") or (depends and opener not in ENGLISH["statements.opens_a_reason"]):
        return ""
    if clause.role == "dropped":
        return voice.name
    if words[start] == "the" and Tag.NAME in tags[start : clause.verb]:  # "the Cure", as a parse has it
        start += 1
    first, verb = tags[start], words[clause.verb]
    is_plural = verb in ENGLISH["grammar.plural_auxiliaries"] or tags[clause.verb : clause.end] in tuple(TagSet.BASES)
    if first == Tag.POSSESSIVE and words[start] not in ("my", "our"):
        return ""
    if first in (Tag.NAME, Tag.NOUN):
        text = sentence.text[sentence.ranges[start][0] :]
        is_word = words[start] in ENGLISH["people.named"] or (first == Tag.NOUN and words[start] in TAGS)
        if is_word or not _NAMED.match(text) or (is_plural and start + 1 == clause.verb):
            return ""
    elif first not in (Tag.FIRST_PERSON, Tag.POSSESSIVE):
        return ""
    return voice.subject(sentence, clause.subject, clause.verb).rstrip(",")


def _make_statement(sentence: Tagged, tags: str, clause: ClauseSpan, subject: str, voice: Voice) -> Statement | None:
    group, said = tags[clause.verb : clause.end], sentence.words[clause.verb : clause.end]
    verb = next((lemma(word) for word, tag in zip(reversed(said), reversed(group), strict=True) if tag in _HEAD), "be")
    thing = _find_object(sentence, tags, clause) if _asserts_fact(verb, said, group) else None
    if thing is None or not _is_whole(sentence, tags, clause, verb, thing):
        return None
    predicate = voice.predicate(sentence, clause.verb, thing.start, first=subject == voice.name)
    kind = _fact_kind(verb, group, said)
    if not predicate or (kind == "event" and Tag.NOT in group):
        return None  # an event that did not happen may have an adverb of how it did not
    ranges = sentence.ranges
    last = len(tags[: max(thing.stop, clause.end)].rstrip(tag_letters("COMMA AND")))
    span = (ranges[clause.subject][0], ranges[last - 1][1])
    scope = (ranges[_find_leading_time(tags, clause.subject)][0], ranges[len(tags) - 1][1])
    words = voice.phrase(sentence, thing.start, thing.end)
    way = sentence.words[thing.start - 1] if clause.end < thing.start and tags[thing.start - 1] in _FOLDED else ""
    now = _is_present_description(group, said)
    return Statement(subject, predicate, words, span, scope, kind, clause.role == "dropped", verb, way, now)


def _asserts_fact(verb: str, said: Sequence[str], group: str) -> bool:
    """Return whether a verb group states that something is so: not that it may be, nearly was, or is said."""
    if Tag.MODAL in group and (said[0] not in ("can", "ca") or verb not in _ABLE):
        return False
    is_reported = any(
        tag in _HEAD and lemma(word) in ENGLISH["statements.reporting"] for word, tag in zip(said, group, strict=True)
    )
    return not is_reported and ENGLISH["statements.nearly"].isdisjoint(said)


class _Object(NamedTuple):
    """The tokens of an object, half-open, and where the time after it ends."""

    start: int
    end: int
    stop: int


def _find_object(sentence: Tagged, tags: str, clause: ClauseSpan) -> _Object | None:
    stop = _find_object_end(sentence, tags, clause.end)
    # An object of more than 24 tokens is a story.
    if stop is None or stop - clause.end > 24:
        return None
    end = _object_end_before_time(tags, clause.end, stop)
    while end > clause.end and (
        sentence.words[end - 1] in ENGLISH["grammar.closing_words"]
        or tags[end - 1] in tag_set("COMMA ADVERB SYMBOL AND")
    ):
        end -= 1
    if end == clause.end and Tag.TIME in tags[clause.end : stop]:
        end = stop
    return _Object(_find_object_start(tags, clause, end), end, stop)


def _is_whole(sentence: Tagged, tags: str, clause: ClauseSpan, verb: str, thing: _Object) -> bool:
    """Return whether the words after a verb are its whole object, and points at nothing outside the sentence."""
    start, end, stop = thing
    words, when = sentence.words, sentence.words[end:stop]
    said = {word for word, tag in zip(words[clause.end : end], tags[clause.end : end], strict=True) if tag != Tag.NAME}
    unclear = ENGLISH["statements.pointing"] | ENGLISH["grammar.foreign_words"]
    points = tags[start : start + 1] == Tag.OBJECT or not unclear.isdisjoint(said)
    bounded = (
        not ENGLISH["grammar.not_its_time"].isdisjoint(when) or words[stop - 1] in ENGLISH["grammar.dangling_words"]
    )  # "until last year"
    if points or bounded or _INSERTED.match(tags, stop):
        return False
    if start == end:
        return clause.role != "dropped"
    if (
        tags[end - 1] in tag_set("PREPOSITION PREPOSITION_OR_CONJUNCTION TO")
        or words[end - 1] in ENGLISH["grammar.closed_determiners"]
    ):
        return False
    if verb in ("be", "turn"):
        is_now = not {"now", "today", "currently", "again"}.isdisjoint(when)
        is_later = Tag.TIME in tags[end:stop] and not is_now  # "I'm thirty in August"
        return not is_later or words[clause.verb] not in ENGLISH["grammar.present_be"]
    return not tag_set("NOUNS BASE_OR_NOUN S_FORM_OR_PLURAL GERUND TIME").isdisjoint(tags[start:end])


def _fact_kind(verb: str, group: str, said: Sequence[str]) -> Kind:
    if verb in ENGLISH["statements.likes"]:
        return "opinion"
    if "did" in said:
        return "event"
    is_present = group.strip(TagSet.QUALIFIERS)[-1:] in tuple(tag_letters("S_FORM S_FORM_OR_PLURAL BASES HAVE BE"))
    return "state" if is_present or verb in ENGLISH["statements.lasting"] or "used" in said else "event"


def _is_present_description(group: str, said: Sequence[str]) -> bool:
    """Return whether a verb group describes the present: "is moving", "has got"."""
    lead = len(group) - len(group.lstrip(TagSet.QUALIFIERS))
    if group[lead : lead + 1] == Tag.HAVE:
        return said[lead] != "had" and "got" in said
    return group[lead : lead + 1] == Tag.BE and (said[lead] in ENGLISH["grammar.present_be"] or said[lead] == "'s")


def _find_object_end(sentence: Tagged, tags: str, start: int) -> int | None:
    """Return where the object of a verb ends, None where it is unknown or goes on with words that are not read."""
    at, join = start, -1
    while at < len(tags):
        tag = tags[at]
        listed = _LIST.match(tags, at) if tag in (Tag.COMMA, Tag.AND) and at > start else None
        if listed is not None and sentence.words[at] not in ("but", "or", "nor"):
            join, at = at, listed.end()
        elif tag in tag_set("END BREAK SUBORDINATOR SO INTERJECTION") or tag == Tag.COMMA:
            unread = _LIST_UNREAD.match(tags, at) if at > start else None
            is_list = unread is not None and unread.end() < len(tags) and not _AHEAD.match(tags, unread.end())
            return None if is_list else at
        elif tag == Tag.AND:
            if sentence.words[at] in ("or", "nor"):
                return None
            if at == start or sentence.words[at] == "but" or _AHEAD.match(tags, at + 1):
                return at
            join, at = at, at + 1
        elif tag == Tag.PREPOSITION_OR_CONJUNCTION:
            if _CLAUSE_AFTER.match(tags, at):
                return at
            at += 1
        elif tag in _WITHIN or (tag == Tag.OBJECT and at > start) or tag == Tag.HAVE == tags[at - 1]:
            at += 1
        else:  # a conjunction is no part of the object: "and the tablets contain it", "before the factory closed"
            return join if join > start else None
    return at


def _object_end_before_time(tags: str, start: int, stop: int) -> int:
    """Return where an object ends before the time at its end."""
    for at in range(start, stop):
        if _TIME_AFTER.match(tags, at, stop):
            return at
    return stop


def _find_object_start(tags: str, clause: ClauseSpan, last: int) -> int:
    """Return where the object begins: after particles, and at most two prepositions."""
    at = clause.end
    while at < last and tags[at] == Tag.PARTICLE and tags[clause.end - 1] != Tag.BE:
        at += 1
    after = at
    while after < min(last, at + 2) and tags[after] in _FOLDED and tags[after + 1 : after + 2] != Tag.TIME:
        after += 1
    return after if after < last else at


def _find_leading_time(tags: str, start: int) -> int:
    """Return where the time before a clause begins: "Last May," of "Last May, I moved"."""
    at = start
    while at and tags[at - 1] in tag_letters("TIME COMMA PREPOSITION DETERMINER ADVERB"):
        at -= 1
    return at if Tag.TIME in tags[at:start] else start


# ---- Their texts: the first person becomes the speaker, contractions are spelled out, fillers are dropped

_SPELLED_OUT = dict(ENGLISH.table("grammar.spelled_out"))
_THIRD_PERSON = dict(ENGLISH.table("grammar.third_person"))
_FIRST_PERSON = ENGLISH.words("grammar.first_person")


def fact_id(turn_id: str, extractor: str, span: tuple[int, int], subject: str, predicate: str, obj: str) -> str:
    """Return 32 hex digits that name a fact."""
    content = "\x1f".join((turn_id, extractor, str(span[0]), str(span[1]), subject, predicate, obj))
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class Statement(NamedTuple):
    """The texts of a fact, its characters (`span`), and those that may hold its time (`scope`).

    `elliptic` is one whose subject was left out: "Sold the car"; `verb` is the base of the verb that means, `way` the
    preposition that leads to its object, `goes_on` whether it describes the present: "is moving", "has got".
    """

    subject: str
    predicate: str
    object: str
    span: tuple[int, int]
    scope: tuple[int, int]
    kind: Kind
    elliptic: bool = False
    verb: str = ""
    way: str = ""
    goes_on: bool = False


def normalize_spaces(text: str) -> str:
    """Return text with single spaces and without unprintable characters: control, format and surrogate."""
    if text.isprintable():
        return " ".join(text.split()) if "  " in text else text.strip()
    return " ".join(filter(None, ("".join(filter(str.isprintable, word)) for word in text.split())))


@lru_cache(maxsize=512)
def make_voice(speaker: str) -> Voice:
    """Return the voice of a speaker."""
    return Voice(speaker)


class Voice:
    """A speaker: writes ranges of their tokens in the third person."""

    __slots__ = ("_owner", "_replaced", "name")

    def __init__(self, name: str) -> None:
        self.name: str = normalize_spaces(name) or "speaker"
        owner = self._owner = self.name + ("'" if self.name.endswith("s") else "'s")
        self._replaced = {
            **dict.fromkeys(_FIRST_PERSON, self.name),
            **dict.fromkeys(ENGLISH.words("grammar.first_person_possessive"), owner),
        }

    def possessive(self, thing: str) -> str:
        """Return a possession of the speaker: "Mira's sister"."""
        return f"{self._owner} {thing}"

    def phrase(self, sentence: Tagged, start: int, end: int) -> str:
        """Return tokens [start, end) with the first person replaced, except in quotations and in "some of us"."""
        if start >= end:
            return ""
        words, tags, ranges = sentence.words, sentence.tags, sentence.ranges
        pieces: list[str] = []
        kept = ranges[start][0]
        for index in range(start, end):
            new = self._replaced.get(words[index])
            if (
                new is not None
                and tags[index] not in tag_letters("QUOTE NAME")
                and words[index - 1 : index + 1] != ["of", "us"]
            ):
                pieces += (sentence.text[kept : ranges[index][0]], new)
                kept = ranges[index][1]
        return normalize_spaces("".join((*pieces, sentence.text[kept : ranges[end - 1][1]])))

    def subject(self, sentence: Tagged, start: int, end: int) -> str:
        """Return the subject in tokens [start, end), without the capital that only opens the sentence."""
        tags = sentence.tags
        while start < end - 1 and tags[start] in tag_letters("ADVERB INTERJECTION SYMBOL COMMA"):
            start += 1
        if end - start == 1 and tags[start] == Tag.FIRST_PERSON:
            return self.name
        phrase = self.phrase(sentence, start, end)
        possessive = tags[start] == Tag.POSSESSIVE and sentence.words[start] not in self._replaced
        lowers = possessive or tags[start] in tag_set(
            "DETERMINER IT THAT THERE THIRD_PERSON SECOND_PERSON ADVERB ADJECTIVE S_FORM_OR_PLURAL BASE_OR_NOUN GERUND "
            "PLURAL PAST_OR_PARTICIPLE"
        )
        return phrase[:1].lower() + phrase[1:] if lowers and not phrase[1:2].isupper() else phrase

    def predicate(self, sentence: Tagged, start: int, end: int, *, first: bool) -> str:
        """Return the verb group in tokens [start, end); `first` when its subject is the speaker."""
        words, tags = sentence.words, sentence.tags
        kept: list[str] = []
        finite = True
        for index in range(start, end):
            word, tag = words[index], tags[index]
            if tag in tag_letters("ADVERB SO TIME"):
                kept += [word] if word in ENGLISH["grammar.kept_adverbs"] else []
            elif tag == Tag.NOT:
                kept.append("not" if word == "n't" else word)
            else:
                if finite and word in ("'s", "'d"):
                    word = _expand_ambiguous_contraction(word, tag, words[index + 1 : end], tags[index + 1 : end])
                elif finite and first and tag in tag_letters("BASES NOUN"):
                    word = third_person(lemma(word))
                else:
                    word = _spell_out(word, first=first and finite)
                kept.append(word)
                finite = False
        return normalize_spaces(" ".join(kept))


def _spell_out(word: str, *, first: bool) -> str:
    return str((_THIRD_PERSON if first and word in _THIRD_PERSON else _SPELLED_OUT).get(word, word))


def _expand_ambiguous_contraction(word: str, tag: str, words: Sequence[str], tags: str) -> str:
    """Expand 's or 'd before the rest of its verb group."""
    verb = tags.lstrip(TagSet.QUALIFIERS)[:1]
    perfect = tag == Tag.HAVE or (
        verb != ""
        and verb in tag_letters("PARTICIPLES BE")
        and ENGLISH["grammar.stative_participles"].isdisjoint(words)
    )
    return ("has" if perfect else "is") if word == "'s" else ("had" if perfect else "would")


def fact_class(fact: Fact) -> str:
    """Return the class of a fact: the base of its verb, else its kind."""
    said = fact.predicate.casefold().split()
    verbs = [word for word in said if (TAGS.get(word) or guess_tag(word)) in TagSet.FULL_VERBS]
    return lemma(verbs[0]) if verbs else "be" if said else fact.kind
