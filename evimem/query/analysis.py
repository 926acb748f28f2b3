"""The analysis of a question by its words: names, times, keywords, the form of the answer; never from a model.

In another language than English that is read with the lists of `lang/<code>/questions.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from string import ascii_lowercase
from typing import TYPE_CHECKING

from ..errors import InvalidQuery, describe_safely, or_else
from ..lang import ENGLISH, Language
from ..lang.guess import LANGUAGES, guess_language
from ..text.names import find_whole_matches, whole_word_source
from ..text.terms import STOP_WORDS, plain, plainest, stem, words
from ..times import DateOrder, find_times
from ..types.values import Hints, TimeSpan

if TYPE_CHECKING:
    from ..judging.evidence import Analysis, Wants
    from ..judging.tracker import Requirement

# A question mark without any of these words asks for yes or no.
_LISTS: tuple[tuple[Wants, str], ...] = (
    ("yes_no", "yes_no"),
    ("duration", "duration"),
    ("time", "time"),
    ("count", "count"),
    ("reason", "reason"),
    ("place", "place"),
    ("person", "person"),
    ("thing", "other"),
)
_ENDS_ASKING = re.compile(r"[?\uff1f\u061f]\W*$")
_any = ENGLISH.any_of_source
_HONORIFICS = frozenset(ENGLISH.words("people.honorifics"))

# Hints: whether a question asks for a time. The patterns that say so leave out "... did he do when ...".
_UNIT = rf"{_any('questions.time_units')}s?"
_VERB = _any(*(f"word_classes.auxiliaries.{kind}" for kind in ("common", "asking", "formal", "negated")))
_HEDGE = rf"(?:{_any('questions.after_when')}|in \d+)"
_ASKS_WHEN = re.compile(
    r"\b(?:since |until |till |by |from )when\b"
    rf"|\bwhen(?:['\u2019](?:s|d|re|ll)\b|(?: {_HEDGE})* {_VERB}\b)"
    rf"|\b{_any('questions.before_when')} when\b"
    r"|^\W*when\W*$"
    rf"|\b(?:what|which|whatever) (?:[\w'\u2019-]+ )?(?:date|time|{_UNIT}|birthday|anniversary)\b(?![-\u2010'\u2019])"
    rf"|\bhow (?:many|much|few) (?:more |other )?(?:{_UNIT}|time)\b"
    rf"|\bhow {_any('questions.how_time')}\b",
    re.IGNORECASE,
)
_TIME_COMPOUND = re.compile(rf"\b(?:what|which)\s+time\s+{_any('questions.time_compounds')}s?\b", re.IGNORECASE)
_USER = re.compile(rf"\b{_any('word_classes.pronouns.first')}\b", re.IGNORECASE)
# "Can you tell me ..." asks the assistant, and is not about it.
_ASSISTANT = re.compile(rf"\b(?:your|(?:did|have) you|you {_any('questions.assistant_said')})\b", re.IGNORECASE)
_RECALLS = re.compile(rf"\b{_any('questions.recalling')}\b", re.IGNORECASE)
# "Which books ...", "What has she painted?": one turn rarely tells it in full. A count is one thing.
_NO_THING = (
    rf"(?!{_any('word_classes.auxiliaries.common', 'word_classes.auxiliaries.asking', 'questions.no_things')}\b)"
)
_SEVERAL = re.compile(
    rf"\b(?:what|which)\s+(?:{_NO_THING}[\w&/'\u2019+-]+\s+){{0,3}}?{_NO_THING}[\w-]{{2,}}[^\Ws]s(?![\w'\u2019])"
    r"|^\W*(?:what|where|whom?)\s+(?:has|have)\b|\bboth\b|\bwhat\s+(?:are|were|else|all)\b|\bin\s+what\s+ways\b",
    re.IGNORECASE,
)
_AUXILIARIES = STOP_WORDS | {"may"}
_WORDS_TOO = frozenset(ENGLISH.words("questions.names_and_words"))
_NAMES_AND_WORDS = _AUXILIARIES | _WORDS_TOO

# Analysis: the form of the answer, in the order in which the forms are tried.
_AUXILIARY = rf"{_any('word_classes.auxiliaries.common', 'word_classes.auxiliaries.asking')}(?:n['\u2019]t)?"
_LENGTH = _any("questions.length_units")
_SPOKEN: tuple[tuple[Wants, str], ...] = (
    (
        "duration",
        rf"\bhow\s+(?:long|much\s+(?:longer|time))\b|\bhow\s+many\s+(?:more\s+)?{_LENGTH}\b(?!\s+(?:a|per)\b)",
    ),
    (
        "time",
        r"^\W*(?:(?:and|so|since|until|till|by|from|around|about)\s+)*when\b"
        r"|\b(?:know|remember|recall|remind\s+me|tell\s+me|say|said|when\s+exactly)\s+when\b"
        rf"|\b(?:what|which)\s+(?:(?:exact|specific)\s+)?{_any('questions.calendar_units')}\b(?!\s+of\s+(?!the\b)\w+)"
        rf"|\bwhat(?:['\u2019]s|\s+(?:is|was|are|were))\s+(?:[\w'\u2019]+\s+){{1,3}}?{_any('questions.dates')}s?\b"
        r"(?=\s*(?:$|[?.!,]|(?:of|for|by|in|on)\b))",
    ),
    ("count", rf"\bhow\s+{_any('questions.how_count')}\b|\bwhat\s+(?:number|amount|age)\b"),
    ("choice", rf"^\W*{_AUXILIARY}\b.*\bor\b"),
    ("yes_no", rf"^\W*{_AUXILIARY}\b"),
    ("person", r"\b(?:who|whom|whose)\b"),
    ("place", rf"\bwhere\b|\b(?:what|which)\s+(?:\w+\s+)?{_any('questions.places')}\b"),
    (
        "reason",
        rf"\bwhy\b|\bhow\s+come\b|\bwhat\b.*\breasons?\b|\bwhat\s+{_any('questions.causes')}\b",
    ),
)
_FORMS = tuple((wants, re.compile(pattern, re.IGNORECASE)) for wants, pattern in _SPOKEN)
_TIED_TO_TIME = re.compile(
    rf"\bhow\s+old\b|\b(?!{_any('questions.not_after')}\b)\w+\s+{_any('questions.orders')}\b(?:\s+\w|\W*$)"
    rf"|\bthe\s+(?:very\s+|most\s+)?{_any('questions.superlatives')}\b(?!\s+{_any('questions.no_superlatives')}\b)",
    re.IGNORECASE,
)
_MEASURE = re.compile(rf"\bhow\s+{_any('questions.how_measure')}\b", re.IGNORECASE)
_GUESSED = re.compile(rf"^\W*{_any('questions.guessing')}\b.*?\b{_any('questions.likely')}\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(
    rf"\b{_any('word_classes.pronouns.first', 'word_classes.pronouns.first_plural')}\b", re.IGNORECASE
)
_NAME = re.compile(r"(?:[A-Z\u00c0-\u00de][\w\u00c0-\u024f]*)(?:\s+[A-Z\u00c0-\u00de][\w\u00c0-\u024f]*)*")
_SENTENCE_END = re.compile(r"[.!?:]\s")
_WORD_CHARACTER = re.compile(r"\w")
_NAME_PARTS = re.compile("[\\w\u0900-\u0dff]+")  # with Indic vowel signs
_NOT_NAMES = _HONORIFICS.union(
    ENGLISH.words("common.weekdays"),
    ENGLISH.words("common.months"),
    ENGLISH.words("questions.not_names"),
    ENGLISH.words("questions.nationalities"),
    ENGLISH.words("word_classes.auxiliaries.common"),
    ENGLISH.words("word_classes.auxiliaries.asking"),
)
_OPENERS_ELSEWHERE = frozenset(ENGLISH.words("questions.openers_elsewhere"))
_NO_KEYWORDS = STOP_WORDS.union(ENGLISH.words("questions.no_keywords"))

ROLE_NAMES = frozenset(("user", "assistant"))  # speakers that are called by their role
MOST_ASKED = 100_000  # characters of a query or question: a longer one is refused
_EITHER_END = 2_048  # characters that are looked for of a longer text, from its beginning and from its end


@dataclass(frozen=True)
class ForeignQuestions:
    """The words that questions of a language are made of."""

    language: Language

    @cached_property
    def forms(self) -> tuple[tuple[Wants, re.Pattern[str]], ...]:
        """Patterns on plain text for each form of an answer."""
        return tuple((wants, _any_of(self.language.words(f"questions.{name}"))) for wants, name in _LISTS)

    @cached_property
    def user(self) -> re.Pattern[str]:
        """The words by which somebody speaks of themselves."""
        return _any_of(self.language.words("questions.user"))

    @cached_property
    def assistant(self) -> re.Pattern[str]:
        """The words by which somebody addresses another."""
        return _any_of(self.language.words("questions.assistant"))

    @cached_property
    def _no_keywords(self) -> frozenset[str]:
        """Words that carry nothing of a question, as `words` gives them."""
        lists = ("common.function_words", *(f"questions.{name}" for _, name in _LISTS))
        return frozenset(word for name in lists for listed in self.language.words(name) for word in words(listed))

    @property
    def capitalizes_names(self) -> bool:
        """Whether a capital letter inside a sentence shows a name."""
        return self.language.code not in {"de"}

    def form(self, question: str) -> Wants:
        """Return the form of answer that a question asks for: by its first question word, the longest of several."""
        # Strip marks before the first word.
        text = plain(question).lstrip(" \t\n\"'([\u00bf\u00a1\u2026.,-")
        found = [(match, wants) for wants, words in self.forms if (match := words.search(text))]
        if found:
            return min(found, key=lambda each: (each[0].start(), -each[0].end()))[1]
        return "yes_no" if _ENDS_ASKING.search(text) else "thing"

    def keywords(self, question: str) -> list[str]:
        """Return the words of a question that carry its content, without single Latin letters."""
        found = words(question)
        return [word for word in found if word not in self._no_keywords and word not in ascii_lowercase]


def _any_of(listed: tuple[str, ...]) -> re.Pattern[str]:
    anywhere = "|".join(_pattern(phrase) for phrase in sorted(listed, key=len, reverse=True) if phrase[0] != "^")
    first = "|".join(_pattern(phrase[1:]) for phrase in listed if phrase[0] == "^")
    sources = [whole_word_source(f"(?:{anywhere})")] if anywhere else []
    sources += [rf"^{whole_word_source(f'(?:{first})')}"] if first else []
    return re.compile("|".join(sources) or "(?!)")


def _pattern(phrase: str) -> str:
    return r"\s{1,3}".join(re.escape(plain(word)) for word in phrase.split())


def question_words(text: str) -> ForeignQuestions | None:
    """Return the question words of a text's language; None for English and languages without lists."""
    language = guess_language(text)
    return _words_of(language) if language in LANGUAGES and language != "en" else None


@cache
def _words_of(code: str) -> ForeignQuestions:
    return ForeignQuestions(Language(code))


def check_asked(what: str, text: str) -> None:
    """Raise InvalidQuery for a text that is empty, no string, or longer than MOST_ASKED characters."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidQuery(f"the {what} is {describe_safely(text)}; expected some text")
    if len(text) > MOST_ASKED:
        raise InvalidQuery(f"the {what} has {len(text)} characters; expected at most {MOST_ASKED}")


def shorten_text(text: str) -> str:
    """Return the part of a text that is read: all of it, or its two ends, where a question stands by pasted text."""
    return text if len(text) <= 2 * _EITHER_END else f"{text[:_EITHER_END]} {text[-_EITHER_END:]}"


def looked_for(text: str) -> str:
    """Return the words to search for: the text, shortened, and those of an introduction for the asker's own name.

    A question for that name shares no word with "Hi, I'm Ilse".
    """
    read = shorten_text(text)
    return " ".join((read, *(told for asked, told in _introductions() if asked.search(read))))


@cache
def _introductions() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return by language the questions for the asker's own name, and the words with which a name is told."""
    return tuple(
        (re.compile("|".join(told.words("questions.own_name")), re.IGNORECASE), words)
        for told in map(Language, LANGUAGES)
        for words in told.words("questions.introduction")
    )


def find_hints(
    text: str,
    speakers: Iterable[str],
    asked_at: datetime | None,
    date_order: DateOrder | None = None,
    *,
    asker: str = "",
) -> Hints:
    """Return the hints of a question asked at a time; without one, its times stay unread.

    Where the name of the one who asks is known, `asker`, "I" and "my" name that speaker.
    """
    # Look for times and speakers in the first 1,000 characters, as it takes the most time.
    text = text[:1_000]
    named = tuple(
        speaker
        for speaker in speakers
        if or_else(None, _is_named, speaker, text)
        or (asker and speaker.casefold() == asker.casefold() and or_else(None, _speaks_of_self, text))
    )
    times = () if asked_at is None else tuple(or_else([], find_times, text, asked_at, "recent", date_order))
    when, several = or_else(None, asks_when, text), or_else(None, asks_for_several, text)
    return Hints(named, times, bool(when), _RECALLS.search(text) is not None, bool(several))


def _speaks_of_self(text: str) -> bool:
    foreign = question_words(text)
    return (foreign.user if foreign else _FIRST_PERSON).search(plain(text)) is not None


def asks_for_several(text: str) -> bool:
    """Return whether a question asks for the things of a kind ("What books has Mira read?"); a count is one thing."""
    return question_words(text) is None and _SEVERAL.search(text) is not None


def asks_when(text: str) -> bool:
    """Return whether a question asks for a time or a duration ("what did he do when ..." does not)."""
    foreign = question_words(text)
    if foreign is not None:
        return foreign.form(text) in {"time", "duration"}
    return _ASKS_WHEN.search(_TIME_COMPOUND.sub(" ", " ".join(text.split()))) is not None


def analyse(
    question: str, speakers: Sequence[str], asked_at: datetime | None, date_order: DateOrder | None = None
) -> Analysis:
    """Analyse a question, its hints included, given who speaks in the memory and what time it is."""
    from ..judging.evidence import Analysis  # noqa: PLC0415 - a judge takes it, and a search does without

    # Analyse the first 2,000 characters: no question is longer, pasted text may be.
    question = question[:2_000]
    hinted = find_hints(question, speakers, asked_at, date_order)
    wants: Wants = or_else("thing", answer_form, question)
    # At most 16 names, as each is sought in all evidence; labelled questions have up to four.
    entities = _distinct((*hinted.names, *or_else([], _other_names, question, hinted.names)))[:16]
    asked = hinted.names or or_else((), _asked_by_role, question, speakers)
    # At most 256 keywords are compared with the turns.
    keywords = or_else(tuple(plainest(question)), _keywords, question, hinted.names)[:256]
    temporal = wants in {"time", "duration"} or bool(hinted.times) or bool(or_else(None, _is_tied_to_time, question))
    today = asked_at and asked_at.date()
    past = [span for span in hinted.times if today is None or span.start is None or span.start.date() < today]
    return Analysis(
        question=question,
        entities=entities,
        asked=asked,
        wants=wants,
        keywords=keywords,
        terms=_distinct(or_else(keywords, _stems, keywords)),
        times=hinted.times,
        temporal=temporal,
        requirements=_requirements(question, entities, asked, keywords, wants, past),
        hints=hinted,
        supposed=entities[len(hinted.names) :] if hinted.names and _GUESSED.search(question) else (),
    )


def _stems(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(stem, words))


def _is_tied_to_time(question: str) -> bool:
    """Return whether a question sets the asked thing before, after or at the end of other things."""
    return question_words(question) is None and _TIED_TO_TIME.search(question) is not None


def answer_form(question: str) -> Wants:
    """Return the form of answer that a question asks for."""
    foreign = question_words(question)
    if foreign is not None:
        return foreign.form(question)
    return next((wants for wants, pattern in _FORMS if pattern.search(question)), "thing")


def _is_named(speaker: str, text: str) -> bool:
    """Return whether a text has a speaker's full or first name; user and assistant are named by pronouns as well."""
    role, foreign = speaker.casefold(), question_words(text)
    user, assistant = (foreign.user, foreign.assistant) if foreign else (_USER, _ASSISTANT)
    if (role == "user" and user.search(plain(text))) or (role == "assistant" and assistant.search(plain(text))):
        return True
    parts = [part for part in _NAME_PARTS.findall(speaker) if part.casefold() not in _HONORIFICS]
    return any(_occurs(name, text) for name in {" ".join(parts), *parts[:1]} if name)


def _occurs(name: str, text: str) -> bool:
    """Look for a name by word boundary in any case; one that is also a word counts only in its own case."""
    pattern = r"\W+".join(re.escape(part) for part in name.split())
    in_any_case = re.IGNORECASE if name.casefold() not in _NAMES_AND_WORDS else 0
    opens_as_verb = name.casefold() in _AUXILIARIES  # "Will she come?"
    places = find_whole_matches(re.compile(pattern, in_any_case), text)
    return any(place.start() > 0 or not opens_as_verb for place in places)


def _requirements(
    question: str,
    entities: Iterable[str],
    asked: Sequence[str],
    keywords: Sequence[str],
    wants: Wants,
    past: Sequence[TimeSpan],
) -> tuple[Requirement, ...]:
    """Return the requirements of an answer, in the question's words; nothing about the roles of user and assistant."""
    from ..judging.tracker import Requirement  # noqa: PLC0415 - as above

    named = [name for name in entities if name.casefold() not in ROLE_NAMES]
    needs = [Requirement(f"entity:{name}", "entity", name, f"something told of {name}") for name in named]
    for name in [name for name in asked if name not in named and name.casefold() not in ROLE_NAMES][:1]:
        needs.append(
            Requirement(f"attribution:{name}", "attribution", name, f"that it was told of {name}, and of no other")
        )
    if keywords:
        needs.append(Requirement("attribute", "attribute", " ".join(keywords), _words_from(question, keywords)))
    if wants in {"time", "duration"}:
        needs.append(
            Requirement("time", "time", " ".join(keywords), "when it was" if wants == "time" else "how long it took")
        )
    for span in past[:1]:
        needs.append(Requirement("when", "time", span.text, f"that it was at the time asked about: {span.text}"))
    return tuple(needs)


def _words_from(question: str, keywords: Sequence[str]) -> str:
    """Return a question, of a long one the words from its first to its last keyword, or else the keywords."""
    if len(question) <= 160:
        return " ".join(question.split())
    folded = question.casefold()
    first, last = folded.find(keywords[0].casefold()), folded.rfind(keywords[-1].casefold())
    if not 0 <= first <= last or last - first > 160:
        return " ".join(keywords)
    return " ".join(question[first : last + len(keywords[-1])].split())


def _asked_by_role(question: str, speakers: Sequence[str]) -> tuple[str, ...]:
    """Read "I" as the user and "you" as the assistant, where the speakers are called that."""
    known, foreign = {speaker.casefold(): speaker for speaker in speakers}, question_words(question)
    user, assistant = (foreign.user, foreign.assistant) if foreign else (_FIRST_PERSON, _ASSISTANT)
    if "user" in known and user.search(plain(question)):
        return (known["user"],)
    if "assistant" in known and assistant.search(plain(question)):
        return (known["assistant"],)
    return ()


def _other_names(question: str, known: Iterable[str]) -> list[str]:
    """Return the capitalised words of a question that are no words of names already known."""
    taken = {word.casefold() for name in known for word in name.split()}
    found: list[str] = []
    foreign = question_words(question)
    if foreign is not None and not foreign.capitalizes_names:
        return found
    for match in _NAME.finditer(question):
        opens, given = _opens_sentence(question, match.start()), match[0].split()
        if not _WORD_CHARACTER.search(question, 0, match.start()) and (
            foreign or not _is_english(question[match.end() :])
        ):
            opens, given = False, given[1:]  # its capital letter may be that of the sentence
        parts = [part for place, part in enumerate(given) if _may_name(part, opens=opens and place == 0)]
        while len(parts) > 1 and _without_possessive(parts[-1]).casefold() in taken:
            parts.pop()  # "Is Oscar Mira's cat?"
        name = _without_possessive(" ".join(parts))
        # A run of capitalised words of over 100 characters is a heading.
        if 0 < len(name) <= 100 and not {_without_possessive(part).casefold() for part in parts} <= taken:
            found.append(name)
    return found


def _is_english(text: str) -> bool:
    """Return whether a text has words of English sentences and is in no other known language, or has no word.

    They are more than a third of its words: "on" or "me" are words of many languages.
    """
    from ..extract.tagging import TAGS  # noqa: PLC0415 - as below

    found = words(text)
    telling = sum(word in STOP_WORDS or word in TAGS for word in found if len(word) > 1)
    return not found or (3 * telling > len(found) and guess_language(text) in ("", "en"))


def _opens_sentence(text: str, start: int) -> bool:
    """Return whether the word at `start` opens a sentence, by the text between it and the word before."""
    gap = start
    while gap and not (text[gap - 1].isalnum() or text[gap - 1] == "_"):
        gap -= 1
    return not gap or _SENTENCE_END.search(text, gap, start) is not None


def _may_name(word: str, *, opens: bool) -> bool:
    """Return whether a capitalised word may be of a name.

    A letter is none, and an ordinary word, of another language too, has its capital from the sentence that it opens, or
    from being stressed.
    """
    low = _without_possessive(word).casefold()
    if len(low) == 1 or low in _NOT_NAMES or (opens and low in _OPENERS_ELSEWHERE):
        return False
    shouted = word.isupper() or opens
    from ..extract.tagging import TAGS  # noqa: PLC0415 - the verbs of English, which only this needs

    return not shouted or low in _WORDS_TOO or not (low in TAGS or low in STOP_WORDS)


def _without_possessive(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "\u2019s")) else word


def _keywords(question: str, names: Iterable[str]) -> tuple[str, ...]:
    taken = {word for name in names for word in words(name)}
    foreign = question_words(question)
    if foreign is not None:
        return _distinct(word for word in foreign.keywords(question) if word not in taken)
    found = words(_MEASURE.sub(" ", question))
    return _distinct(word for word in found if word not in _NO_KEYWORDS and word not in taken)


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
