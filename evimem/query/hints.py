"""What a question says about where to look: whom it names, which times it mentions, whether it asks for one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from ..errors import InvalidQuery
from ..lang import ENGLISH
from ..text.terms import STOP_WORDS
from ..times import find_times
from ..types.values import Hints

_UNIT = r"(?:second|minute|hour|day|night|week|weekend|fortnight|month|season|quarter|year|decade)s?"
_VERB = (
    r"(?:did|do|does|is|was|were|are|am|will|would|has|have|had|can|could|should|shall|might|may|must"
    r"|didn|doesn|isn|wasn|weren|hasn|haven|won)\b"
)
_HEDGE = r"(?:exactly|precisely|roughly|approximately|about|around|else|in\ \d+|last|first)"
_ASKS_WHEN = re.compile(
    rf"""
    \b(?:since\ |until\ |till\ |by\ |from\ )when\b
    | \bwhen(?:['\u2019](?:s|d|re|ll)\b|(?:\ {_HEDGE})*\ {_VERB})
    | \b(?:tell\ (?:me|us)|know|remember|recall|find\ out|figure\ out|remind\ me)\ when\b
    | ^\W*when\W*$
    | \b(?:what|which|whatever)\ (?:[\w'\u2019-]+\ )?(?:date|time|{_UNIT}|birthday|anniversary)\b(?![-\u2010'\u2019])
    | \bhow\ (?:many|much|few)\ (?:more\ |other\ )?(?:{_UNIT}|time)\b
    | \bhow\ (?:long|old|often|frequently|soon|recently|early|late|regularly)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CLAUSE = re.compile(r"\b(?:what|which)\s+time\s+(?:zone|travel|management|capsule|limit)s?\b", re.IGNORECASE)
_USER = re.compile(r"\b(?:I|me|my|mine|myself)\b", re.IGNORECASE)
_ASSISTANT = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_TITLES = frozenset(ENGLISH.words("people.honorifics"))
_AUXILIARIES = STOP_WORDS | {"may"}
_NAMES_AND_WORDS = _AUXILIARIES | {
    "april",
    "art",
    "august",
    "bill",
    "faith",
    "grace",
    "hope",
    "joy",
    "june",
    "mark",
    "rose",
}


MOST_ASKED = 100_000  # characters of a query or question
MOST_HINTED = 1_000  # of them, what is looked through for times and names


def check_asked(what: str, text: str) -> None:
    """Raise InvalidQuery for what is no text, or too long to be read in the time of a question."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidQuery(f"the {what} is {text!r}; expected some text")
    if len(text) > MOST_ASKED:
        raise InvalidQuery(f"the {what} has {len(text)} characters; expected at most {MOST_ASKED}")


def hints(text: str, speakers: Iterable[str], asked_at: datetime | None) -> Hints:
    """Return the hints of a question asked at a time; without one, its times stay unread."""
    text = text[:MOST_HINTED]
    names = tuple(speaker for speaker in speakers if _is_named(speaker, text))
    times = () if asked_at is None else tuple(find_times(text, asked_at))
    return Hints(names, times, asks_when(text))


def asks_when(text: str) -> bool:
    """Return whether a question asks for a time or a duration ("what did he do when ..." does not)."""
    return _ASKS_WHEN.search(_CLAUSE.sub(" ", " ".join(text.split()))) is not None


def _is_named(speaker: str, text: str) -> bool:
    """A speaker is named by the whole name or by the first one; user and assistant by pronouns as well."""
    role = speaker.casefold()
    if (role == "user" and _USER.search(text)) or (role == "assistant" and _ASSISTANT.search(text)):
        return True
    parts = [part for part in re.findall(r"\w+", speaker) if part.casefold() not in _TITLES]
    return any(_occurs(name, text) for name in {" ".join(parts), *parts[:1]} if name)


def _occurs(name: str, text: str) -> bool:
    """Look for a name by word boundary in any case; one that is also a word counts only in its own case."""
    pattern = r"\W+".join(re.escape(part) for part in name.split())
    in_any_case = re.IGNORECASE if name.casefold() not in _NAMES_AND_WORDS else 0
    places = re.finditer(rf"(?<!\w){pattern}(?!\w)", text, in_any_case)
    opens_as_verb = name.casefold() in _AUXILIARIES  # "Will she come?"
    return any(place.start() > 0 or not opens_as_verb for place in places)
