"""The tag that a word has by itself: from the word lists, or guessed from its shape."""

from __future__ import annotations

from typing import NamedTuple

from ..lang import ENGLISH
from .tag_letters import Tag, letters
from .verbs import TAGS as VERB_TAGS


class Split(NamedTuple):
    """Where a contraction without an apostrophe divides, and its two words: "dont" is "do" and "n't"."""

    at: int
    words: tuple[str, str]


def _splits() -> dict[str, Split]:
    pairs = {form: (words[0], words[1]) for form, words in ENGLISH.lists("grammar.contractions").items()}
    return {form: Split(len(words[0]), words) for form, words in pairs.items()}


SPLITS = _splits()
TAGS: dict[str, str] = {
    **VERB_TAGS,
    **dict.fromkeys(ENGLISH.words("verbs.auxiliaries.be"), Tag.BE),
    **{word: letters(name.upper()) for name, words in ENGLISH.lists("grammar.word_classes").items() for word in words},
}

_NOT_ADVERBS = frozenset(ENGLISH.words("grammar.not_adverbs"))  # in spite of their -ly
_SINGULAR_ENDINGS = ("ss", "us", "is", "'s")
# an ending, how long a word with it must be at least, and the tag that it shows
_ENDINGS = (
    ("ly", 5, Tag.ADVERB),
    ("ing", 6, Tag.GERUND),
    ("ed", 5, Tag.PAST_OR_PARTICIPLE),
    ("s", 4, Tag.PLURAL),
)
_NOUNS_TOO = letters("S_FORM_OR_PLURAL BASE_OR_NOUN")


def guess(word: str) -> str:
    """Return the tag of a lower-case word that no list has, from its shape."""
    if not word[0].isalpha():
        return Tag.DETERMINER if word[0].isdigit() or word[-1].isdigit() or word[1:2].isdigit() else Tag.SYMBOL
    if word.startswith(("re", "un")) and VERB_TAGS.get(word[2:], Tag.BASE_OR_NOUN) not in _NOUNS_TOO:
        return VERB_TAGS[word[2:]]  # recreate, unpacked
    if word in _NOT_ADVERBS or word.endswith(_SINGULAR_ENDINGS):
        return Tag.NOUN
    for ending, least, tag in _ENDINGS:
        if len(word) >= least and word.endswith(ending):
            return tag
    return Tag.NOUN
