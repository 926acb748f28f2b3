"""What a question asks for: the form of the answer, the asked noun, and the words that a passage must bind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from ...extract.tag_letters import Tag, TagSet
from ...extract.tagging import lowered, tagged
from ...judging.evidence import Analysis, View
from ...lang import ENGLISH
from ...text.terms import STOP_WORDS, stem, words
from ..match_sentences import rarity


def _patterns(name: str) -> re.Pattern[str]:
    return re.compile("|".join(ENGLISH.words(name)), re.IGNORECASE)


_AUXILIARY = ENGLISH.any_of("word_classes.auxiliaries.common", "word_classes.auxiliaries.asking")
_UNIT = ENGLISH.any_of("questions.answer_units")
_FORMS = tuple(
    (form, tuple(re.compile(p.replace("{aux}", _AUXILIARY).replace("{unit}", _UNIT), re.IGNORECASE) for p in patterns))
    for form, patterns in ENGLISH.table("asked_forms.forms").items()
)
_LEAD_IN = re.compile(rf"^\W*(?:{'|'.join(ENGLISH.words('asked_forms.lead_ins'))})\b[\s,:]*", re.IGNORECASE)
_FIRST_VALUE, _OF_ASSISTANT, _COMPARES = map(
    _patterns, ("asked_forms.first_value", "asked_forms.of_assistant", "asked_forms.compares")
)
_SETTLING, SETTLED, _NEWEST = map(_patterns, ("asked_forms.settling", "asked_forms.settled", "asked_forms.newest"))
_YEARLY, _BORN = map(_patterns, ("asked_forms.yearly", "asked_forms.born"))
_LIGHT = STOP_WORDS.union(*((word, stem(word)) for word in ENGLISH.words("asked_forms.light")))
_FORM_WORDS = frozenset(ENGLISH.words("asked_forms.form_words"))
_ASKED_NOUN = re.compile(
    r"\b(?i:what|which|how\s+many)\s+(?:(?:kinds?|types?|sorts?|brand|make)\s+of\s+)?((?:[\w'-]+\s+){0,2}?[\w'-]+)"
    rf"(?=\s+(?:{_AUXILIARY}|of|in|on|for|to|from|at|i|we|you|he|she|they|it|the|my|our)\b|\s*\?|\s+[A-Z]|\s*$)"
)
_OWNED = re.compile(
    r"\b(?:my|our|your|\w+['\u2019]s|\w+s['\u2019])\s+(?:[\w-]+\s+){0,2}?([\w-]+)(?=\s+(?:\w+(?:ed|ing)|for|in|at|on|to|is|was|as|and)\b|\?|$)",
    re.IGNORECASE,
)
_HAPPENED = re.compile(r"\bdid\b", re.IGNORECASE)
_SUBORDINATE = re.compile(
    r"\s(?:after|before|when|while|because|since|until|if|though|although|who|that)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_BEFORE_NOUN = (*TagSet.DETERMINERS, Tag.ADJECTIVE, Tag.PREPOSITION, Tag.APOSTROPHE)
_MOST_BOUND = 256  # words of a question that a passage must bind: no question has more, pasted text may
_COMMON = 0.2  # weight of the commonest word that must be bound; the rarest has 1.2


@dataclass(frozen=True, slots=True)
class AskedForm:
    """A question read for an answer that can be proved.

    `form` names the form of the answer, `text` is the question without words like "remind me". `noun` has the stems of
    the asked noun ("which payment provider"), the head last; `unit` is that of "how many weeks"; `verb` is the main
    verb as it is spelled. `weights` maps each stem that a passage must bind to its weight, `spelled` the stem to its
    word. `subject` are the speakers it is about, `people` the words of their names, `names` the stems of other names,
    `owned` the nouns that are said to be somebody's, `numbers` its numbers.

    `first` is whether the value that came first is asked for, `happened` whether it asks for what has happened,
    `settling` for a value that settled after others, `newest` for such a one or what holds now, `yearly` for a day that
    comes every year, `compares` for arithmetic or a guess, `of_assistant` for what the assistant said.
    """

    form: str
    text: str
    noun: tuple[str, ...] = ()
    unit: str = ""
    verb: str = ""
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    spelled: Mapping[str, str] = field(default_factory=dict, hash=False)
    subject: tuple[str, ...] = ()
    people: frozenset[str] = frozenset()
    owned: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    first: bool = False
    happened: bool = False
    settling: bool = False
    newest: bool = False
    yearly: bool = False
    compares: bool = False
    of_assistant: bool = False


def asked_of(view: View) -> AskedForm:
    """Return the form of a view's question, which all its checks share."""
    return view.kept("asked form", lambda: asked_form(view.analysis))


def asked_form(analysis: Analysis) -> AskedForm:
    """Read a question."""
    text = bare(analysis.question)
    form = asked_kind(text)
    found = _ASKED_NOUN.search(text) if form in ("noun", "count", "duration") else None
    noun = tuple(stem(word) for word in words(found[1])) if found else ()
    people = {word for name in analysis.asked for word in words(name)}
    dates = {word for span in analysis.times for word in words(span.text)}
    content = [word for word in words(text) if word not in people | dates and word not in STOP_WORDS]
    telling = [word for word in content if not {word, stem(word)} & _LIGHT]
    binding = telling if len(telling) > 1 else [word for word in content if word not in _FORM_WORDS]
    spelled = {stem(word): word for word in list(dict.fromkeys(binding))[:_MOST_BOUND]}
    return AskedForm(
        form=form,
        text=text,
        noun=noun,
        unit=words(found[1])[-1] if found and form == "duration" else "",
        verb=_verb(text),
        weights={term: _COMMON + rarity(term) for term in spelled if term not in noun[-1:] or form == "count"},
        spelled=spelled,
        subject=analysis.asked,
        people=frozenset(people),
        owned=frozenset(word for word in _OWNED.findall(text) if stem(word.casefold()) in spelled),
        names=frozenset(stem(word) for name in analysis.entities for word in words(name)) & frozenset(spelled),
        numbers=frozenset(_NUMBER.findall(text)),
        first=_FIRST_VALUE.search(text) is not None,
        happened=_HAPPENED.search(text) is not None,
        settling=_SETTLING.search(text) is not None,
        newest=_SETTLING.search(text) is not None or _NEWEST.search(text) is not None,
        yearly=_YEARLY.search(text) is not None or _is_birth_of(people, text),
        compares=_COMPARES.search(text) is not None,
        of_assistant="assistant" in map(str.casefold, analysis.asked) and _OF_ASSISTANT.search(text) is not None,
    )


def _is_birth_of(people: Set[str], text: str) -> bool:
    """Return whether a question asks when a speaker was born."""
    found = _BORN.search(text)
    return found is not None and set(words(found["who"])) <= people | {"i"}


def asked_kind(text: str) -> str:
    """Return the form of answer that a question asks for; "none" where its words show none."""
    return next((name for name, patterns in _FORMS if any(p.search(text) for p in patterns)), "none")


def bare(question: str) -> str:
    """Return a question without the words before it: "can you remind me"."""
    text = " ".join(question.replace("\u2019", "'").split())
    while (found := _LEAD_IN.match(text)) and found.end() < len(text):
        text = text[found.end() :]
    return text


def _verb(text: str) -> str:
    """Return the main verb of a question; "" where it has none besides auxiliaries."""
    clause = _SUBORDINATE.split(text, maxsplit=1)[0]
    sentence = tagged(clause, lowered(clause), 0, len(clause))
    for place in range(1, len(sentence.tags)):
        noun = sentence.tags[place - 1] in _BEFORE_NOUN or sentence.words[place - 1] in ("what", "which")
        if sentence.tags[place] in TagSet.FULL_VERBS and not noun:
            return sentence.words[place]
    return ""
