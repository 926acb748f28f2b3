"""A request to a chat model and its reply: messages, tools that it may call, and what it calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal, TypeAlias

from .public_value import PublicValue

ModelRole: TypeAlias = str  # of evimem's own: "judge", "decide", "answer" and "extract"; a loop may have others
Speaks = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that a model may call: its name, what it does, and the JSON schema of its arguments."""

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
        role: "system" instructs, "user" asks, "assistant" is the model, "tool" is what a call returned.
        text: What it says.
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
        role: What is asked for: "judge", "decide", "answer", "extract", or any name of a loop's own. Each may be served
            by another model.
        system: Instructions only, never retrieved text.
        prompt: The data, with retrieved text delimited as data.
        schema: The JSON schema of the reply; None for free text.
        most_tokens: Tokens that the reply may have, a model's thoughts included; None leaves it to the model.
        seconds: Wall-clock seconds that are left for the call; None for the model's own deadline. Its own deadline
            holds besides.
        tools: What the model may call in place of the reply, or before it. A model that knows no tools leaves them out:
            then the reply itself names its calls.
        earlier: Messages between the instructions and the prompt, such as calls and what they returned.
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
        """The whole request: the instructions, what came before, and the prompt."""
        return (Message("system", self.system), *self.earlier, Message("user", self.prompt))

    @property
    def text(self) -> str:
        """What all messages say, a line each: what there is to count."""
        return "\n".join(message.text for message in self.messages)


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a chat model to one `Complete`, and what it cost.

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
