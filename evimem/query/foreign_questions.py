"""What a question in another language than English asks, from the lists of `lang/<code>/questions.toml`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from string import ascii_lowercase

from ..judging.evidence import Wants
from ..lang import Language
from ..lang.guess import LANGUAGES, language_of
from ..text.names import whole_word
from ..text.plain_letters import plain
from ..text.terms import words

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
_NOUNS_ARE_CAPITALISED = frozenset(("de",))
_OPENING = " \t\n\"'([\u00bf\u00a1\u2026.,-"  # marks before the first word
_ENDS_ASKING = re.compile(r"[?\uff1f\u061f]\W*$")


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
        """Words that say nothing of what is asked, as `words` gives them."""
        lists = ("common.function_words", *(f"questions.{name}" for _, name in _LISTS))
        return frozenset(word for name in lists for listed in self.language.words(name) for word in words(listed))

    @property
    def marks_names(self) -> bool:
        """Whether a capital letter inside a sentence shows a name."""
        return self.language.code not in _NOUNS_ARE_CAPITALISED

    def form(self, question: str) -> Wants:
        """Return the form of answer that a question asks for: by its first question word, the longest of several."""
        text = plain(question).lstrip(_OPENING)
        found = [(match, wants) for wants, words in self.forms if (match := words.search(text))]
        if found:
            return min(found, key=lambda each: (each[0].start(), -each[0].end()))[1]
        return "yes_no" if _ENDS_ASKING.search(text) else "thing"

    def keywords(self, question: str) -> list[str]:
        """Return the words of a question that say what is asked, without single Latin letters."""
        found = words(question)
        return [word for word in found if word not in self._no_keywords and word not in ascii_lowercase]


def _any_of(listed: tuple[str, ...]) -> re.Pattern[str]:
    anywhere = "|".join(_pattern(phrase) for phrase in sorted(listed, key=len, reverse=True) if phrase[0] != "^")
    first = "|".join(_pattern(phrase[1:]) for phrase in listed if phrase[0] == "^")
    sources = [whole_word(f"(?:{anywhere})")] if anywhere else []
    sources += [rf"^{whole_word(f'(?:{first})')}"] if first else []
    return re.compile("|".join(sources) or "(?!)")


def _pattern(phrase: str) -> str:
    return r"\s{1,3}".join(re.escape(plain(word)) for word in phrase.split())


def question_words(text: str) -> ForeignQuestions | None:
    """Return the question words of a text's language; None for English and languages without lists."""
    language = language_of(text)
    return _words_of(language) if language in LANGUAGES and language != "en" else None


@cache
def _words_of(code: str) -> ForeignQuestions:
    return ForeignQuestions(Language(code))
