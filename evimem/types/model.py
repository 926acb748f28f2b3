"""A request to a chat model and its reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ModelRole = Literal["judge", "answer", "extract"]


@dataclass(frozen=True, slots=True)
class Complete:
    """Ask the chat model in a role. `system` holds instructions only; retrieved text is data, inside `prompt`.

    `schema` is the JSON schema of the reply, where one is wanted.
    """

    role: ModelRole
    system: str
    prompt: str
    schema: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a chat model answered to one `Complete`, and what it cost.

    `retries` counts repeated requests, `seconds` is wall-clock time, `cost` is in dollars, None without a price.
    """

    text: str
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0
    seconds: float = 0.0
    cost: float | None = None
