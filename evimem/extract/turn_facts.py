"""From a turn to its facts, by any reader of sentences: captions, other names, times, ids; and whether it asserts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from ..lang import ENGLISH
from ..lang.guess import guess_language, is_english
from ..text.sentences import sentences
from ..times import Conventions, Located, locate_times
from ..times.lexicon import SIMPLE_NUMBERS
from ..types.stored import ALSO_KNOWN_AS
from ..types.values import Fact, TimeSpan, Turn
from .attribution import MAX_SENTENCES, find_own_acts, find_own_sentences
from .statements import Statement, Voice, fact_id, make_voice, normalize_spaces
from .tagging import Tag, Tagged, lower_case, tag_letters, tag_pattern, tag_sentence, tag_set

_GREETINGS = frozenset(ENGLISH.lists("grammar.word_classes")["interjection"])

# "Which dog do you", "did Ben"
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
_CONTENT = tag_letters("NOUNS DETERMINER BASE_OR_NOUN S_FORM_OR_PLURAL GERUND PAST_OR_PARTICIPLE ADJECTIVE TIME")
_NOT_WHEN = frozenset(("for", *ENGLISH.words("grammar.not_its_time")))  # "until Friday", "a ticket for Friday"

_OPENING = re.compile(
    rf"\s*(?:this is\s+)?(?:an?|the)\s+({'|'.join(ENGLISH.words('terms.images'))})\s+of\s+", re.IGNORECASE
)

_SHORT_NAMES = ENGLISH.table("terms.image_names")
_TELLING = frozenset(ENGLISH.words("statements.telling"))
_UNIDENTIFIED = re.compile(r"the (?!.*\b(?:of|at|in|for|from|about|by|on|with|to|near)\b)(?:(?![A-Z][a-z]).)*$")
"""A definite thing of which its words do not say which it is: "the email", but "the head of the school"."""
_ABLE = frozenset(("stand", "bear"))
_COUNTED = "|".join(word for word in SIMPLE_NUMBERS if word != "one")
_ONE_OR_SOME = re.compile(rf"(?:an?|another|the|\d[\d.,:]*|{_COUNTED})\b|(?:[a-z]+ )?[A-Z\u00c0-\u00de]")
_TO_A_THING = re.compile(r"(?:called|named|[a-z]+(?:ic|ed) to|[a-z]+ of) \w")
_NOTHING = re.compile(r"(?:no|zero)\b", re.IGNORECASE)
_NAME_IN = re.compile(r"(?:(?:in|to|at|on) )?[A-Z][a-z]")
_NAMED = frozenset(ENGLISH.words("people.named"))

_NAME = "(?:(?:Dr|Mr|Mrs|Ms|Prof)\\. )?[A-Z\u00c0-\u017d][\\w\u2019'-]{1,30}(?<!'s)(?<!\u2019s)"
_END = '(?=[.,;:!?)\u2026\n"]|\\s+(?:and|but|or|is|was|has|had|who)\\b|\\s*$)'

# "everyone calls me Kit", "call me Kit", "my real name is Kateryna"
_OF_SPEAKER = re.compile(
    rf"\b(?i:(?:calls?|please call) me|^call me|my (?:real |full |first )?(?:name|nickname) is) (?P<name>{_NAME}){_END}"
)
# "my niece Katherine started school, everyone calls her Kit"
_CALLED_HER = re.compile(
    f"(?P<who>{_NAME})\\b[^.!?]{{0,60}}[,;(] ?(?:but |and |whom |who )?"
    "(?i:everyone|everybody|we|people|friends|they|all) (?:just |all |usually )?calls? (?:her|him|them) "
    f"(?P<name>{_NAME}){_END}"
)

Stance = Literal["asserts", "asks", "neither"]
Reader: TypeAlias = Callable[[Tagged, Voice, "int | None", str], "list[Statement]"]
"""Reads a sentence, or only its first tokens (the third argument), as statements; the last is whom its "he" means."""

# Text beyond these bounds stays searchable as raw text.
MAX_FACTS = 16  # of a short turn
MAX_AT_ONCE = 2000  # characters in which times are looked for at once; in a longer turn, sentence by sentence


# "Remember that I love tea" only asks to remember its statement.
_TO_REMEMBER = re.compile(
    rf"(?:please,?\s+)?{ENGLISH.any_of_source('small_talk.requests_to_remember')}\s*[,:]?\s+"
    rf"(?:that\s+(?={ENGLISH.any_of_source('small_talk.remembered_after_that')}\b)"
    rf"|(?:that\s+)?(?={ENGLISH.any_of_source('small_talk.remembered')}\b))"
)


_OPENINGS = tuple(f"{phrase} " for phrase in ENGLISH.words("small_talk.openings"))


def states_nothing(sentence: Tagged) -> bool:
    """Return whether a sentence is only greeting, thanks, reaction or encouragement, names that are called aside."""
    said = [
        word
        for word, tag in zip(sentence.words, sentence.tags, strict=True)
        if tag not in tag_letters("END COMMA BREAK QUOTE SYMBOL")
        and tag != Tag.NAME
        and word not in ENGLISH["small_talk.intensifiers"]
    ]
    while said and said[0] in _GREETINGS:
        said.pop(0)
    return ENGLISH["small_talk.empty_words"].issuperset(said) or f"{' '.join(said)} ".startswith(_OPENINGS)


def is_question(sentence: Tagged, start: int, end: int) -> bool:
    """Return whether a sentence is a question, by its question mark or its word order."""
    if sentence.text[start:end].rstrip("\"')*_ \u2019\u201d").endswith(("?", "\uff1f")):
        return True
    if _INVERTED.match(sentence.tags) is None or sentence.words[-1] == "!":
        return False
    return sentence.tags.lstrip(tag_letters("INTERJECTION COMMA AND ADVERB SYMBOL SO QUOTE"))[:1] in tag_set(
        "MODAL DO BE HAVE QUESTION_WORD PREPOSITION"
    )


def statement_end(sentence: Tagged) -> int | None:
    """Return where the question in "I got a puppy, want to see her?" starts, None where all of the sentence asks."""
    tags = sentence.tags
    if _INVERTED.match(tags) is not None or tags.lstrip(tag_letters("INTERJECTION COMMA AND ADVERB SYMBOL"))[:1] in (
        Tag.QUESTION_WORD,
        Tag.SECOND_PERSON,
    ):
        return None
    found = _QUESTION_AFTER_COMMA.search(tags)
    return None if found is None else found.start()


def count_content_words(tags: str) -> int:
    """Return how many content words a sentence has, 1 for a heading."""
    return sum(tag in _CONTENT for tag in tags) if tags[-1] != Tag.BREAK else 1


def is_request(tags: str) -> bool:
    """Return whether a sentence without a subject is a request: "Check it out", "If you like, call me"."""
    opening = tags.lstrip(tag_letters("ADVERB INTERJECTION COMMA SYMBOL SO QUOTE AND"))
    return opening.startswith(_OPENS_REQUEST) or _REQUEST.match(opening) is not None


def read_caption(caption: str, voice: Voice) -> Statement | None:
    """Return the fact (speaker, "shared a photo of", its content), or None for an empty caption."""
    # At most 400 characters of a caption are read.
    text = caption[:400].rstrip(" .\n\t")
    opening = _OPENING.match(text)
    kind = opening.group(1).lower() if opening is not None else "photo"
    kind = str(_SHORT_NAMES.get(kind, kind))
    start = opening.end() if opening is not None else len(text) - len(text.lstrip())
    shown = normalize_spaces(text[start:])
    if not shown:
        return None
    article = "an" if kind[0] in "aeiou" else "a"
    span = (start, len(text))
    return Statement(voice.name, f"shared {article} {kind} of", shown, span, span, "image")


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


# "my sister Ruth moved"
_RELATIVE = re.compile(
    "\\b(?i:my|our) (?:(?:[a-z]+(?:est|er)|little|big|old|twin|step|best|late|new|dear) )?"
    f"(?P<who>{_alternatives(_NAMED)}) "
    f"(?P<name>{_NAME})(?!['\u2019-]|\\w| (?:and|or|&) [A-Z]| [A-Z])"
)
_ONE_OF_MINE = re.compile(
    f"\\b(?i:my|our) (?:[a-z]+ )?(?P<who>{_alternatives(_NAMED)})\\b(?!['\u2019-])(?: (?P<name>{_NAME}))?"
)
_NAME_WITHIN = re.compile(r"(?<![.!?\n] )(?<!^)\b[A-Z]\w+")


def find_aliases(sentence: Tagged, start: int, end: int, voice: Voice) -> list[Statement]:
    """Return the other names that a sentence tells, each as (who, `ALSO_KNOWN_AS`, name): "my sister Ruth".

    "My cat is called Moss" tells one in a clause of its own (the slot "name").
    """
    words = sentence.words
    is_owned = ("my" in words or "our" in words) and not _NAMED.isdisjoint(words)
    if not is_owned and ENGLISH["people.naming_cues"].isdisjoint(words):
        return []
    text = sentence.text[start:end]
    found = [(match, voice.possessive(match["who"].lower())) for match in _RELATIVE.finditer(text)] if is_owned else []
    if not ENGLISH["people.naming_cues"].isdisjoint(words):
        found += [(match, match["who"]) for match in _CALLED_HER.finditer(text)]
        found += [(match, voice.name) for match in _OF_SPEAKER.finditer(text)]
    made = {}
    for match, who in found:
        if match["name"] != who:
            span = (start + match.start(), start + match.end())
            made[who, match["name"]] = Statement(who, ALSO_KNOWN_AS, match["name"], span, span, "state")
    return list(made.values())


def skip_request_to_remember(low: str, start: int, end: int) -> int:
    """Return where the statement of a sentence of lowered text begins: "please remember that I love tea" at "I"."""
    request = _TO_REMEMBER.match(low, start, end)
    return request.end() if request else start


def extract_facts(turn: Turn, conventions: Conventions, read: Reader, extractor: str) -> tuple[Fact, ...]:
    """Return the facts of a turn in the order of their spans; none for one that only asks, greets or reacts."""
    found = list(_sentence_facts(turn, conventions, read, extractor))
    image = _caption_fact(turn, extractor)
    # A long turn may have one fact more for each 2,000 characters.
    most = MAX_FACTS + len(turn.text) // 2000 - (image is not None)
    if len(found) > most:  # those about the speaker first
        speaker = make_voice(turn.speaker).name
        kept = {fact.id for fact in sorted(found, key=lambda fact: fact.subject != speaker)[:most]}
        found = [fact for fact in found if fact.id in kept]
    found += [] if image is None else [image]
    return tuple({fact.id: fact for fact in found}.values())


def _caption_fact(turn: Turn, extractor: str) -> Fact | None:
    if turn.caption is None or not is_english(turn.caption):
        return None
    shown = read_caption(turn.caption, make_voice(turn.speaker))
    return None if shown is None else _make_fact_of_statement(turn, shown, None, extractor)


def turn_role(turn: Turn) -> str:
    """Return the role of a turn: its own, else its speaker when that names one, else user."""
    role = turn.role or turn.speaker.strip().lower()
    return role if role in {"assistant", "system", "tool"} else "user"


def _sentence_facts(turn: Turn, conventions: Conventions, read: Reader, extractor: str) -> Iterator[Fact]:
    """Yield the facts that the sentences of a turn tell; of an assistant only its own acts."""
    role = turn_role(turn)
    own = find_own_acts(turn.text) if role == "assistant" else find_own_sentences(turn.text) if role == "user" else []
    if not own:
        return
    source = Source(turn, conventions)
    foreign, before = not is_english(turn.text), source.voice.name
    for start, end in own:
        sentence = source.tag_sentence(start, end)
        if not sentence.words or not is_readable_by_rules(turn.text[start:end], foreign=foreign):
            continue
        asks_whom = not {"he", "she"}.isdisjoint(sentence.words)
        # A pronoun means a person within 600 characters before it.
        whom = _find_only_person(turn.text[max(0, start - 600) : start], source.voice) if asks_whom else ""
        stated = _read_sentence(sentence, start, end, source.voice, read, whom)
        if before != source.voice.name:
            stated = [each for each in stated if not each.elliptic]  # "They cancelled. Rang at four."
        before = stated[-1].subject if stated else ""
        times = source.times_in(sentence) if stated else ()
        for each in stated:
            fact = _make_fact_of_statement(turn, each, _choose_event_time(times, each.scope), extractor)
            if is_worth_keeping(each, fact) and (role == "user" or is_own_act(each, source.voice)):
                yield fact


def _only_says_when(words: str, fact: Fact) -> bool:
    """Return whether words only say when a fact happened: "on Friday"."""
    if fact.event is None or fact.event.start is None:
        return False
    before, said, after = words.rpartition(fact.event.text)
    # A preposition has at most 5 letters, its space included.
    return said != "" and after == "" and len(before) <= 5


def is_own_act(statement: Statement, voice: Voice) -> bool:
    """Return whether an assistant states its own act; its advice, samples and opinions are no facts."""
    return statement.kind == "event" and statement.subject == voice.name and statement.object != ""


def is_worth_keeping(statement: Statement, fact: Fact) -> bool:
    """Return whether a statement is worth keeping: who people are, and whom or which things they have, did or like."""
    if statement.predicate == ALSO_KNOWN_AS or statement.predicate.endswith((" called", " named")):
        return statement.object != ""
    if statement.verb in {"be", "have"}:
        return statement.object != "" and _identifies_something(statement)
    dated = fact.event is not None and fact.event.start is not None
    denies = " not " in f" {statement.predicate} " or _NOTHING.match(statement.object) is not None
    is_vague = _UNIDENTIFIED.match(statement.object) is not None and not (dated or statement.verb in _TELLING)
    if is_vague or (denies and (statement.kind == "event" or statement.verb not in _TELLING | _ABLE)):
        return False
    return (
        _is_movement_worth_keeping(statement, fact, dated=dated)
        if statement.verb in ENGLISH["statements.going"]
        else _is_action_worth_keeping(statement, fact, dated=dated)
    )


def _is_movement_worth_keeping(statement: Statement, fact: Fact, *, dated: bool) -> bool:
    to, place = statement.way in ENGLISH["statements.ways"], _NAME_IN.match(statement.object) is not None
    goes = (place and (to or dated)) or (to and dated and statement.object != "")
    return goes or _only_says_when(statement.object, fact)


def _is_action_worth_keeping(statement: Statement, fact: Fact, *, dated: bool) -> bool:
    if statement.object == "" or _only_says_when(statement.object, fact):  # "passed away", but not "finished on Friday"
        return statement.verb in ENGLISH["statements.whole"] or (
            statement.verb in _TELLING and dated and " " in statement.predicate
        )
    is_over = statement.kind == "event" and not statement.goes_on
    return statement.verb in _TELLING | _ABLE or (is_over and not statement.elliptic)


def _identifies_something(statement: Statement) -> bool:
    """Return whether a statement of being or having names a thing, a kind or a number: "is a nurse", "has two cats".

    Of a possession, any words are ("my favourite colour is green"); of somebody, no adjective alone ("is tired").
    """
    said = statement.object
    if _UNIDENTIFIED.match(said) or _NOTHING.match(said):
        return False
    is_owned = re.search("['\u2019]s? ", statement.subject) is not None
    return (
        (is_owned and statement.verb == "be")
        or _ONE_OR_SOME.match(said) is not None
        or _TO_A_THING.match(said) is not None
    )


def is_readable_by_rules(sentence: str, *, foreign: bool) -> bool:
    """Return whether the rules read a sentence: in a turn of another language it must be English beyond doubt."""
    return guess_language(sentence) == "en" if foreign else is_english(sentence)


def _read_sentence(sentence: Tagged, start: int, end: int, voice: Voice, read: Reader, whom: str) -> list[Statement]:
    if is_question(sentence, start, end):
        question = statement_end(sentence)
        return read(sentence, voice, question, whom) if question else []
    return read(sentence, voice, None, whom) + find_aliases(sentence, start, end, voice)


def _find_only_person(text: str, voice: Voice) -> str:
    """Return the only one whom a text speaks of, where that is one of the speaker's people or pets; else nothing."""
    found = {match["who"]: match for match in _ONE_OF_MINE.finditer(text)}
    if len(found) != 1:
        return ""
    (match,) = found.values()
    names = {name for name in _NAME_WITHIN.findall(text) if name not in match[0].split() and name != "I"}
    return "" if names else voice.possessive(f"{match['who'].lower()} {match['name'] or ''}".strip())


class Source:
    """The text of a turn with its times, sentence by sentence."""

    def __init__(self, turn: Turn, conventions: Conventions) -> None:
        self.voice: Voice = make_voice(turn.speaker)
        self._turn = turn
        self._conventions = conventions
        self._low = lower_case(turn.text)
        self._is_short = len(turn.text) <= MAX_AT_ONCE
        self._times: Sequence[Located] = self._locate(0, len(turn.text)) if self._is_short else ()

    def tag_sentence(self, start: int, end: int) -> Tagged:
        """Return the sentence at [start, end) with its tags, without a request to remember it."""
        start = skip_request_to_remember(self._low, start, end)
        if not self._is_short:
            self._times = self._locate(start, min(end, start + MAX_AT_ONCE))
        ranges = [(time.start, time.end) for time in self._times if start <= time.start < end] if self._times else ()
        return tag_sentence(self._turn.text, self._low, start, end, ranges)

    def times_in(self, sentence: Tagged) -> Sequence[Located]:
        """Return the times of a sentence, without those that are names there or bounds: "May left", "until May"."""
        if not self._times or not sentence.ranges:
            return ()
        start, end = sentence.ranges[0][0], sentence.ranges[-1][1]
        inside = [time for time in self._times if start <= time.start < end]
        if not inside or (Tag.NAME not in sentence.tags and _NOT_WHEN.isdisjoint(sentence.words)):
            return inside
        others = {
            first
            for index, (first, _) in enumerate(sentence.ranges)
            if sentence.tags[index] == Tag.NAME or (index and sentence.words[index - 1] in _NOT_WHEN)
        }
        return [time for time in inside if time.start not in others]

    def _locate(self, start: int, end: int) -> Sequence[Located]:
        text = self._turn.text[start:end]
        found = locate_times(text, self._turn.time, self._conventions)
        if not start:
            return found
        return [replace(time, start=time.start + start, end=time.end + start) for time in found]


def _choose_event_time(times: Sequence[Located], scope: tuple[int, int]) -> TimeSpan | None:
    """Return the first resolved time in the clause, else its first unresolved one, else None."""
    inside = [located.time for located in times if scope[0] <= located.start < scope[1]]
    return next((time for time in inside if time.start is not None), inside[0] if inside else None)


def _make_fact_of_statement(turn: Turn, statement: Statement, event: TimeSpan | None, extractor: str) -> Fact:
    subject, predicate, obj = statement.subject, statement.predicate, statement.object
    identity = fact_id(turn.id, extractor, statement.span, subject, predicate, obj)
    return Fact(identity, turn.id, subject, predicate, obj, event, statement.span, statement.kind, extractor)


def classify_stance(turn: Turn) -> Stance:
    """Return whether a turn asserts something, only asks, or does neither (greets, reacts).

    A turn may assert more than the rules are sure enough of to make a fact. In other languages than English, where
    they find no facts, every sentence that is not marked as a question counts as asserting.
    """
    if not is_english(turn.text):
        return _classify_stance_by_marks(turn.text)
    low = lower_case(turn.text)
    asks = False
    for begin, end in sentences(turn.text)[:MAX_SENTENCES]:
        start = skip_request_to_remember(low, begin, end)
        sentence = tag_sentence(turn.text, low, start, end)
        if is_question(sentence, start, end):
            question = statement_end(sentence)
            if question and count_content_words(sentence.tags[:question]):
                return "asserts"
            asks = True
        elif not states_nothing(sentence) and count_content_words(sentence.tags) and not is_request(sentence.tags):
            return "asserts"
    if asks:
        return "asks"
    return "asserts" if turn.caption and read_caption(turn.caption, make_voice(turn.speaker)) is not None else "neither"


def _classify_stance_by_marks(text: str) -> Stance:
    ranges = sentences(text)
    asking = [text[start:end].endswith(("?", "\uff1f", "\u061f")) for start, end in ranges]
    return "asks" if asking and all(asking) else "asserts"
