"""Values between ingest, loops and the store: entries, jobs, the roster of speakers, facts about an entity."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple

from .values import DateOrder, Fact, Query, TimeSpan, Turn, Where

JobKind = Literal["facts", "terms", "vector", "link", "extract"]
"""Queued work on a turn: its facts; its terms, where reading them raised; its vector; the `similar` edges of its
facts; facts found by a model."""
READINGS: frozenset[JobKind] = frozenset(("facts", "terms"))  # cost no request: tried at once

MAX_COUNTED_TURNS = 1_000  # turns are counted up to here: each question asks whether a memory is small, none how large
ALSO_KNOWN_AS = "also_known_as"  # the predicate of another name
CORRECTED_AT = "corrected_at"  # the key of metadata under which a correction leaves its time, in ISO 8601
BY_RULE = "rules"  # the extractor of the facts that the shipped rules found
LABEL = "label"  # the kind of a fact that is a model's label of a turn, and states nothing
BEARING = "bearing"  # the kind of the fact that keeps the requests that a lasting fact bears on, and states nothing
OF_NO_STATEMENT = frozenset((LABEL, BEARING))
OF_A_MODEL = "llm"  # the extractor of the facts that a model found
MAX_EARLIER_TURNS = (
    12  # most turns of a session that a model reads before one: whom they name, a fact of it may be about
)
MOST_SECONDS = 7 * 86_400.0  # the longest wait before a job is tried again


def correct_text(turn: Turn, text: str, at: datetime) -> Turn:
    """Return a turn with another text and the time of that correction, without the message that had the old text."""
    if text == turn.text:
        return turn
    kept = {name: value for name, value in turn.metadata.items() if name != "message"}
    return replace(turn, text=text, metadata={**kept, CORRECTED_AT: at.isoformat()})


@dataclass(frozen=True, slots=True)
class Entry:
    """One validated turn with the values derived from it outside the store."""

    turn: Turn
    facts: tuple[Fact, ...] = ()
    vectors: Any = None  # of its passages, shape (passages, dimension), float32; None to queue them
    fact_vectors: Any = None  # of its facts, shape (len(facts), dimension), float32; None to queue them
    jobs: tuple[JobKind, ...] = ()  # to queue for it
    failed: tuple[tuple[JobKind, str], ...] = ()  # tried already, with the type of the exception that each ended with
    extractor: str = ""  # of the result of a job "facts": the extractor that found them


@dataclass(frozen=True, slots=True)
class ForgottenMarks:
    """Digests of forgotten turns, and the keys, ids of memories, by which they were made; see `store.sequence`."""

    keys: tuple[str, ...]
    marks: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ForgottenPlace:
    """Where in a session, named by its digest, so many turns were forgotten one after another, between two others.

    `taken` is the id of a turn that was stored in the place since.
    """

    session: bytes
    count: int
    taken: str | None = None


class Settled(NamedTuple):
    """Of how many jobs, the first of those given, the results were stored, and how many of these failed then."""

    done: int
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """Which turns to list, in dialogue order: time, then order of arrival. None selects every turn.

    They were said at or after `after` and earlier than `before`; `newest` takes the last `limit` of them.
    """

    session: str | None = None
    speaker: str | None = None
    role: str | None = None
    before: datetime | None = None
    after: datetime | None = None
    limit: int | None = None
    newest: bool = False
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a question: only turns of this session, speaker and role, with such metadata. None admits all."""

    session: str | None = None
    speaker: str | None = None
    role: str | None = None
    where: Where | None = None

    @property
    def listing(self) -> Listing:
        """The turns that it admits."""
        return Listing(self.session, self.speaker, self.role, where=self.where)

    def query(self, text: str = "", k: int = 1, exclude: Collection[str] = (), **further: Any) -> Query:
        """Return a query that lets its turns through, but for those excluded."""
        of = {"session": self.session, "speaker": self.speaker, "role": self.role, "where": self.where}
        return Query(text, k, exclude=frozenset(exclude), **of, **further)  # type: ignore[arg-type]

    def of_speaker(self, speaker: str | None) -> Scope | None:
        """Return the scope narrowed to one speaker: itself for None, and None where it is another speaker's."""
        if speaker is not None and self.speaker not in (None, speaker):
            return None
        return self if speaker is None else replace(self, speaker=speaker)

    def admits(self, turn: Turn) -> bool:
        """Whether a turn lies within it."""
        named = ((self.session, turn.session), (self.speaker, turn.speaker), (self.role, turn.role))
        return all(wanted in (None, given) for wanted, given in named) and (
            self.where is None or self.where.meets(turn.metadata)
        )


EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class MemoryOverview:
    """The speakers of a memory, the times of its first and last turn, and its turns, counted up to `MAX_COUNTED_TURNS`.

    `date_order` is how its dates in figures are written, as far as that is known. `seen` is one that was seen earlier,
    and may be older than the memory.
    """

    speakers: tuple[str, ...]
    first: datetime | None
    last: datetime | None
    counted: int
    date_order: DateOrder | None = None
    seen: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class About:
    """The facts about one entity: their number in the memory (`total`) and the newest of them, newest first."""

    entity: str
    total: int
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts a search of facts may return.

    `about` is a name that the subject or the object has, `during` an interval that the event meets or, of a fact
    without one, in which it was said, and `current` leaves out facts that are not known to hold still
    (`Fact.is_current`).
    """

    about: str | None = None
    during: TimeSpan | None = None
    current: bool = False


ANY_FACT = FactFilter()


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword of a memory that a word matches: the stem `term`, which stands in so many turns, at least 1.

    `closeness` is 1 for the word's own stem and for a kind of what it names, else the cosine between the two.
    `written` is a word that people wrote for the stem, empty where it was not looked up.
    """

    word: str
    term: str
    turns: int
    closeness: float = 1.0
    written: str = ""


@dataclass(frozen=True, slots=True)
class Holding:
    """The turns that have all of some keywords: their number, and the ids of the newest of them in order of arrival."""

    total: int
    turn_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the sequence of a session: its number in the order of arrival, and the turn, None if forgotten.

    `other` says that the turn stands there instead of other content, of which nothing is known.
    """

    seq: int
    turn: Turn | None
    other: bool = False


@dataclass(frozen=True, slots=True)
class Calls:
    """How the lists of messages of a session came so far, and how far the last one was stored."""

    whole: int = 0  # how many held the whole session and more
    window: int = 0  # how many began with the end of the session
    new: int = 0  # how many had nothing of it
    size: int = 0  # the length of the last list
    step: int = 0  # how many of it were new
    at: str = ""  # the time of the last call
    done: int = 0  # of its messages are settled; fewer than `size` while it is being stored, or was cut short
    said_again: int = 0  # the place whose message the last call had again: it is stored if a new one follows


@dataclass(frozen=True, slots=True)
class SessionWindow:
    """The part of a session to align messages with: a session in order of arrival, or its beginning and end."""

    beginning: tuple[Place, ...]
    end: tuple[Place, ...]  # all of its places where it is complete
    complete: bool  # there is nothing before the end
    held: tuple[Turn, ...]  # those of the session that have one of the ids or times asked for
    forgotten: frozenset[str | tuple[datetime, str]]  # of the ids and moments asked for
    calls: Calls
    aware: bool | None  # whether the memory holds aware times; None before its first turn
    state: tuple[str, int]  # differs as soon as anything was stored in the session, or forgotten


@dataclass(frozen=True, slots=True)
class WindowRequest:
    """A request for part of a session, "" for those named after the day: a number of places, ids, times with roles."""

    session: str
    beginning: int
    end: int
    ids: tuple[str, ...] = ()
    moments: tuple[tuple[datetime, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Continuation:
    """The turns that continue a session in one state, and in no other."""

    session: str  # its name, as in `WindowRequest`
    entries: tuple[Entry, ...]  # the new turns
    calls: Calls  # how its lists came, this one included
    state: tuple[str, int]  # its `SessionWindow.state`
    again: Mapping[str, int] = field(default_factory=dict, hash=False)  # places of turns that were forgotten, by id
    replaced: Set[str] = frozenset()  # ids of stored turns whose content new ones replace
    strict: bool = False  # store nothing, and raise, where a turn cannot be stored


@dataclass(frozen=True, slots=True)
class Job:
    """A queued job: a turn with its facts, how often the job has failed, and in how many rows the turn is indexed."""

    turn: Turn
    facts: tuple[Fact, ...]
    attempts: int
    rows: int


def statements(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return facts without those that keep a model's labels."""
    return tuple(fact for fact in facts if fact.kind not in OF_NO_STATEMENT)
