"""Facts in plain words: the first person becomes the speaker, contractions are spelled out, fillers fall away."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from .tagging import Tagged
from .verbs import lemma, third_person

# the adverbs that a predicate keeps, because they change what is said
_KEPT = frozenset(
    """
    never always usually often still no longer maybe probably perhaps possibly sometimes almost nearly hardly barely
    rarely seldom ever again rather supposedly apparently likely once twice regularly
    """.split()
)
_SPELLED = dict(
    pair.split(":")
    for pair in "'m:am 're:are 've:have 'll:will n't:not ca:can wo:will ai:is gon:going wan:want".split()
)
_THIRD = dict(pair.split(":") for pair in "am:is 'm:is are:is 're:is were:was have:has 've:has do:does ai:is".split())
# before these participles 's is "is"; before the others it is "has"
_STATES = frozenset(
    """
    married engaged divorced retired called named based located scared worried stressed supposed done made used broken
    built involved known related closed finished gone
    """.split()
)
_LOWERED = frozenset("DtqxeyRJzwgUk")


def clean(text: str) -> str:
    """Return text with single spaces and without what is not printable: control, format and surrogate characters."""
    if text.isprintable():
        return " ".join(text.split()) if "  " in text else text.strip()
    return " ".join(filter(None, ("".join(filter(str.isprintable, word)) for word in text.split())))


@lru_cache(maxsize=512)
def voice_of(speaker: str) -> Voice:
    """Return the voice of a speaker."""
    return Voice(speaker)


class Voice:
    """Who speaks: tells ranges of tokens as somebody else would."""

    __slots__ = ("_replaced", "name")

    def __init__(self, name: str) -> None:
        self.name = clean(name) or "speaker"
        owner = self.name + ("'" if self.name.endswith("s") else "'s")
        self._replaced = {
            **dict.fromkeys(("i", "we", "me", "us", "myself", "ourselves"), self.name),
            **dict.fromkeys(("my", "our", "mine", "ours"), owner),
        }

    def phrase(self, sentence: Tagged, start: int, end: int) -> str:
        """Return tokens [start, end) with the first person replaced; what is quoted stays as it was said."""
        if start >= end:
            return ""
        words, tags, text, ranges = sentence.words, sentence.tags, sentence.text, sentence.ranges
        replaced = self._replaced
        kept = ranges[start][0]
        if replaced.keys().isdisjoint(words[start:end]):
            return clean(text[kept : ranges[end - 1][1]])
        pieces: list[str] = []
        first = False
        for index in range(start, end):
            word = words[index]
            new = replaced.get(word) if tags[index] not in '"M' else None
            if new is None and first and tags[index] in "bhmd":
                new = " " * (ranges[index - 1][1] == ranges[index][0]) + _spelled(word, first=True)
            elif new is None and first and tags[index] in "vwL":
                new = third_person(word)
            first = (word in ("i", "we") and new is not None) or (first and tags[index] in "Rn")
            if new is not None:
                pieces += (text[kept : ranges[index][0]], new)
                kept = ranges[index][1]
        pieces.append(text[kept : ranges[end - 1][1]])
        return clean("".join(pieces))

    def subject(self, sentence: Tagged, start: int, end: int) -> str:
        """Return the subject in tokens [start, end), without the capital that only opens the sentence."""
        tags = sentence.tags
        while start < end - 1 and tags[start] in "R!_,":
            start += 1
        if end - start == 1 and tags[start] == "i":
            return self.name
        phrase = self.phrase(sentence, start, end)
        opens = tags[start] in _LOWERED or (tags[start] == "S" and sentence.words[start] not in self._replaced)
        return phrase[:1].lower() + phrase[1:] if opens and not phrase[1:2].isupper() else phrase

    def predicate(self, sentence: Tagged, start: int, end: int, *, first: bool) -> str:
        """Return the verb group in tokens [start, end); `first` when its subject is the speaker."""
        words, tags = sentence.words, sentence.tags
        kept: list[str] = []
        finite = True
        for index in range(start, end):
            word, tag = words[index], tags[index]
            if tag in "Rs~":
                if word in _KEPT:
                    kept.append(word)
                continue
            if tag == "n":
                kept.append("not" if word == "n't" else word)
                continue
            if finite and word in ("'s", "'d"):
                word = _ambiguous(word, words[index + 1 : end], tags[index + 1 : end])
            elif finite and first and tag in "vwLN":
                word = third_person(lemma(word))
            elif finite and (tag == "g" or word == "been"):
                word = ("has " if word == "been" else "is ") + _spelled(word, first=False)
            else:
                word = _spelled(word, first=first and finite)
            kept.append(word)
            finite = False
        return clean(" ".join(kept))


def _spelled(word: str, *, first: bool) -> str:
    if word == "'d":
        return "would"
    if first and word in _THIRD:
        return _THIRD[word]
    return _SPELLED.get(word, word)


def _ambiguous(word: str, words: Sequence[str], tags: str) -> str:
    """Return what 's or 'd stands for before the rest of its verb group."""
    verb = tags.lstrip("Rns~")[:1]
    if word == "'d":
        return "had" if verb and verb in "kpb" else "would"
    return "has" if verb and verb in "kpb" and _STATES.isdisjoint(words) else "is"
