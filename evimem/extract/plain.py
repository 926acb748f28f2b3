"""Facts in plain words: the first person becomes the speaker, contractions are spelled out, fillers fall away."""

from __future__ import annotations

import re

from .tags import Tagged
from .verbs import lemma, third_person

_FILLERS = frozenset(
    "just really actually also finally already even honestly basically kinda sorta so too very quite literally totally definitely "
    "truly simply certainly absolutely obviously only now then recently instead anyway however pretty".split()
)
_SPELLED = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "n't": "not", "ca": "can", "wo": "will", "ai": "is", "gon": "going",
            "wan": "want", "ta": "to"}  # fmt: skip
_THIRD = {"am": "is", "'m": "is", "are": "is", "'re": "is", "were": "was", "have": "has", "'ve": "has", "do": "does", "ai": "is"}
_INVISIBLE = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f\x00-\x08\x0e-\x1f]")
_SPACES = re.compile(r"\s+")
# 's before these participles is "is"; before the others it is "has"
_STATES = frozenset(
    "married engaged divorced retired called named based located interested scared worried excited stressed supposed done made "
    "used broken built allowed involved located known related closed finished gone".split()
)


def clean(text: str) -> str:
    """Return text without invisible characters and with single spaces."""
    if not text.isascii() or not text.isprintable():
        text = _INVISIBLE.sub("", text)
    return " ".join(text.split())


class Voice:
    """Who speaks: renders ranges of tokens as the speaker's words told by somebody else."""

    __slots__ = ("_owner", "_replaced", "name")

    def __init__(self, name: str) -> None:
        self.name = clean(name) or "speaker"
        self._owner = self.name + ("'" if self.name.endswith("s") else "'s")
        self._replaced = {
            **dict.fromkeys(("i", "we", "me", "us", "myself", "ourselves"), self.name),
            **dict.fromkeys(("my", "our", "mine", "ours"), self._owner),
        }

    def phrase(self, sentence: Tagged, start: int, end: int) -> str:
        """Return tokens [start, end) with the first person replaced, quotations left as they are."""
        words, tags, text = sentence.words, sentence.tags, sentence.text
        replaced = self._replaced
        if replaced.keys().isdisjoint(words[start:end]):
            return clean(text[sentence.starts[start] : sentence.ends[end - 1]]) if start < end else ""
        pieces, kept = [], sentence.starts[start]
        first = False
        for index in range(start, end):
            word = words[index]
            new = replaced.get(word) if tags[index] not in '"M' else None
            if new is None and first and tags[index] in "bhmd":
                new = self._spelled(word, first=True, had=False)
                new = new if sentence.starts[index] > sentence.ends[index - 1] else " " + new
            first = word in ("i", "we") and new is not None
            if new is not None:
                pieces += (text[kept : sentence.starts[index]], new)
                kept = sentence.ends[index]
        pieces.append(text[kept : sentence.ends[end - 1]])
        return clean("".join(pieces))

    def subject(self, sentence: Tagged, start: int, end: int) -> str:
        """Return the subject in tokens [start, end), without the capital that only opens the sentence."""
        while start < end - 1 and sentence.tags[start] in "R!_,":
            start += 1
        phrase = self.phrase(sentence, start, end)
        if sentence.tags[start] in "DtqxeyRJzwgU" and not phrase[:2].isupper() or sentence.words[start] in ("her", "his", "their", "its"):
            return phrase[:1].lower() + phrase[1:]
        return phrase

    @staticmethod
    def _spelled(word: str, *, first: bool, had: bool) -> str:
        if word == "'d":
            return "had" if had else "would"
        if first and word in _THIRD:
            return _THIRD[word]
        return _SPELLED.get(word, word)

    def predicate(self, sentence: Tagged, start: int, end: int, *, first: bool) -> str:
        """Return the verb group in tokens [start, end) as it is said of a third person when `first`."""
        words, tags = sentence.words, sentence.tags
        kept: list[str] = []
        finite = True
        for index in range(start, end):
            word, tag = words[index], tags[index]
            if tag in "R~s" and (word in _FILLERS or tag == "~"):
                continue
            if tag in "Rn":
                kept.append("not" if word == "n't" else word)
                continue
            if finite and word == "'s":
                later = [i for i in range(index + 1, end) if tags[i] in "kpbg"]
                has = bool(later) and tags[later[0]] in "kpb" and words[later[0]] not in _STATES
                kept.append("has" if has else "is")
            elif finite and tag == "m" and word == "'d":
                kept.append("had" if any(tags[i] in "kp" for i in range(index + 1, end)) else "would")
            elif finite and first and tag in "vwLN" :
                kept.append(third_person(lemma(word)))
            else:
                kept.append(self._spelled(word, first=first and finite, had=False))
            finite = False
        return " ".join(kept)
