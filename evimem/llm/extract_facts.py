"""Facts that a model extracts from a turn: each grounded in a quote of the turn, or dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Any

from ..embedding.static_embedder import count_tokens
from ..errors import ModelError, PromptTooLong, ReplyError
from ..extract.labels import Label, find_known_name, label_fact
from ..extract.statements import fact_id
from ..flow import Flow
from ..lang import ENGLISH
from ..text.names import SourceWords
from ..text.prompt_text import caption_line, find_quote, format_time, mark_lines, quote_name
from ..text.terms import terms
from ..times import Conventions, locate_times
from ..types.results import Estimate
from ..types.stored import BEARING, MAX_EARLIER_TURNS, OF_A_MODEL
from ..types.trace import Called, Complete
from ..types.values import Fact, TimeSpan, Turn
from .request import EXTRACT, Ledger, ask_model

MAX_EXTRACTED_CHARACTERS = 8_000  # of a turn that the model is shown; the rest stays searchable as raw text
MAX_FACTS = 32
MAX_UNUSABLE_ATTEMPTS = 3  # attempts after which a turn whose replies are unusable is given up
MAX_WAIT_SECONDS = 600.0  # seconds
# A turn that an endpoint refuses only where it refuses every request.
HARMLESS_TURN = Turn("", "", "Mira", "I moved to Leeds in May.", datetime(2024, 9, 20, 9, 0), role="user")

_SPEAKERS_OWN, _NOBODY = (frozenset(ENGLISH.words(name)) for name in ("people.speakers_own", "people.nobody"))
_OWN_ROLES = frozenset((None, "user"))  # roles whose opinions and plans are facts


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts that a model found in one turn. `dropped` counts facts that are not grounded in it, by reason."""

    facts: tuple[Fact, ...]
    dropped: Mapping[str, int] = field(default_factory=dict, hash=False)
    calls: tuple[Called, ...] = ()


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """When to try a turn again whose extraction failed, and whose fault the failure is.

    Attributes:
        seconds: The wait before the next attempt.
        halt: Whether the fault is the endpoint's, so that the whole queue waits instead of failing turn after turn.
        certain: Whether that is beyond doubt; else a turn that fails so again may be the reason.
        last: Whether the turn is given up, provided that the endpoint answers other requests.
        reason: The kind of the error, without a word of the turn.
    """

    seconds: float
    halt: bool
    certain: bool
    last: bool
    reason: str


def extract_facts(
    turn: Turn,
    previous: Sequence[Turn] = (),
    attempt: int = 1,
    conventions: Conventions = Conventions(),
    known: Sequence[Label] = (),
) -> Flow[Extraction]:
    """Ask a model for a turn's facts, with the turns before it as context, and keep the grounded ones.

    With them come the labels of the turn, in the names of labels that are `known` where they fit. Raise
    ModelError when there is no usable reply. An empty extraction means that the turn states nothing.
    """
    ledger = Ledger(attempt)
    extraction = yield from ask_model(
        extract_request(turn, previous, attempt, known),
        lambda text: read_extraction(text, turn, previous, conventions, known),
        ledger,
    )
    return replace(extraction, calls=ledger.calls)


def may_state_facts(turn: Turn) -> bool:
    """Return whether a turn has a word that is no stop word, or a picture: every such turn is worth a request.

    Rules that told statements from questions and requests left out turns that state something all the same: "Take
    breaks and dance, that is how I destress.", "Finally passed my driving test".
    """
    return bool(terms(turn.text)) or bool(turn.caption)


def extract_request(
    turn: Turn, previous: Sequence[Turn] = (), attempt: int = 1, known: Sequence[Label] = ()
) -> Complete:
    """Return the request for a turn, with the names in use, the nearest turns' first.

    The attempt is part of it, so that no cache returns the reply that failed.
    """
    earlier = [f"{quote_name(t.speaker)}:\n{mark_lines(t.text + caption_line(t.caption))}" for t in _context(previous)]
    keywords = (keyword for label in known for keyword in label.keywords)
    kinds = {"keywords": keywords, "tags": (one.tag for one in known), "topics": (one.topic for one in known)}
    # The model is shown at most 24 names of a kind.
    used = ((kind, tuple(islice(dict.fromkeys(filter(None, found)), 24))) for kind, found in kinds.items())
    return EXTRACT.request(
        earlier="\n".join(earlier) or "(nothing)",
        speaker=quote_name(turn.speaker),
        said=format_time(turn.time),
        text=mark_lines(turn.text[:MAX_EXTRACTED_CHARACTERS] + caption_line(turn.caption)),
        names="\n".join(f"{kind}: {', '.join(map(quote_name, listed))}" for kind, listed in used if listed)
        or "(nothing)",
        attempt=f"(attempt {attempt})\n" if attempt > 1 else "",
    )


def _context(previous: Sequence[Turn]) -> list[Turn]:
    """Return the turns before one that the model is shown; the first of them is cut at its beginning where it must."""
    shown: list[Turn] = []
    # Tokens of the turns before it that the model is shown, the nearest whole.
    left = 600
    for turn in reversed(previous[-MAX_EARLIER_TURNS:]):
        text = turn.text[-4 * left :]  # about four characters a token
        shown.insert(0, replace(turn, text=text))
        left -= count_tokens(text + caption_line(turn.caption))
        if left <= 0:
            break
    return shown


def read_extraction(
    text: str,
    turn: Turn,
    previous: Sequence[Turn] = (),
    conventions: Conventions = Conventions(),
    known: Sequence[Label] = (),
) -> Extraction:
    """Return the grounded facts of a reply, with its label. Raise ReplyError when the reply has no list of facts."""
    reply = EXTRACT.read(text)
    reader = _FactReader(turn, previous, conventions)
    for entry in reply["facts"][:MAX_FACTS]:
        reader.add(entry)
    if more := reply["facts"][MAX_FACTS:]:
        reader.dropped["too many"] += len(more)
    label = reader.label(reply, known) if reader.facts and turn.text else Label()
    filed = (label_fact(turn, label),) if label != Label() else ()
    return Extraction((*reader.facts.values(), *filed), dict(reader.dropped))


def plan_retry(error: ModelError, attempts: int) -> RetryPlan:
    """Return the plan for a turn after its n-th failed attempt (n = `attempts`, from 1).

    An unusable reply and a rejected text may be the turn's fault, and so may a server that fails for it again and
    again. A key, a quota or a rate that is refused never is.
    """
    status, asked_for = (getattr(error, name, None) for name in ("status", "retry_after"))
    why = f": {error.why}" if isinstance(error, ReplyError) else "" if status is None else f" {status}"
    halt = not (isinstance(error, ReplyError) or may_refuse_text(error))
    # 30 seconds pass before the second attempt, and twice as many before each later one.
    return RetryPlan(
        seconds=max(min(MAX_WAIT_SECONDS, 30.0 * 2.0 ** min(attempts - 1, 10)), asked_for or 0.0),
        halt=halt,
        certain=halt and (asked_for is not None or status in {401, 402, 429}),  # these never concern the text
        last=attempts >= (2 * MAX_UNUSABLE_ATTEMPTS if halt else MAX_UNUSABLE_ATTEMPTS),
        reason=type(error).__name__ + why,
    )


def may_refuse_text(error: ModelError) -> bool:
    """Return whether an endpoint that answers other requests may refuse one like this for the text in it."""
    if isinstance(error, ReplyError):
        return error.refused
    # A request with one of these statuses is refused for its text or its form.
    return isinstance(error, PromptTooLong) or getattr(error, "status", None) in {400, 403, 413, 422, 451}


def estimate(pairs: Iterable[tuple[Turn, Sequence[Turn]]], price: tuple[float, float] | None = None) -> Estimate:
    """Return the tokens and cost of extracting from turns, given with their context.

    `price` is dollars per million input and per million output tokens.
    """
    turns = requests = sent = 0
    for turn, previous in pairs:
        turns += 1
        if may_state_facts(turn):
            request = extract_request(turn, previous)
            requests += 1
            sent += _system_tokens(request.system) + count_tokens(request.prompt)
    # The reply for a typical turn has some 180 tokens.
    received = 180 * requests
    cost = None if price is None else (sent * price[0] + received * price[1]) / 1e6
    return Estimate(turns, requests, sent, received, cost)


@cache
def _system_tokens(text: str) -> int:
    return count_tokens(text)


class _FactReader:
    """Reads a reply's facts one by one, and drops those that are not grounded in the turn."""

    def __init__(self, turn: Turn, previous: Sequence[Turn], conventions: Conventions) -> None:
        self.facts: dict[str, Fact] = {}
        self.dropped: Counter[str] = Counter()
        self._turn = turn
        self._text = turn.text[:MAX_EXTRACTED_CHARACTERS]
        self._conventions = conventions
        self._located = locate_times(self._text, turn.time, conventions) if self._text else []
        near = [replace(turn, text=self._text), *_context(previous)]
        said = (part for one in near for part in (one.speaker, one.text, caption_line(one.caption)))
        self._sources = SourceWords((*said, {"user": "assistant", "assistant": "user"}.get(turn.speaker, "")))

    def add(self, entry: Mapping[str, Any]) -> None:
        """Keep one fact, or count the reason for dropping it."""
        subject, predicate, obj = (entry[name] for name in ("subject", "predicate", "object"))
        kind = entry["kind"] or "state"
        span = find_quote(entry["quote"], (self._turn.caption or "") if kind == "image" else self._text)
        if subject.lower().removeprefix("the ") in _SPEAKERS_OWN:
            subject = self._turn.speaker
        if not (subject and predicate):
            self.dropped["incomplete"] += 1
        elif span is None:
            self.dropped["quote not in the turn"] += 1
        elif subject.lower() in _NOBODY:
            self.dropped["a pronoun for a name"] += 1
        elif not (
            self._sources.may_refer_to(subject)
            and self._sources.contain_names_of(obj)
            and self._sources.are_grounded(obj)
        ):
            self.dropped["words from nowhere"] += 1
        else:
            self._keep(subject, predicate, obj, kind, span, entry)

    def label(self, reply: Mapping[str, Any], known: Sequence[Label]) -> Label:
        """Return the label of a turn in a reply; a keyword whose words stand in no turn is left out."""
        said = (one.replace(";", " ") for one in reply["keywords"] if self._sources.are_grounded(one, share=1.0))
        keywords = (find_known_name(one, (other for label in known for other in label.keywords)) for one in said)
        return Label(
            find_known_name(reply["topic"], (one.topic for one in known)),
            find_known_name(reply["tag"], (one.tag for one in known)),
            tuple(dict.fromkeys(keywords))[:8],
        )

    def _keep(
        self, subject: str, predicate: str, obj: str, kind: str, span: tuple[int, int], entry: Mapping[str, Any]
    ) -> None:
        turn = self._turn
        event = None if kind == "image" else self._event(entry["when"])
        attribute = entry["attribute"].casefold().strip() if kind == "state" else ""
        if turn.role not in _OWN_ROLES and kind != "image" and (subject != turn.speaker or kind in {"opinion", "plan"}):
            # Assistants and tools never speak for a user: their statements about people are facts about themselves.
            subject, predicate, obj, kind = turn.speaker, "said", f"{subject} {predicate} {obj}".strip(), "report"
            attribute = ""
        identity = fact_id(turn.id, OF_A_MODEL, span, subject, predicate, obj)
        found = Fact(identity, turn.id, subject, predicate, obj, event, span, kind, OF_A_MODEL)
        self.facts[identity] = replace(found, attribute=attribute)
        bears_on = ", ".join(filter(None, map(str.strip, entry["bears_on"].split(","))))
        if bears_on and turn.role in _OWN_ROLES and kind != "image":
            identity = fact_id(turn.id, OF_A_MODEL, span, "", "", bears_on)
            self.facts[identity] = Fact(identity, turn.id, "", "", bears_on, None, span, BEARING, OF_A_MODEL)

    def _event(self, when: str) -> TimeSpan | None:
        """Return the time that a phrase of the turn names, by our own rules: models resolve dates unreliably."""
        span = find_quote(when, self._text) if when else None
        if span is None:
            return None
        for located in self._located:
            if located.start < span[1] and span[0] < located.end:
                return located.time
        found = locate_times(when, self._turn.time, self._conventions)
        return found[0].time if found else None
