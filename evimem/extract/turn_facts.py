"""From a turn to its facts, by any reader of sentences: small talk, sayings, captions, other names, times, ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple, TypeAlias

from ..lang import ENGLISH
from ..lang.guess import is_english, language_of
from ..times import Conventions, Located, locate_times, mentions_time
from ..types.stored import ALSO_KNOWN_AS
from ..types.values import Fact, TimeSpan, Turn
from .clause_text import NOT_ITS_TIME
from .fact_text import Statement, Voice, clean, fact_id, voice_of
from .own_words import own_acts, own_sentences
from .tagging import Tag, Tagged, letters, lowered, tag_pattern, tagged

_EMPTY_WORDS = frozenset(ENGLISH.words("small_talk.empty_words"))
_INTENSIFIERS = frozenset(ENGLISH.words("small_talk.intensifiers"))
_BARE_CLAUSES = frozenset(ENGLISH.words("small_talk.bare_clauses"))
_BARE_CLAUSE_WORDS = 3  # that a sentence may have at most, to be one of them
_MAX_EMPTY = 12  # tokens of a sentence of empty words, or of its opening

_SKIPPED = letters("END COMMA BREAK QUOTE SYMBOL")
_MARKS = letters("END COMMA BREAK SYMBOL INTERJECTION")
_BEFORE_CALLED_NAME = letters("COMMA INTERJECTION NAME")
_BEFORE_QUESTION = letters("INTERJECTION COMMA AND ADVERB SYMBOL SO QUOTE")
_BEFORE_STATEMENT = letters("INTERJECTION COMMA AND ADVERB SYMBOL")
_OPENS_QUESTION = frozenset(letters("MODAL DO BE HAVE QUESTION_WORD PREPOSITION"))

# calls before the sentence proper: "Oh, hey Ben,"
_CALL = re.compile(
    tag_pattern(
        """
        (?: [INTERJECTION ADVERB SYMBOL COMMA END] | [NAME NOUN] (?=[COMMA END])
        | (?<=INTERJECTION) [NAME NOUN] (?=[INTERJECTION COMMA END]) )*
        """
    )
)
# "What dog do you", "did Ben"
_INVERTED = re.compile(
    tag_pattern(
        """
        [INTERJECTION COMMA AND SYMBOL SO QUOTE]*
        (?: PREPOSITION? QUESTION_WORD [NOUNS ADJECTIVE DETERMINER]{0,3} ADVERB? )?
        AUXILIARIES NOT? (?: [PERSONS IT THAT THERE] | DETERMINERS [NOUN_PHRASE APOSTROPHE]+ | [NOUN NAME] )
        """
    )
)
_QUESTION_AFTER_COMMA = re.compile(
    tag_pattern(
        """
        [COMMA BREAK] [AND ADVERB SO INTERJECTION]* (?:
            AUXILIARIES NOT? [PERSONS IT THAT] | QUESTION_WORD | BASES
            | [AND ADVERB ADJECTIVE INTERJECTION] END | SECOND_PERSON [BASE BASE_OR_NOUN] END
        )
        """
    )
)
_CLOSING = "\"')*_ \u2019\u201d"
MAX_STATEMENT = 240  # characters of a sentence that is kept whole
MAX_FRAGMENT = 14  # tokens of a sentence that names no time, for it to be one whole thought

# verbs of unclear form that open a request: "walk the dog"
_REQUEST = re.compile(
    tag_pattern(
        """
        [BASE_OR_NOUN PAST_OR_PARTICIPLE HAVE]
        [PARTICLE DETERMINERS OBJECT PREPOSITION IT THAT TO PERSONS GERUND APOSTROPHE NOUNS BASE_OR_NOUN]
        """
    )
)
_OPENS_REQUEST = (Tag.BASE, Tag.DO, Tag.SUBORDINATOR, Tag.QUESTION_WORD, Tag.SECOND_PERSON, Tag.LIKE)
_BEFORE_VERB = letters("ADVERB INTERJECTION COMMA SYMBOL SO QUOTE AND")
_CONTENT = letters("NOUNS DETERMINER BASE_OR_NOUN S_FORM_OR_PLURAL GERUND PAST_OR_PARTICIPLE ADJECTIVE TIME")
# a sentence with one of these, unread, is no fragment but a clause that was not understood
_CLAUSAL = frozenset(letters("AUXILIARIES PAST S_FORM PERSONS QUESTION_WORD SUBORDINATOR BASE OBJECT"))
# words that address somebody, and foreign ones: a fragment of the latter may still look English
_NO_FRAGMENT = frozenset((*ENGLISH.words("grammar.addressing"), *ENGLISH.words("grammar.foreign_words")))
_CODE = re.compile(r"[{}<>=|\\`\[\]@;_~^]|\w\(|://")

MAX_CAPTION = 400  # characters

_OPENING = re.compile(
    rf"\s*(?:this is\s+)?(?:an?|the)\s+({'|'.join(ENGLISH.words('terms.images'))})\s+of\s+", re.IGNORECASE
)
_SHORT_NAMES = ENGLISH.table("terms.image_names")

_NAMED = frozenset(ENGLISH.words("people.named"))
_CUES = frozenset(ENGLISH.words("people.naming_cues"))

_NAME = "(?:(?:Dr|Mr|Mrs|Ms|Prof)\\. )?[A-Z\u00c0-\u017d][\\w\u2019'-]{1,30}(?<!'s)(?<!\u2019s)"
_END = '(?=[.,;:!?)\u2026\n"]|\\s+(?:and|but|or|is|was|has|had|who)\\b|\\s*$)'

_SHORT_FOR = re.compile(
    f"(?P<who>{_NAME})(?:,| \\(| is) (?:short for|aka|a\\.k\\.a\\.|also known as) (?P<name>{_NAME})"
)
_CALLED_ME = re.compile(
    "\\b(?i:everyone|everybody|people|friends|they|folks|family|parents|colleagues) (?:just |all |usually )?"
    f"calls? me (?P<name>{_NAME}){_END}"
)
# "my niece Katherine started school, everyone calls her Kit"
_CALLED_HER = re.compile(
    f"(?P<who>{_NAME})\\b[^.!?]{{0,60}}[,;(] ?(?:but |and |whom |who )?"
    "(?i:everyone|everybody|we|people|friends|they|all) (?:just |all |usually )?calls? (?:her|him|them) "
    f"(?P<name>{_NAME}){_END}"
)
_CALL_ME = re.compile(f"^(?:(?i:please|just|you can),? )?(?i:call) me (?P<name>{_NAME}){_END}")
_OWN_NAME = re.compile(f"\\b(?i:my) (?:real |full |first )?(?:name|nickname) is (?P<name>{_NAME}){_END}")
_OF_SPEAKER = (_CALLED_ME, _CALL_ME, _OWN_NAME)

Reader: TypeAlias = Callable[[Tagged, Voice, "int | None"], "list[Statement]"]
"""Reads a sentence, or only its first tokens (the number is the third argument), as statements."""

# What lies beyond these bounds stays searchable as raw text.
MAX_FACTS = 16  # of a short turn
PER_FACT = 2000  # characters of a long turn for each fact more
MAX_AT_ONCE = 2000  # characters in which times are looked for at once; in a longer turn, sentence by sentence
MIN_CONTENT = 3  # content words of a sentence without a verb, for it to count where others state something

_ROLES = frozenset(("assistant", "system", "tool"))
_LISTENER = "you"
_SILENT = frozenset(("system", "tool"))

# "Remember that I love tea" asks for nothing but to remember what it states.
_TO_REMEMBER = re.compile(
    rf"(?:please,?\s+)?{ENGLISH.any_of('small_talk.requests_to_remember')}\s*[,:]?\s+"
    rf"(?:that\s+(?={ENGLISH.any_of('small_talk.remembered_after_that')}\b)"
    rf"|(?:that\s+)?(?={ENGLISH.any_of('small_talk.remembered')}\b))"
)


def _by_first_word() -> dict[str, tuple[str, ...]]:
    """Return the openings by their first word, each with a space at its end, so that it matches whole words only."""
    praise = ENGLISH.words("small_talk.praise")
    leads = ("", *(f"{lead} " for lead in ENGLISH.words("small_talk.meeting_leads")))
    meetings, praised = ENGLISH.words("small_talk.meetings"), ENGLISH.words("small_talk.praised")
    phrases = set(ENGLISH.words("small_talk.openings"))
    phrases |= {f"{lead}{good} {meeting}" for lead, good, meeting in product(leads, praise, meetings)}
    phrases |= {f"{good} {thing}" for good, thing in product(praise, praised)}
    found: dict[str, tuple[str, ...]] = {}
    for phrase in sorted(phrases):
        first = phrase.split(" ", 1)[0]
        found[first] = (*found.get(first, ()), phrase + " ")
    return found


_OPENINGS_BY_WORD = _by_first_word()


def is_empty(sentence: Tagged) -> bool:
    """Return whether a sentence is only greeting, thanks, reaction or encouragement."""
    tags = sentence.tags
    called = _CALL.match(tags)
    start = called.end() if called is not None else 0
    words = [
        word
        for word, tag in zip(sentence.words[start : start + _MAX_EMPTY], tags[start:], strict=False)
        if tag not in _SKIPPED and word not in _INTENSIFIERS
    ]
    if _EMPTY_WORDS.issuperset(words) or (len(words) <= _BARE_CLAUSE_WORDS and " ".join(words) in _BARE_CLAUSES):
        return len(tags) <= start + _MAX_EMPTY
    openings = _OPENINGS_BY_WORD.get(words[0])
    if openings is not None and f"{' '.join(words)} ".startswith(openings):
        return True
    return Tag.NAME in tags and _only_calls(sentence, start)


def _only_calls(sentence: Tagged, start: int) -> bool:
    """Return whether a sentence consists of empty words and called names: "That's great, Ben!"."""
    tags = sentence.tags
    return all(
        word in _EMPTY_WORDS
        or tags[index] in _MARKS
        or (
            tags[index] == Tag.NAME
            and (tags[index - 1] in _BEFORE_CALLED_NAME or tags[index + 1 : index + 2] == Tag.COMMA)
        )
        for index, word in enumerate(sentence.words)
        if index >= start
    )


def is_question(sentence: Tagged, start: int, end: int) -> bool:
    """Return whether a sentence is a question, by its question mark or its word order."""
    if sentence.text[start:end].rstrip(_CLOSING).endswith(("?", "\uff1f")):
        return True
    if _INVERTED.match(sentence.tags) is None or sentence.words[-1] == "!":
        return False
    return sentence.tags.lstrip(_BEFORE_QUESTION)[:1] in _OPENS_QUESTION


def statement_end(sentence: Tagged) -> int | None:
    """Return where the question in "I got a puppy, want to see her?" starts, None where all of the sentence asks."""
    tags = sentence.tags
    if _INVERTED.match(tags) is not None or tags.lstrip(_BEFORE_STATEMENT)[:1] in (
        Tag.QUESTION_WORD,
        Tag.SECOND_PERSON,
    ):
        return None
    found = _QUESTION_AFTER_COMMA.search(tags)
    return None if found is None else found.start()


def content(tags: str) -> int:
    """Return how many content words a sentence has, 1 for a heading."""
    return sum(tag in _CONTENT for tag in tags) if tags[-1] != Tag.BREAK else 1


def is_request(tags: str) -> bool:
    """Return whether a sentence without a subject is a request: "Check it out", "If you like, call me"."""
    opening = tags.lstrip(_BEFORE_VERB)
    return opening.startswith(_OPENS_REQUEST) or _REQUEST.match(opening) is not None


def quotation(sentence: Tagged, start: int, end: int, voice: Voice, *, dated: bool) -> list[Statement]:
    """Return a sentence that no rule understood as a saying: a fragment without a verb, or one that names a time."""
    tags = sentence.tags
    if not content(tags) or tags[-1] == Tag.BREAK or is_request(tags) or sentence.words[0] in ("dear", "let"):
        return []
    if not _NO_FRAGMENT.isdisjoint(sentence.words):
        return []
    is_fragment = len(tags) <= MAX_FRAGMENT and _CLAUSAL.isdisjoint(tags)
    if not (is_fragment or dated) or _CODE.search(sentence.text, start, end):
        return []
    start = max(start, sentence.ranges[0][0])
    end = min(end, start + MAX_STATEMENT)
    said = clean(sentence.text[start:end].replace("**", "")).strip(".!,;*_# ")
    return [Statement(voice.name, "said", said, (start, end), (start, end), "statement")] if said else []


def is_own_act(statement: Statement, voice: Voice) -> bool:
    """Return whether an assistant states what it did itself; its advice, samples and opinions are no facts."""
    return statement.kind == "event" and statement.subject == voice.name


def read_caption(caption: str, voice: Voice) -> Statement | None:
    """Return the fact (speaker, "shared a photo of", what it shows), or None for an empty caption."""
    text = caption[:MAX_CAPTION].rstrip(" .\n\t")
    opening = _OPENING.match(text)
    kind = opening.group(1).lower() if opening is not None else "photo"
    kind = str(_SHORT_NAMES.get(kind, kind))
    start = opening.end() if opening is not None else len(text) - len(text.lstrip())
    shown = clean(text[start:])
    if not shown:
        return None
    article = "an" if kind[0] in "aeiou" else "a"
    span = (start, len(text))
    return Statement(voice.name, f"shared {article} {kind} of", shown, span, span, "image")


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


# "my sister Ruth moved", "my boss, Dr. Abara, said"
_RELATIVE = re.compile(
    f"\\b(?i:my|our) (?:(?:[a-z]+(?:est|er)|little|big|old|twin|step|best) )?(?P<who>{_alternatives(_NAMED)}) "
    f"(?P<name>{_NAME})(?!['\u2019-]|\\w| (?:and|or|&) [A-Z]| [A-Z])"
)
# not a list: "my mother, Bea, and her sister"
_APPOSED = re.compile(f"\\b(?i:my|our) (?P<who>{_alternatives(_NAMED)}), (?P<name>{_NAME}),(?! (?:and|or|&)\\b)")
_OF_RELATIVE = (_RELATIVE, _APPOSED)


def aliases(sentence: Tagged, start: int, end: int, voice: Voice) -> list[Statement]:
    """Return the other names that a sentence tells, each as (who, `ALSO_KNOWN_AS`, name): "Mel, short for Melanie".

    "My cat is called Moss" tells one in a clause of its own (`predicate_class` "name").
    """
    words = sentence.words
    is_owned = ("my" in words or "our" in words) and not _NAMED.isdisjoint(words)
    if not is_owned and _CUES.isdisjoint(words):
        return []
    text = sentence.text[start:end]
    found = []
    if is_owned:
        found += [(match, voice.owned(match["who"].lower())) for form in _OF_RELATIVE for match in form.finditer(text)]
    if not _CUES.isdisjoint(words):
        found += [(match, match["who"]) for form in (_SHORT_FOR, _CALLED_HER) for match in form.finditer(text)]
        found += [(match, voice.name) for form in _OF_SPEAKER for match in form.finditer(text)]
    made = {}
    for match, who in found:
        if match["name"] != who:
            span = (start + match.start(), start + match.end())
            made[who, match["name"]] = Statement(who, ALSO_KNOWN_AS, match["name"], span, span, "state")
    return list(made.values())


def after_request_to_remember(low: str, start: int, end: int) -> int:
    """Return where the statement of a sentence of lowered text begins: "please remember that I love tea" at "I"."""
    request = _TO_REMEMBER.match(low, start, end)
    return request.end() if request else start


class DatedStatement(NamedTuple):
    """A statement with the time of its clause."""

    statement: Statement
    event: TimeSpan | None


def facts_of(turn: Turn, conventions: Conventions, read: Reader, extractor: str) -> tuple[Fact, ...]:
    """Return the facts of a turn in the order of their spans; none for one that only asks, greets or reacts."""
    found = dated_statements(turn, conventions, read)
    reads_caption = turn.caption is not None and is_english(turn.caption)
    image = read_caption(turn.caption or "", voice_of(turn.speaker)) if reads_caption else None
    most = MAX_FACTS + len(turn.text) // PER_FACT - (image is not None)
    found = found if len(found) <= most else _own_first(found, most, voice_of(turn.speaker))
    if image is not None:
        found.append(DatedStatement(image, None))
    facts = (_fact(turn, each.statement, each.event, extractor) for each in found)
    return tuple({fact.id: fact for fact in facts}.values())


def _own_first(found: Sequence[DatedStatement], most: int, voice: Voice) -> list[DatedStatement]:
    """Return as many statements as may be kept, in order, those about the speaker before others."""
    own = [index for index, each in enumerate(found) if each.statement.subject == voice.name][:most]
    others = [index for index, each in enumerate(found) if each.statement.subject != voice.name]
    return [found[index] for index in sorted(own + others[: most - len(own)])]


def role_of(turn: Turn) -> str:
    """Return the role of a turn: its own, else its speaker when that names one, else user."""
    role = turn.role or turn.speaker.strip().lower()
    return role if role in _ROLES else "user"


def is_foreign(turn: Turn) -> bool:
    """Return whether a turn comes from an assistant, a tool or the system: its facts are stated as their sayings."""
    return role_of(turn) != "user"


def dated_statements(turn: Turn, conventions: Conventions, read: Reader) -> list[DatedStatement]:
    """Return what the sentences of a turn state, in order; very short ones only where no other states anything."""
    role = role_of(turn)
    if role in _SILENT:
        return []
    own = own_acts(turn.text) if role == "assistant" else own_sentences(turn.text)
    if not own:
        return []
    source = Source(turn, conventions)
    foreign = not is_english(turn.text)
    found: list[DatedStatement] = []
    short: list[DatedStatement] = []
    asked = is_mixed = False
    for start, end in own:
        sentence = source.tagged(start, end)
        if not sentence.words or is_empty(sentence):
            continue
        if not is_read(turn.text[start:end], foreign=foreign):
            is_mixed = True
            continue
        times = source.times_in(sentence)
        stated = _stated(sentence, start, end, source.voice, read)
        if role == "assistant":
            stated = [each for each in stated if is_own_act(each, source.voice)]
        elif found and found[-1].statement.subject != source.voice.name:
            stated = [each for each in stated if not each.elliptic]  # "They cancelled. Rang at four."
        if asked:  # "Imagine you are a guide. You live in Rome."
            stated = [each for each in stated if each.subject != _LISTENER]
        asked = asked or (not stated and is_request(sentence.tags))
        found += [DatedStatement(each, _event(times, each.scope)) for each in stated]
        if not stated and role == "user" and not is_question(sentence, start, end):
            quoted = quotation(sentence, start, end, source.voice, dated=bool(times))
            size = content(sentence.tags)
            kept = found if size >= MIN_CONTENT else short
            kept.extend(DatedStatement(each, _event(times, each.scope)) for each in quoted)
    found = found or short
    # a fragment beside another language is most often of that language
    return [each for each in found if each.statement.kind != "statement"] if is_mixed else found


def is_read(sentence: str, *, foreign: bool) -> bool:
    """Return whether the rules read a sentence: in a turn of another language it must be English beyond doubt."""
    return language_of(sentence) == "en" if foreign else is_english(sentence)


def _stated(sentence: Tagged, start: int, end: int, voice: Voice, read: Reader) -> list[Statement]:
    if is_question(sentence, start, end):
        question = statement_end(sentence)
        return read(sentence, voice, question) if question else []
    stated = read(sentence, voice, None)
    return stated + aliases(sentence, start, end, voice)


class Source:
    """The text of a turn with its times, sentence by sentence."""

    def __init__(self, turn: Turn, conventions: Conventions) -> None:
        self.voice: Voice = voice_of(turn.speaker)
        self._turn = turn
        self._conventions = conventions
        self._low = lowered(turn.text)
        self._is_short = len(turn.text) <= MAX_AT_ONCE
        self._times: Sequence[Located] = self._located(0, len(turn.text)) if self._is_short else ()

    def tagged(self, start: int, end: int) -> Tagged:
        """Return the sentence at [start, end) with its tags, without a request to remember it."""
        start = after_request_to_remember(self._low, start, end)
        if not self._is_short:
            self._times = self._located(start, min(end, start + MAX_AT_ONCE))
        ranges = [(time.start, time.end) for time in self._times if start <= time.start < end] if self._times else ()
        return tagged(self._turn.text, self._low, start, end, ranges)

    def times_in(self, sentence: Tagged) -> Sequence[Located]:
        """Return the times of a sentence, without those that are names there or bounds: "May left", "until May"."""
        if not self._times or not sentence.ranges:
            return ()
        start, end = sentence.ranges[0][0], sentence.ranges[-1][1]
        inside = [time for time in self._times if start <= time.start < end]
        if not inside or (Tag.NAME not in sentence.tags and NOT_ITS_TIME.isdisjoint(sentence.words)):
            return inside
        others = {
            first
            for index, (first, _) in enumerate(sentence.ranges)
            if sentence.tags[index] == Tag.NAME or (index and sentence.words[index - 1] in NOT_ITS_TIME)
        }
        return [time for time in inside if time.start not in others]

    def _located(self, start: int, end: int) -> Sequence[Located]:
        text = self._turn.text[start:end]
        if not mentions_time(text):
            return ()
        found = locate_times(text, self._turn.time, self._conventions)
        if not start:
            return found
        return [replace(time, start=time.start + start, end=time.end + start) for time in found]


def _event(times: Sequence[Located], scope: tuple[int, int]) -> TimeSpan | None:
    """Return the first resolved time in the clause, else its first unresolved one, else None."""
    inside = [located.time for located in times if scope[0] <= located.start < scope[1]]
    return next((time for time in inside if time.start is not None), inside[0] if inside else None)


def _fact(turn: Turn, statement: Statement, event: TimeSpan | None, extractor: str) -> Fact:
    subject, predicate, obj = statement.subject, statement.predicate, statement.object
    identity = fact_id(turn.id, extractor, statement.span, subject, predicate, obj)
    return Fact(identity, turn.id, subject, predicate, obj, event, statement.span, statement.kind, extractor)
