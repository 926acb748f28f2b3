"""The values that evimem stores and returns: turns, facts, edges, queries, hits, gaps, conditions. All are frozen."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from functools import lru_cache
from operator import ge, gt, le, lt
from types import MappingProxyType
from typing import Any, Literal

import orjson

from .marked_text import render_hit
from .public_value import PublicValue, json_bytes

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType({"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le})
OPERATORS = ("$eq", "$ne", *_ORDERS, "$in", "$prefix")
_MISSING = object()
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_ -]+")
Over = Literal["turns", "facts", "both"]  # the texts that a search compares with its query
ExportFormat = Literal["jsonl", "markdown"]  # lines of JSON with facts, or a folder of a file a session
ROLES = ("user", "assistant", "system", "tool")  # in the order of their numbers in rows
DateOrder = Literal["dmy", "mdy", "ymd"]  # how a date in figures is written
Granularity = Literal["minute", "hour", "day", "weekend", "week", "month", "season", "year", "decade", "span", "vague"]

GapKind = Literal["entity", "attribute", "time", "attribution", "granularity", "conflict", "contradicted", "none"]
EdgeKind = Literal["same_turn", "similar", "next", "updates"]

_EPOCH = datetime(1970, 1, 1)
_EPOCH_AWARE = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def instant(time: datetime) -> int:
    """Return microseconds since 1970-01-01: in UTC for an aware time, on the same unnamed clock for a naive one.

    Computed in whole numbers: a float of seconds has no room for microseconds.
    """
    delta = time - (_EPOCH_AWARE if time.tzinfo else _EPOCH)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


@dataclass(frozen=True, slots=True)
class Condition:
    """One operator on the value at a path of keys.

    `operand` is a JSON value, and `texts` the canonical JSON of it, of each of its values for "$in".
    """

    path: tuple[str, ...]
    operator: str
    operand: Any = field(hash=False)
    texts: tuple[str, ...]

    @classmethod
    def of(cls, path: tuple[str, ...], operator: str, operand: Any) -> Condition:
        """Return the condition of an operator that takes this operand."""
        wanted = operand if operator == "$in" else [operand]
        return cls(path, operator, operand, tuple(map(canonical, wanted)))

    def meets(self, metadata: Any) -> bool:
        """Whether the value at the path is there and is as wanted; "$ne" is met where it is not there, too."""
        value = metadata
        for key in self.path:
            value = value.get(key, _MISSING) if isinstance(value, Mapping) else _MISSING
        if self.operator == "$ne":
            return value is _MISSING or canonical(value) not in self.texts
        return value is not _MISSING and self._is_met(value)

    def _is_met(self, value: Any) -> bool:
        if self.operator in {"$eq", "$in"}:
            return canonical(value) in self.texts
        if self.operator == "$prefix":
            return _begins_with(value, self.operand)
        return _are_ordered(value, self.operand) and _ORDERS[self.operator](value, self.operand)

    @property
    def orders_numbers(self) -> bool:
        """Whether it compares with a number so small, at a path so plain, that a database compares whole numbers alike.

        Beyond 2**53 a float is no longer next to every whole number.
        """
        return (
            self.operator in _ORDERS
            and not isinstance(self.operand, str)
            and abs(self.operand) <= 2**53
            and all(map(_PLAIN_KEY.fullmatch, self.path))
        )

    @property
    def whole(self) -> str:
        """The canonical JSON of the key and the operand: a part of that of any metadata with this value there."""
        return f"{canonical(self.path[-1])}:{self.texts[0]}"

    @property
    def parts(self) -> tuple[str, ...]:
        """Texts, one of which is in the canonical JSON of any metadata that meets this; an empty one excludes none."""
        key = f"{canonical(self.path[-1])}:"
        if self.operator == "$ne":
            return ("",)
        if self.operator in _ORDERS:
            return (key,)
        if self.operator == "$prefix":
            return (key + self.texts[0][:-1],)  # without the closing quote or bracket
        return tuple(key + text for text in self.texts)


@dataclass(frozen=True, slots=True)
class Where:
    """Conditions on the metadata of a turn, which must meet all of them.

    `text` is the condition as canonical JSON.
    """

    text: str
    conditions: tuple[Condition, ...] = field(compare=False, repr=False)

    @classmethod
    def read(cls, given: Any) -> Where:
        """Parse a caller's condition, as `Memory.search` documents it. Raise ValueError for anything else."""
        if not isinstance(given, Mapping) or not given:
            raise ValueError("expected a mapping that is not empty, such as {'topic': 'pets'}")
        try:
            plain = orjson.loads(json_bytes(dict(given)))  # as metadata is kept: a tuple is a list, a date a text
        except (TypeError, ValueError) as error:
            raise ValueError(f"expected a mapping of strings to JSON values ({error})") from error
        return cls(canonical(plain), tuple(_conditions(plain, ())))

    def meets(self, metadata: Any) -> bool:
        """Whether metadata meets every condition."""
        return all(condition.meets(metadata) for condition in self.conditions)

    def parts(self) -> Iterator[tuple[str, ...]]:
        """Yield tuples of texts: the canonical JSON of any metadata that meets this contains one text of each tuple.

        This is a quick test: other metadata may contain them too. Nothing meets an empty tuple.
        """
        # Look for at most 32 texts before a condition is checked: more cost more than they spare.
        left = 32
        for condition in self.conditions:
            parts = condition.parts
            if len(parts) <= left and "" not in parts:
                left -= len(parts)
                yield parts


def canonical(value: Any) -> str:
    """Return a JSON value as the one text that stands for it: two values are equal if their texts are.

    So 1, 1.0, True and "1" all differ. Metadata is stored as this text.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def meets(metadata: str, where: str) -> bool:
    """Whether metadata, given as its canonical JSON, meets the `text` of conditions: a function for SQL."""
    return _of(where).meets(orjson.loads(metadata))


@lru_cache(maxsize=64)
def _of(text: str) -> Where:
    return Where.read(json.loads(text))


def _conditions(given: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Condition]:
    for key, value in given.items():
        here = (*path, key)
        if key.startswith("$"):
            raise ValueError(f"{key!r} stands where a key of metadata is expected; write {{'key': {{{key!r}: ...}}}}")
        if not isinstance(value, Mapping):
            yield Condition.of(here, "$eq", value)
        elif any(inner.startswith("$") for inner in value):
            yield from (_condition(here, operator, operand) for operator, operand in value.items())
        elif value:
            yield from _conditions(value, here)
        else:
            raise ValueError(f"{key!r} is an empty mapping, which says nothing; write {{{key!r}: {{'$eq': {{}}}}}}")


def _condition(path: tuple[str, ...], operator: str, operand: Any) -> Condition:
    if operator not in OPERATORS:
        raise ValueError(f"there is no operator {operator!r}; expected one of {', '.join(OPERATORS)}")
    if operator in _ORDERS and not _are_ordered(operand, operand):
        raise ValueError(f"{operator} of {path[-1]!r} is {operand!r:.60}; expected a number or a string")
    if operator == "$in" and not isinstance(operand, list):
        raise ValueError(f"$in of {path[-1]!r} is {operand!r:.60}; expected a list of values")
    if operator == "$prefix" and not isinstance(operand, (str, list)):
        raise ValueError(f"$prefix of {path[-1]!r} is {operand!r:.60}; expected a string or a list")
    return Condition.of(path, operator, operand)


def _are_ordered(value: Any, other: Any) -> bool:
    """Whether both are strings or both are numbers, which True and False are not."""
    if isinstance(value, bool) or isinstance(other, bool):
        return False
    return all(isinstance(one, str) for one in (value, other)) or all(
        isinstance(one, (int, float)) for one in (value, other)
    )


def _begins_with(value: Any, prefix: str | Sequence[Any]) -> bool:
    if isinstance(prefix, str):
        return isinstance(value, str) and value.startswith(prefix)
    return isinstance(value, list) and canonical(value[: len(prefix)]) == canonical(prefix)


class Tier(str, Enum):
    """How far the evidence answers the question (EviMem section 3.2, E7 to E9; NONE is an addition of evimem).

    EXACT: the evidence states the answer. INFERRABLE: it follows from the evidence. PARTIAL: something is missing.
    NONE: nothing relevant was found. Members compare equal to their lower-case names, such as "exact".
    """

    EXACT = "exact"
    INFERRABLE = "inferrable"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True, slots=True, repr=False)
class TimeSpan(PublicValue):
    """A half-open interval of time, start <= t < end, at the coarsest justified precision (E3).

    Attributes:
        start: The first moment, naive or aware like the turn's time; None for a vague phrase ("a while ago").
        end: The first moment after it; None for a vague phrase.
        granularity: The precision spoken: "minute", "hour", "day", "weekend", "week", "month", "season", "year",
            "decade", "span" (any other interval) or "vague".
        text: The words it was read from.
    """

    start: datetime | None
    end: datetime | None
    granularity: Granularity
    text: str


@dataclass(frozen=True, slots=True, repr=False)
class Turn(PublicValue):
    """One utterance, verbatim: the unit of the Raw layer (E1). Checked when it is added, not when it is constructed.

    Attributes:
        id: At most 512 characters; if empty, the memory sets a digest of the content.
        session: At most 512 characters; if empty, the memory sets the calendar day of `time`.
        speaker: Who said it, 1 to 512 characters.
        text: At most 1 MiB of UTF-8; may be empty if there is a caption.
        time: When it was said. An ISO 8601 string is parsed into a datetime. A memory holds either naive
            or aware times, and with a timezone takes both (see `evimem.open`).
        caption: A description of a shared picture, at most 1 MiB of UTF-8.
        role: "user", "assistant", "system" or "tool"; if None, the memory sets the speaker's name if it is one of them,
            else "user".
        metadata: JSON values by name; kept and returned, and selected by with `where=`. A turn with
            `{"discarded": true}` is no longer part of its dialogue: a search ranks it last, and nothing quotes it.
    """

    id: str
    session: str
    speaker: str
    text: str
    time: datetime
    caption: str | None = None
    role: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("id", "session"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, "")
        given: Any = self.time
        if isinstance(given, str):
            with contextlib.suppress(ValueError):  # a time that stays a string is refused later, with its reason
                object.__setattr__(self, "time", datetime.fromisoformat(given.strip().replace("Z", "+00:00")))


DISCARDED = "discarded"
"""The name in a turn's metadata by which a message is marked that is no longer part of its dialogue: true."""


def is_discarded(turn: Turn) -> bool:
    """Return whether a turn is marked as discarded: a reply that was regenerated, or a message that was edited."""
    return turn.metadata.get(DISCARDED) is True


@dataclass(frozen=True, slots=True, repr=False)
class Fact(PublicValue):
    """One atomic statement of a turn: the unit of the Index layer, the paper's tuple (E2).

    Attributes:
        id: Unique in the memory.
        turn_id: The turn that states it.
        subject: The person or thing it is about; first person is resolved to the speaker.
        predicate: With negation and modality ("does not like", "might move to").
        object: May be empty.
        event: When it happened; None if no time is stated. See `TimeSpan`.
        span: Half-open range of characters of the turn's text (of its caption if `kind` is "image") that states it.
        kind: "event", "state", "opinion", "plan", "report", "statement" or "image" (stated by the caption).
        extractor: The name of the extractor that found it.
        replaced_by: The id of a later fact that replaced it; the older fact is kept. None where nothing did.
        attribute: The attribute of the subject that it states, where the subject has one value of it at a time ("home",
            "employer"): a later fact of the same subject and attribute replaces it. A model says so, or an extractor of
            yours; facts by rule have none, so that nothing replaces them.
    """

    id: str
    turn_id: str
    subject: str
    predicate: str
    object: str
    event: TimeSpan | None
    span: tuple[int, int]
    kind: str
    extractor: str
    replaced_by: str | None = None
    attribute: str = ""

    @property
    def is_current(self) -> bool | None:
        """Whether it still holds as far as is known; None where that is unknown, as of every fact by rule."""
        if self.replaced_by is not None:
            return False
        return True if self.attribute else None

    @property
    def text(self) -> str:
        """The fact as a phrase: subject, predicate and object. This text is embedded."""
        return " ".join(part for part in (self.subject, self.predicate, self.object) if part)


@dataclass(frozen=True, slots=True, repr=False)
class Edge(PublicValue):
    """An undirected, weighted link between two facts (E4). No pair has two edges of a kind.

    Attributes:
        source: The smaller id of the two facts.
        target: The other.
        kind: "same_turn" (a fact and the next of its turn), "similar", "next" (dialogue order in a session) or
            "updates".
        weight: 0 to 1: the cosine for "similar", 1 for "same_turn" and "updates" (whose older fact has `replaced_by`).
    """

    source: str
    target: str
    kind: EdgeKind
    weight: float


@dataclass(frozen=True, slots=True)
class Query:
    """A search of a store. Filters exclude turns; hints only raise or lower scores.

    Attributes:
        text: The words to look for.
        k: How many turns to return, at least 1.
        vector: The embedding of `text`: shape (dimension,), float32, of length 1; None to search by words alone.
        exclude: Filter: ids of turns to leave out.
        before: Filter: only events (or turns without dated facts) that begin before this.
        after: Filter: only events that end after this, or turns without dated facts said at or after it.
        speaker: Filter: only turns of this speaker.
        session: Filter: only turns of this session.
        role: Filter: only turns of this role.
        where: Filter: only turns with metadata that meets these conditions.
        names: Hint: speakers of this memory that the question names.
        times: Hint: intervals that the question mentions.
        when: Hint: whether the question asks for a time.
        recalls: Hint: whether it recalls an event or a statement, and asks for no advice.
        several: Hint: whether it asks for several things, which one turn rarely tells.
        bare: Rank by BM25 over the words of each turn alone (the paper's Raw-only variant).
        holding: Filter: only turns that have all of these terms, the stems that turns are found by.
        any_of: Filter: only turns with a passage that has any of these terms, where some are given.
    """

    text: str
    k: int = 10
    vector: Any = field(default=None, compare=False)
    exclude: frozenset[str] = frozenset()
    before: datetime | None = None
    after: datetime | None = None
    speaker: str | None = None
    session: str | None = None
    role: str | None = None
    where: Where | None = None
    names: tuple[str, ...] = ()
    times: tuple[TimeSpan, ...] = ()
    when: bool = False
    recalls: bool = False
    bare: bool = False
    holding: tuple[str, ...] = ()
    several: bool = False
    any_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hints:
    """The hints of a question about where to look: priors of a search, never filters.

    `names` are the speakers it names, `times` the intervals it mentions, `when` whether it asks for a time or duration,
    `recalls` whether it recalls an event or a statement, `several` whether it asks for several things.
    """

    names: tuple[str, ...] = ()
    times: tuple[TimeSpan, ...] = ()
    when: bool = False
    recalls: bool = False
    several: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Hit(PublicValue):
    """A retrieved turn, with its facts and how its score came about.

    Attributes:
        turn: The turn.
        facts: The facts of the turn; possibly none.
        score: Larger is better. Of a search: the sum of `parts`, about 1 for a turn with every word and the meaning of
            the query; measured between -0.1 and 1.1, neither bounded nor a probability, and comparable only with the
            other hits of the same query. Of an edge: its weight times the discount of its seed's rank, above 0 to 1.
        parts: The summands of `score` by name: of a search among others "words" (BM25), "related", "meaning" (cosine),
            "speaker", "date", "when", and of long turns and chats with an assistant "passages", "user" and "rule";
            "asks" (the passage asks), "brief" (it tells little) and "passages" are penalties, at most 0. Zero parts are
            left out. With a reranker the first hits have "rerank", possibly 0: how far it moved the score, for it deals
            the scores of these hits out again in its own order.
        path: How it was found: "search", "edge:<kind>" or "keyword".
        neighbours: Ids of the turns next to it in the dialogue whose words or vectors count in its score.
        span: The passage that was found: a half-open range of characters of the turn's text; of a short turn all of
            it. None of an edge.
    """

    turn: Turn
    facts: tuple[Fact, ...]
    score: float
    parts: Mapping[str, float] = field(default_factory=dict, hash=False)
    path: str = "search"
    neighbours: tuple[str, ...] = ()
    span: tuple[int, int] | None = None

    def _repr_html_(self) -> str:
        """Return a notebook's view of it: who said it and when, the passage that was found, the parts of its score."""
        head = f"{self.score:.3f}  {self.turn.speaker}, {self.turn.time:%Y-%m-%d %H:%M}, {self.turn.id}"
        parts = ", ".join(f"{name} {value:+.3f}" for name, value in self.parts.items())
        return render_hit(head, self.turn.text or self.turn.caption or "", self.span, parts)


class Hits(list[Hit]):
    """The hits of a search, best first: a list that a notebook shows."""

    def _repr_html_(self) -> str:
        """Return a notebook's view of them."""
        return "".join(f"<li>{hit._repr_html_()}</li>" for hit in self).join(("<ol>", "</ol>"))


@dataclass(frozen=True, slots=True, repr=False)
class FactHit(PublicValue):
    """A retrieved fact, with the turn that states it and how its score came about.

    Attributes:
        fact: The fact.
        turn: The turn whose words `fact.span` marks.
        score: The sum of `parts`; larger is better, about 1 for a fact with every word and the meaning of the query,
            and comparable only with the other facts of the same query.
        parts: The summands of `score` by name: "words" (the query's words in the fact and its date), "meaning"
            (cosine) and "turn" (how well its turn as a whole fits); "replaced" is a penalty. Zero parts are left out.
        replaces: The earlier facts that it replaced.
    """

    fact: Fact
    turn: Turn
    score: float
    parts: Mapping[str, float] = field(default_factory=dict, hash=False)
    replaces: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Gap(PublicValue):
    """A gap of the evidence.

    Attributes:
        kind: "entity" (too little about it), "attribute" (the asked property is missing), "time" (no date),
            "attribution" (the evidence is about another person), "granularity" (only a coarser date is known),
            "conflict" (two values), "contradicted" (the evidence contradicts a premise of the question; the
            text is the correction), or "none".
        about: The entity or property; may be empty.
        text: The gap as a phrase for people and for a model.
    """

    kind: GapKind
    about: str
    text: str
