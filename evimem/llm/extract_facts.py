"""Facts that a model finds in a turn: grounded in its words or dropped, never more than additions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ..embedding import count_tokens
from ..errors import ModelError, ModelUnavailable, ReplyError
from ..extract import fact_id, stance
from ..flow import Flow
from ..times import find_times, locate_times
from ..types.model import Complete
from ..types.reports import Estimate
from ..types.trace import Called
from ..types.values import Fact, TimeSpan, Turn
from . import prompt_fields, reply_schemas
from .evidence_prompt import attribute, data, moment
from .grounding import MAX_QUOTE, find_quote, is_anchored
from .json_reply import read
from .request import Ledger, ask
from .role_requests import request

EXTRACTOR = "llm"
MAX_CHARACTERS = 8_000  # of a turn; the rest stays searchable as it was said
MAX_EARLIER = 3
MAX_EARLIER_CHARACTERS = 300
MAX_FACTS = 32
MAX_PART = 300
POISON_AFTER = 3
FIRST_WAIT = 30.0
LONGEST_WAIT = 600.0
OUTPUT_TOKENS = 150  # of a usual turn, for an estimate

_FIRST_PERSON = {"i", "me", "myself", "user", "the user", "speaker", "the speaker", "my", "mine"}
_PERSONAL = frozenset(("opinion", "plan"))
_OWN = frozenset((None, "user"))  # roles that may speak of themselves


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a model found in one turn. `dropped` counts what it said that was not in the turn, by reason."""

    facts: tuple[Fact, ...]
    dropped: Mapping[str, int] = field(default_factory=dict, hash=False)
    calls: tuple[Called, ...] = ()


@dataclass(frozen=True, slots=True)
class Setback:
    """What to do about a turn whose extraction failed.

    `seconds` is how long to wait before the next attempt, None for never: the turn goes to the dead letters. `halt`
    says that the fault is not the turn's, so that the queue should rest as well instead of failing turn after turn.
    """

    seconds: float | None
    halt: bool
    reason: str


def extract_facts(turn: Turn, previous: Sequence[Turn] = (), attempt: int = 1) -> Flow[Extraction]:
    """Ask a model for a turn's facts, with the turns before it as context, and keep those that the turn states.

    Raise ModelError when there is no usable reply. An empty extraction means that the turn states nothing.
    """
    ledger = Ledger(attempt)

    def found(text: str) -> Extraction:
        return read_extraction(text, turn, previous)

    extraction = yield from ask(extracting(turn, previous, attempt), found, ledger)
    return Extraction(extraction.facts, extraction.dropped, ledger.calls)


def worth_asking(turn: Turn) -> bool:
    """Whether a turn asserts something, so that a model may find facts in it."""
    return stance(turn) == "asserts"


def extracting(turn: Turn, previous: Sequence[Turn] = (), attempt: int = 1) -> Complete:
    """Return the request for a turn. A later attempt differs, so that no cache on the way gives the same reply."""
    earlier = [f"{attribute(t.speaker)}: {data(t.text)[:MAX_EARLIER_CHARACTERS]}" for t in previous[-MAX_EARLIER:]]
    caption = f"\n[picture: {data(turn.caption)}]" if turn.caption else ""
    return request(
        "extract",
        "extract",
        reply_schemas.EXTRACT,
        earlier="\n".join(earlier) or "(nothing)",
        speaker=attribute(turn.speaker),
        said=moment(turn.time),
        text=data(turn.text[:MAX_CHARACTERS]) + caption,
        attempt=f"(attempt {attempt})\n" if attempt > 1 else "",
    )


def read_extraction(text: str, turn: Turn, previous: Sequence[Turn] = ()) -> Extraction:
    """Return the facts of a reply that the turn states. Raise ReplyError when the reply has no list of facts."""
    said = read(text, "extract", ("facts",), bare="facts")["facts"]
    if not isinstance(said, list):
        raise ReplyError("extract", f"its facts are a {type(said).__name__}, not a list", text)
    reading = _Reading(turn, previous)
    for entry in said[:MAX_FACTS]:
        reading.take(entry if isinstance(entry, dict) else {})
    if len(said) > MAX_FACTS:
        reading.dropped["too many"] += len(said) - MAX_FACTS
    return Extraction(tuple(reading.facts.values()), dict(reading.dropped))


def setback(error: ModelError, attempts: int) -> Setback:
    """Return what to do after the n-th failed attempt at a turn.

    A reply that cannot be used, or a request that is refused, is the turn's fault: a few attempts, then the dead
    letters. A server that is down, busy or not to be asked is not: every turn waits, none is given up.
    """
    reason = type(error).__name__
    wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(attempts - 1, 10))
    if isinstance(error, ModelUnavailable):
        if error.status in {400, 413, 422}:
            return Setback(None if attempts >= POISON_AFTER else wait, halt=False, reason=f"{reason} {error.status}")
        return Setback(max(wait, error.retry_after or 0.0), halt=True, reason=reason)
    if isinstance(error, ReplyError):
        return Setback(None if attempts >= POISON_AFTER else wait, halt=False, reason=f"{reason}: {error.why}")
    return Setback(None if attempts >= 2 * POISON_AFTER else wait, halt=True, reason=reason)


def estimate(pairs: Iterable[tuple[Turn, Sequence[Turn]]], price: tuple[float, float] | None = None) -> Estimate:
    """Return what extracting from turns, each with those before it, would take; price is per million tokens."""
    turns = requests = given = 0
    for turn, previous in pairs:
        turns += 1
        if worth_asking(turn):
            asked = extracting(turn, previous)
            requests += 1
            given += _system_tokens(asked.system) + count_tokens(asked.prompt)
    taken = OUTPUT_TOKENS * requests
    cost = None if price is None else (given * price[0] + taken * price[1]) / 1e6
    return Estimate(turns, requests, given, taken, cost)


@cache
def _system_tokens(text: str) -> int:
    return count_tokens(text)


class _Reading:
    """Takes a reply's facts one by one, and drops those that do not stand in the turn."""

    def __init__(self, turn: Turn, previous: Sequence[Turn]) -> None:
        self.facts: dict[str, Fact] = {}
        self.dropped: Counter[str] = Counter()
        self._turn = turn
        self._text = turn.text[:MAX_CHARACTERS]
        self._located = locate_times(self._text, turn.time) if self._text else []
        near = [turn, *previous[-MAX_EARLIER:]]
        self._known = [part for t in near for part in (t.speaker, t.text[:MAX_CHARACTERS], t.caption or "") if part]

    def take(self, entry: Mapping[str, Any]) -> None:
        """Keep one fact, or count why not."""
        subject, predicate, obj = (
            prompt_fields.text(entry.get(n), MAX_PART) for n in ("subject", "predicate", "object")
        )
        kind = prompt_fields.choice(entry.get("kind"), reply_schemas.KINDS) or "state"
        quote = prompt_fields.text(entry.get("quote"), MAX_QUOTE)
        span = find_quote(quote, (self._turn.caption or "") if kind == "image" else self._text)
        if subject.lower() in _FIRST_PERSON:
            subject = self._turn.speaker
        if not (subject and predicate):
            self.dropped["incomplete"] += 1
        elif span is None:
            self.dropped["quote not in the turn"] += 1
        elif not (is_anchored(subject, self._known, share=1.0) and is_anchored(obj, self._known)):
            self.dropped["words from nowhere"] += 1
        else:
            self._keep(subject, predicate, obj, kind, span, prompt_fields.stated(entry.get("when"), 120))

    def _keep(self, subject: str, predicate: str, obj: str, kind: str, span: tuple[int, int], when: str) -> None:
        turn = self._turn
        event = None if kind == "image" else self._event(when)
        if turn.role not in _OWN and kind != "image" and (subject != turn.speaker or kind in _PERSONAL):
            # What an assistant or a tool says of others is its saying: it never speaks for a user.
            subject, predicate, obj, kind = turn.speaker, "said", f"{subject} {predicate} {obj}".strip(), "report"
        identity = fact_id(turn.id, EXTRACTOR, span, subject, predicate, obj)
        self.facts[identity] = Fact(identity, turn.id, subject, predicate, obj, event, span, kind, EXTRACTOR)

    def _event(self, when: str) -> TimeSpan | None:
        """Return the time that a phrase of the turn names, as our own grammar reckons it."""
        place = find_quote(when, self._text) if when else None
        if place is None:
            return None
        for located in self._located:
            if located.start < place[1] and place[0] < located.end:
                return located.time
        found = find_times(when, self._turn.time)
        return found[0] if found else None
