"""What a question asks for: the form of the answer, the asked noun, and the words that a passage must bind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...extract.tag_letters import Tag, TagSet
from ...extract.tagging import lowered, tagged
from ...judging.evidence import Analysis
from ...lang import ENGLISH
from ...text.terms import STOP_WORDS, stem, words
from ..match_sentences import rarity


def _words(name: str) -> tuple[str, ...]:
    return ENGLISH.words(name)


def _any(*names: str) -> str:
    return "|".join(re.escape(word) for name in names for word in _words(name))


_AUXILIARY = _any("word_classes.auxiliaries.common", "word_classes.auxiliaries.asking")
_UNIT = f"(?:{_any('questions.answer_units')})"
_FORMS = tuple(
    (form, tuple(re.compile(p.replace("{aux}", _AUXILIARY).replace("{unit}", _UNIT), re.IGNORECASE) for p in patterns))
    for form, patterns in ENGLISH.table("asked_forms.forms").items()
)
_LEAD_IN = re.compile(rf"^\W*(?:{'|'.join(_words('asked_forms.lead_ins'))})\b[\s,:]*", re.IGNORECASE)
_FIRST_VALUE = re.compile("|".join(_words("asked_forms.first_value")), re.IGNORECASE)
_LIGHT = STOP_WORDS.union(map(stem, _words("asked_forms.light")), _words("asked_forms.light"))
_ASKED_NOUN = re.compile(
    r"\b(?i:what|which|how\s+many)\s+(?:(?:kinds?|types?|sorts?|brand|make)\s+of\s+)?((?:[\w'-]+\s+){0,2}?[\w'-]+)"
    rf"(?=\s+(?:{_AUXILIARY}|of|in|on|for|to|from|at|i|we|you|he|she|they|it|the|my|our)\b|\s*\?|\s+[A-Z]|\s*$)"
)
_OF_ASSISTANT = re.compile("|".join(_words("asked_forms.of_assistant")), re.IGNORECASE)
_SUBORDINATE = re.compile(r"\b(?:after|before|when|while|because|since|until|if|though|although|who|that)\b(?<!^who)(?<!^when)", re.IGNORECASE)
_BEFORE_NOUN = (*TagSet.DETERMINERS, Tag.ADJECTIVE, Tag.PREPOSITION, Tag.APOSTROPHE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_COMMON = 0.2  # weight of the commonest word that must be bound; the rarest has 1.2


@dataclass(frozen=True, slots=True)
class AskedForm:
    """A question read for an answer that can be proved.

    `form` names the form of the answer; `text` is the question without words like "remind me"; `noun` has the stems of
    the asked noun ("which payment provider"), the head last; `weights` maps each stem that a passage must bind to its
    weight; `subject` are the speakers it is about; `first` is whether the value that came first is asked for.
    """

    form: str
    text: str
    noun: tuple[str, ...]
    weights: Mapping[str, float] = field(hash=False)
    spelled: Mapping[str, str] = field(hash=False)
    subject: tuple[str, ...] = ()
    first: bool = False
    of_assistant: bool = False
    verb: str = ""
    noun_words: tuple[str, ...] = ()
    people: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()


def asked_form(analysis: Analysis) -> AskedForm:
    """Read a question."""
    text = bare(analysis.question)
    form = asked_kind(text)
    found = _ASKED_NOUN.search(text)
    noun = tuple(stem(word) for word in words(found[1])) if found and form in ("noun", "count", "duration") else ()
    people = {word for name in analysis.asked for word in words(name)}
    spelled = {stem(word): word for word in words(text) if word not in _LIGHT and stem(word) not in _LIGHT and word not in people}
    return AskedForm(
        form=form,
        text=text,
        noun=noun,
        weights={term: _COMMON + rarity(term) for term in spelled if term not in noun[-1:] or form == "count"},
        spelled=spelled,
        subject=analysis.asked,
        first=_FIRST_VALUE.search(text) is not None,
        numbers=frozenset(_NUMBER.findall(text)),
        verb=verb_of(text, spelled),
        noun_words=tuple(words(found[1])) if noun and found else (),
        people=frozenset(people),
        of_assistant="assistant" in map(str.casefold, analysis.asked) and _OF_ASSISTANT.search(text) is not None,
    )


def verb_of(text: str, weights: Mapping[str, str]) -> str:
    """Return the main verb of a question; "" where it has none that carries meaning."""
    text = _SUBORDINATE.split(text, maxsplit=1)[0]
    sentence = tagged(text, lowered(text), 0, len(text))
    for place in range(1, len(sentence.tags)):
        if sentence.tags[place] in TagSet.FULL_VERBS and sentence.tags[place - 1] not in _BEFORE_NOUN and stem(sentence.words[place]) in weights:
            return sentence.words[place]
    return ""


def asked_kind(text: str) -> str:
    """Return the form of answer that a question asks for; "none" where its words show none."""
    return next((name for name, patterns in _FORMS if any(p.search(text) for p in patterns)), "none")


def bare(question: str) -> str:
    """Return a question without the words before it: "can you remind me"."""
    text = " ".join(question.replace("\u2019", "'").split())
    while (found := _LEAD_IN.match(text)) and found.end() < len(text):
        text = text[found.end() :]
    return text
