"""What a predicate means apart from its tense and wording: "moved to", "relocated to" and "lives in" are all "live"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from .function_words import TAGS, guess
from .verb_senses import HOPE, LIKE, SAY
from .verbs import lemma

_BY_VERB = {
    "live": "live reside dwell relocate immigrate emigrate resettle",
    "work": "work resign retire freelance intern",
    "like": "like love enjoy adore prefer",
    "dislike": "dislike hate despise detest",
    "own": "own have adopt buy purchase get acquire possess inherit",
    "sell": "sell donate",
    "study": "study major enroll enrol attend graduate",
    "relationship": "marry wed date divorce engage",
    "feel": "feel",
    "name": "name call",
}
_BY_PHRASE = {
    "live": "move to/move in/move into/move back/move from/move out/move away/settle in/settle down/base in",
    "origin": "be from",
    "relationship": "break up/split up/engage to/be with",
    "work": "lay off/quit as/leave as",
    "like": "be into",
    "sell": "give away",
    "name": "go by",
}
_CLASSES = {verb: name for name, verbs in _BY_VERB.items() for verb in verbs.split()}
_PHRASES = {phrase: name for name, phrases in _BY_PHRASE.items() for phrase in phrases.split("/")}


class _Cue(NamedTuple):
    """What a colourless verb means with one of these words in its object: "started a new job"."""

    verbs: frozenset[str]
    words: frozenset[str]
    name: str


_CUES = (
    _Cue(
        frozenset("start get have take land accept begin find quit leave lose".split()),
        frozenset("job position role career internship gig work company firm".split()),
        "work",
    ),
    _Cue(
        frozenset("start begin take go have do".split()),
        frozenset("school university college class course degree phd masters programme program".split()),
        "study",
    ),
    _Cue(
        frozenset("be get become stay".split()),
        frozenset("single married engaged divorced widowed separated dating".split()),
        "relationship",
    ),
    _Cue(
        frozenset("be get become".split()),
        frozenset(
            """
            happy sad glad excited nervous anxious stressed worried proud tired exhausted lonely scared afraid upset
            angry relieved grateful thankful overwhelmed disappointed bored jealous thrilled
            """.split()
        ),
        "feel",
    ),
)
_YEARS_OLD = frozenset(("years", "year-old", "old"))
_INTENDED = HOPE | {"go", "think", "suggest", "consider", "try", "decide", "promise", "propose", "look"}
_STOPS, _STARTS = frozenset(("stop", "quit", "cease")), frozenset(("start", "begin", "get"))
_VERBAL = frozenset("vwfkpgzZLbhd")


class Sense(NamedTuple):
    """A predicate taken apart: its last verb, the word after it, and how it is said.

    `past` is a simple past, `used` a "used to", `modal` what is not so, or not yet; `begun` a change ("started
    drinking"). What stopped is negative.
    """

    verb: str
    particle: str
    negative: bool
    past: bool
    used: bool
    modal: bool
    begun: bool


@lru_cache(maxsize=8192)
def sense(predicate: str) -> Sense:
    """Return what a predicate says and how."""
    words = predicate.casefold().replace("\u2019", "'").replace("n't", " not").split()
    tags = [TAGS.get(word) or guess(word) for word in words]
    verbs = [index for index, tag in enumerate(tags) if tag in _VERBAL]
    if not verbs:
        return Sense(words[0] if words else "", "", False, False, False, "m" in tags, False)  # noqa: FBT003
    if lemma(words[verbs[0]]) in SAY and len(verbs) > 1:  # "said he lost": what is said counts
        return sense(" ".join(words[verbs[0] + 2 :]))
    full = [index for index in verbs if tags[index] not in "bhd"] or verbs[-1:]
    chain = [lemma(words[index]) for index in full]
    verb = "like" if chain[0] in LIKE - {"hate", "dislike", "despise"} else "be" if tags[full[-1]] == "b" else chain[-1]
    first = words[verbs[0]]
    used = "used to" in predicate
    perfect = first in ("has", "have", "'s", "'ve")
    stopped, begun = (len(chain) > 1 and chain[0] in steps for steps in (_STOPS, _STARTS))
    return Sense(
        verb=verb,
        particle=_particle(words, tags, full[-1]),
        negative=stopped != ("not" in words or "never" in words or "no longer" in predicate),
        past=not perfect and (tags[verbs[0]] in "fk" or first in ("was", "were", "did", "had")),
        used=used,
        modal="m" in tags or (len(full) > 1 and not used and chain[0] in _INTENDED),
        begun=stopped or begun,
    )


def _particle(words: Sequence[str], tags: Sequence[str], verb: int) -> str:
    after = range(verb + 1, len(words))
    return next((words[index] for index in after if tags[index] in "PTrQ"), "")


def predicate_class(predicate: str, obj: str = "", subject: str = "") -> str:
    """Return the class of a predicate, or the lemma of its verb; object and subject decide where it alone does not.

    Classes: live, origin, work, study, own, sell, like, dislike, relationship, feel, name, age; "be" for other copulas.
    """
    verb, particle, *_ = sense(predicate)
    by_phrase = _PHRASES.get(f"{verb} {particle}")
    if by_phrase is not None:
        return by_phrase
    words = frozenset(obj.casefold().replace(",", " ").split())
    for cue in _CUES:
        if verb in cue.verbs and not cue.words.isdisjoint(words):
            return cue.name
    if verb in ("be", "turn") and (obj.isdigit() or not _YEARS_OLD.isdisjoint(words)):
        return "age"
    if verb == "be" and subject.casefold().endswith("name"):
        return "name"
    return _CLASSES.get(verb, verb)
