"""A request to a chat model and its reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ModelRole = Literal["judge", "decide", "answer", "extract"]


@dataclass(frozen=True, slots=True)
class Complete:
    """A request to the chat model.

    Attributes:
        role: "judge", "decide", "answer" or "extract"; each may be served by another model.
        system: Instructions only, never retrieved text.
        prompt: The data, with retrieved text delimited as data.
        schema: The JSON schema of the reply; None for free text.
        most_tokens: Tokens that the reply may have, a model's thoughts included; None leaves it to the model.
        seconds: Wall-clock seconds that are left for the call; None for the model's own deadline. Its own deadline
            holds besides.
    """

    role: ModelRole
    system: str
    prompt: str
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    most_tokens: int | None = None
    seconds: float | None = None


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
    """

    text: str
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0
    seconds: float = 0.0
    cost: float | None = None
