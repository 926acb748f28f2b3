"""What a predicate means apart from its tense and wording: "moved to", "relocated to" and "lives in" are all "live"."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from .senses import HOPE, LIKE, SAY
from .verbs import lemma
from .words import TAGS, guess

_BY_VERB = {
    "live": "live reside dwell relocate immigrate emigrate resettle",
    "work": "work resign retire freelance intern",
    "like": "like love enjoy adore prefer",
    "dislike": "dislike hate despise detest",
    "own": "own have adopt buy purchase get acquire possess inherit",
    "sell": "sell donate",
    "study": "study major enroll enrol attend graduate",
    "relationship": "marry wed date divorce",
    "feel": "feel",
    "name": "name call",
}
_CLASSES = {verb: name for name, verbs in _BY_VERB.items() for verb in verbs.split()}
# a verb with the particle or preposition that decides
_PHRASES = {
    **dict.fromkeys((("move", word) for word in ("to", "in", "into", "back", "from", "out", "away")), "live"),
    **dict.fromkeys((("settle", word) for word in ("in", "down", "into")), "live"),
    **dict.fromkeys((("base", word) for word in ("in", "at")), "live"),
    **dict.fromkeys((("be", word) for word in ("from",)), "origin"),
    **dict.fromkeys(
        (("break", "up"), ("split", "up"), ("engage", "to"), ("see", "with"), ("be", "with")), "relationship"
    ),
    **dict.fromkeys((("lay", "off"), ("quit", "as"), ("leave", "as")), "work"),
    **dict.fromkeys((("be", "into"),), "like"),
    **dict.fromkeys((("give", "away"),), "sell"),
    **dict.fromkeys((("go", "by"),), "name"),
}
# what a bare verb means by its object: (verbs, words of the object, class)
_JOB = frozenset("job position role career internship gig work company firm".split())
_SCHOOL = frozenset("school university college class course degree phd masters programme program".split())
_STATUS = frozenset("single married engaged divorced widowed separated dating".split())
_FEELINGS = frozenset(
    "happy sad glad excited nervous anxious stressed worried proud tired exhausted lonely scared afraid upset angry relieved grateful "
    "thankful overwhelmed disappointed bored jealous thrilled".split()
)
_YEARS_OLD = frozenset(("years", "year-old", "old"))
_BY_OBJECT = (
    (frozenset("start get have take land accept begin find quit leave lose".split()), _JOB, "work"),
    (frozenset("start begin take go have do".split()), _SCHOOL, "study"),
    (frozenset("be get become stay".split()), _STATUS, "relationship"),
    (frozenset("be get become".split()), _FEELINGS, "feel"),
)
_MODALS = frozenset("will would can could may might shall should must cannot 'll wo".split())
_STOPS, _STARTS = frozenset(("stop", "quit", "cease")), frozenset(("start", "begin", "get"))
_INTENDED = HOPE | {"go", "think", "suggest", "consider", "try", "decide", "promise", "propose", "look"}


class Sense(NamedTuple):
    """A predicate taken apart. `past` is a simple past, `used` a "used to", `modal` what is not (yet) so, `begun` a change
    ("started drinking"). What stopped is negative.
    """

    verb: str
    particle: str
    negative: bool
    past: bool
    used: bool
    modal: bool
    begun: bool


def _tag(word: str) -> str:
    return TAGS.get(word) or guess(word)


@lru_cache(maxsize=8192)
def sense(predicate: str) -> Sense:
    """Return what a predicate says and how: its last verb, the particle after it, negation, tense and modality."""
    words = predicate.casefold().replace("’", "'").replace("n't", " not").split()
    tags = [_tag(word) for word in words]
    verbs = [index for index, tag in enumerate(tags) if tag in "vwfkpgzZLbhd"]
    if verbs and lemma(words[verbs[0]]) in SAY and len(verbs) > 1:  # "said he lost": what is said counts
        return sense(" ".join(words[verbs[0] + 2 :] or words[:1]))
    full = [index for index in verbs if tags[index] not in "bhd"] or verbs[-1:]
    first = verbs[0] if verbs else 0
    chain = [lemma(words[index]) for index in full]
    at = full[-1] if full else 0
    verb = "like" if chain and chain[0] in LIKE else chain[-1] if chain else (words[0] if words else "")
    if full and tags[full[-1]] == "b":
        verb = "be"
    used = "used to" in predicate
    perfect = bool(verbs) and words[first] in ("has", "have", "'s", "'ve")
    past = bool(verbs) and not perfect and (tags[first] in "fk" or words[first] in ("was", "were", "did", "had"))
    stopped = len(chain) > 1 and chain[0] in _STOPS
    begun = stopped or (len(chain) > 1 and chain[0] in _STARTS)
    negative = stopped != ("not" in words or "never" in words or "no longer" in predicate)
    modal = any(tag == "m" or word in _MODALS for tag, word in zip(tags, words, strict=True)) or (
        len(full) > 1 and not used and chain[0] in _INTENDED
    )
    particle = next((word for word, tag in zip(words[at + 1 :], tags[at + 1 :], strict=True) if tag in "PTrQ"), "")
    return Sense(verb, particle, negative, past, used, modal, begun)


def predicate_class(predicate: str, obj: str = "", subject: str = "") -> str:
    """Return the class of a predicate, or the lemma of its verb; the object and the subject decide where it alone does not.

    Classes: live, origin, work, study, own, sell, like, dislike, relationship, feel, name, age; "be" for other copulas.
    """
    verb, particle, *_ = sense(predicate)
    by_phrase = _PHRASES.get((verb, particle))
    if by_phrase is not None:
        return by_phrase
    words = set(obj.casefold().replace(",", " ").split())
    for verbs, cues, name in _BY_OBJECT:
        if verb in verbs and not cues.isdisjoint(words):
            return name
    if verb in ("be", "turn") and (words & _YEARS_OLD or obj.isdigit()):
        return "age"
    if verb == "be" and subject.casefold().endswith(("name", "nickname")):
        return "name"
    if verb == "engage" or verb in _STATUS:
        return "relationship"
    return _CLASSES.get(verb, verb)
