"""A request to a model with its reply, and the trace of a question: typed events, to JSON and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from itertools import groupby
from typing import Any, ClassVar, Literal, TypeAlias

import orjson

from .public_value import PublicValue, json_bytes
from .values import Gap, Tier, Turn

ModelRole: TypeAlias = str  # of evimem's own: "judge", "decide", "answer" and "extract"; a loop may have its own
Speaks = Literal["system", "user", "assistant", "tool"]
TRACE_VERSION = 3  # of how loops decide: 2 judged pages of items and answered in a request of its own
FALL_BACK = "fall back"  # the action by which a question goes on after a failure of the model, without it
RERANK = "rerank"  # the action of a reranker; its `order` holds the former places of the first hits, None if it failed


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that a model may call: its name, its purpose, and the JSON schema of its arguments."""

    name: str
    says: str
    arguments: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True, repr=False)
class ToolUse(PublicValue):
    """A call of a tool by a model: an id that its result names, the tool, and its arguments as the model wrote them."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of an exchange with a model.

    Attributes:
        role: "system" instructs, "user" asks, "assistant" is the model, "tool" is the result of a call.
        text: Its content.
        uses: The calls that a message of the model makes.
        of: The id of the call whose result a message of a tool is.
    """

    role: Speaks
    text: str = ""
    uses: tuple[ToolUse, ...] = ()
    of: str = ""


@dataclass(frozen=True, slots=True)
class Complete:
    """A request to the chat model.

    Attributes:
        role: The purpose of the request: "judge", "decide", "answer", "extract", or any name of a loop's own. Each may
            be served by another model.
        system: Instructions only, never retrieved text.
        prompt: The data, with retrieved text delimited as data.
        schema: The JSON schema of the reply; None for free text.
        most_tokens: Tokens that the reply may have, a model's thoughts included; None leaves it to the model.
        seconds: Wall-clock seconds that are left for the call; None for the model's own deadline. Its own deadline
            holds besides.
        tools: Functions that the model may call in place of the reply, or before it. A model that knows no tools leaves
            them out: then the reply itself names its calls.
        earlier: Messages between the instructions and the prompt, such as calls and their results.
        temperature: Sampling temperature of this request, 0 or more; None for the model's own of that role.
        likely: How many of the likeliest first tokens the reply should name, for `Reply.likely`; 0 for none. A server
            that gives none is asked again without.
    """

    role: ModelRole
    system: str
    prompt: str
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    most_tokens: int | None = None
    seconds: float | None = None
    tools: tuple[ToolSpec, ...] = ()
    earlier: tuple[Message, ...] = ()
    temperature: float | None = None
    likely: int = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """The whole request: the instructions, the earlier messages, and the prompt."""
        return (Message("system", self.system), *self.earlier, Message("user", self.prompt))

    @property
    def text(self) -> str:
        """The texts of all messages, a line each, for counting."""
        return "\n".join(message.text for message in self.messages)


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a chat model to one `Complete`, and its cost.

    Attributes:
        text: The reply.
        model: The name of the model that replied.
        input_tokens: Tokens sent, as the provider counts them.
        output_tokens: Tokens received.
        retries: Requests repeated after a transport failure.
        seconds: Wall-clock seconds, retries included.
        cost: Dollars; None if the price is unknown.
        uses: The tools that it calls, if the request offers any.
        likely: The probability, 0 to 1, of each of the likeliest tokens that the reply could begin with, where the
            request asked for them and the server gives them.
    """

    text: str
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0
    seconds: float = 0.0
    cost: float | None = None
    uses: tuple[ToolUse, ...] = ()
    likely: Mapping[str, float] = field(default_factory=dict, hash=False)


def without_tools(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield messages for a model that knows no tools: calls and results are text, and no two speak in a row."""
    plain = (Message("user" if one.role == "tool" else one.role, _told(one)) for one in messages)
    for role, said in groupby(plain, key=lambda one: one.role):
        yield Message(role, "\n\n".join(one.text for one in said if one.text))


def _told(message: Message) -> str:
    calls = [json.dumps({"tool": use.name, "arguments": use.arguments}, ensure_ascii=False) for use in message.uses]
    return "\n".join(filter(None, (message.text, *calls)))


@dataclass(frozen=True, slots=True, repr=False)
class _Event(PublicValue):
    """An action in an iteration, of the kind `kind`."""

    kind: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the kind and every field as plain JSON values."""
        return {"kind": self.kind, **PublicValue.to_dict(self)}


@dataclass(frozen=True, slots=True, repr=False)
class Queried(_Event):
    """A search for `k` turns. `path` is anchor, refined, edge or keyword; `strategy` is how the query was made."""

    kind: ClassVar[str] = "query"
    iteration: int
    path: str
    query: str
    k: int
    strategy: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Found(_Event):
    """New evidence on a path: ids of turns not retrieved before, best first, and of their facts."""

    kind: ClassVar[str] = "evidence"
    iteration: int
    path: str
    turns: tuple[str, ...]
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Acted(_Event):
    """A decision of the loop: the `action` and why; `detail` holds plain JSON values."""

    kind: ClassVar[str] = "action"
    iteration: int
    action: str
    why: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, repr=False)
class Judged(_Event):
    """A sufficiency check.

    `tier` and `confidence` (0 to 1) are the judge's own, `final_tier` and `final_confidence` those after the clamps of
    E7 and E8; `probability` (0 to 1) is the calibrated one, None of a judge without. `entities` counts the facts about
    each entity. `gaps` are the gaps, worst first, the clamps' own included; `reason` is the judge's.
    """

    kind: ClassVar[str] = "judgement"
    iteration: int
    judge: str
    tier: Tier
    confidence: float
    final_tier: Tier
    final_confidence: float
    probability: float | None
    entities: Mapping[str, int] = field(default_factory=dict, hash=False)
    gaps: tuple[Gap, ...] = ()
    reason: str = ""

    @property
    def own_probability(self) -> float:
        """The calibrated probability or, of a judge without, its confidence."""
        return self.confidence if self.probability is None else self.probability


@dataclass(frozen=True, slots=True, repr=False)
class GapsChanged(_Event):
    """Requirements changed: supported (with the ids of their evidence), waived, retracted, added or open (M5)."""

    kind: ClassVar[str] = "gaps"
    iteration: int
    supported: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    waived: Mapping[str, str] = field(default_factory=dict, hash=False)
    retracted: Mapping[str, str] = field(default_factory=dict, hash=False)
    extended: tuple[str, ...] = ()
    open: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Called(_Event):
    """A model request: role, outcome ("ok" or the error's class name), tokens, seconds, reply, cost in dollars.

    `uses` are the tools that the reply calls.
    """

    kind: ClassVar[str] = "call"
    iteration: int
    role: str
    outcome: str
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    repairs: int = 0
    retries: int = 0
    reply: str = ""
    cost: float | None = None
    uses: tuple[ToolUse, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Stopped(_Event):
    """The loop stopped, and why (E9)."""

    kind: ClassVar[str] = "stop"
    iteration: int
    reason: str


Event: TypeAlias = Queried | Found | Acted | Judged | GapsChanged | Called | Stopped
_EVENTS: dict[str, type[Any]] = {
    event.kind: event for event in (Queried, Found, Acted, Judged, GapsChanged, Called, Stopped)
}


def describe_event(event: Event) -> str:
    """Return one line about an event."""
    match event:
        case Queried():
            line = f"searching ({event.path}): {event.query}"
        case Found():
            line = f"found {len(event.turns)} new turns ({event.path})"
        case Judged():
            line = f"judged {event.final_tier.value}, probability {event.own_probability:.2f}{_missing(event.gaps)}"
        case GapsChanged():
            line = f"supported: {', '.join(event.supported) or 'nothing new'}{_missing(event.open)}"
        case Called():
            line = f"asked the model ({event.role}): {event.outcome}"
        case Acted():
            line = f"{event.action}: {event.why}" if event.why else event.action
        case Stopped():
            line = f"stopped: {event.reason}"
    return line


def _missing(gaps: Iterable[Gap]) -> str:
    texts = [gap.text for gap in gaps]
    return f"; missing: {', '.join(texts)}" if texts else ""


@dataclass(frozen=True, slots=True, repr=False)
class Trace(PublicValue):
    """Every step of a loop for one question; iterate over it for the events.

    Attributes:
        question: The question.
        loop: The name of the loop.
        events: The events, in order.
        read: A digest of the words of each turn that was read, by its id: which version of the turn the trace quotes.
    """

    question: str
    loop: str
    events: tuple[Event, ...] = ()
    read: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __str__(self) -> str:
        """A line for each event."""
        return "\n".join([self.question, *(f"{event.iteration}. {describe_event(event)}" for event in self.events)])

    def to_json(self) -> str:
        """Return the trace as one JSON object; `Trace.from_json` returns an equal trace."""
        whole = self.to_dict()
        try:
            return json_bytes(whole).decode()
        except TypeError:  # a lone surrogate in a quoted text, which only the standard library can escape
            return json.dumps(whole, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Trace:
        """Return the trace of a `text` that `to_json` wrote. Raise ValueError for anything else."""
        try:
            raw = _parse(text)
            return cls(
                raw["question"], raw["loop"], tuple(_event(item) for item in raw["events"]), _parse_read_turns(raw)
            )
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"not a trace ({error!r}); expected question, loop and events as Trace.to_json writes them"
            ) from error


def version_of(turn: Turn) -> str:
    """Return a digest of the words of a turn, which differs once they were replaced."""
    words = (turn.speaker, turn.text, turn.caption or "")
    return blake2b("\0".join(words).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _parse(text: str | bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:  # JSON that `to_json` had to write with the standard library
        return json.loads(text)


def _parse_read_turns(raw: Mapping[str, Any]) -> dict[str, str]:
    read = raw.get("read", {})
    if not isinstance(read, dict) or not all(isinstance(one, str) for one in read.values()):
        raise ValueError("its `read` is no object of strings")
    return read


def _event(item: Mapping[str, Any]) -> Event:
    cls = _EVENTS[item["kind"]]
    event: Event = cls(**{f.name: _parse_field(f.name, item[f.name]) for f in fields(cls) if f.name in item})
    return event


def _parse_field(name: str, value: Any) -> Any:
    if name in {"tier", "final_tier"}:
        return Tier(value)
    if name == "uses":
        return tuple(ToolUse(**use) for use in value)
    if name in {"open", "gaps"}:
        return tuple(Gap(**gap) for gap in value)
    if name == "supported":
        return {requirement: tuple(witnesses) for requirement, witnesses in value.items()}
    return tuple(value) if isinstance(value, list) else value
