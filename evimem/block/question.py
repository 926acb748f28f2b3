"""What a block is for: the newest message of the user, what it refers back to, and what the prompt holds already."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..lang import ENGLISH
from ..lang.guess import LANGUAGES, language_of
from ..loaders.openai_messages import text_of_content
from ..query.analysis import looked_for
from ..text.memory_fence import without_blocks
from ..text.terms import STOP_WORDS, words

EARLIER = 3  # messages before the newest that a reference is looked up in
DECAY = 0.5  # of the weight of a message by each that came after it
SHORT = 12  # words of a message that may be a follow-up without saying so ("What about Tuesday?")


@dataclass(frozen=True, slots=True)
class Asked:
    """A message to recall for.

    Attributes:
        text: Its words.
        earlier: The messages before it, the newest first, as far as it refers to them.
        held: The texts of the messages that the prompt holds, to be left out of the block.
    """

    text: str
    earlier: tuple[str, ...] = ()
    held: frozenset[str] = frozenset()

    @property
    def searched(self) -> str:
        """The text to search for: the message, and the names and nouns of those that it refers to."""
        found = dict.fromkeys(word for text in self.earlier for word in _telling(text))
        own = {word.casefold() for word in words(self.text)}
        further = [word for word in found if word.casefold() not in own]
        return " ".join((self.text, *further[:24]))

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts whose vectors make up that of the search."""
        return (looked_for(self.text), *self.earlier)


def read_question(text: str) -> Asked:
    """Return a question by itself."""
    return Asked(text)


def read_messages(messages: Sequence[Mapping[str, Any]], newest: str) -> Asked:
    """Return the newest message of the user among messages of a chat."""
    said = [(message.get("role"), _text(message)) for message in messages if isinstance(message, Mapping)]
    at = max(place for place, (role, text) in enumerate(said) if role == "user" and text.strip())
    before = [text for role, text in reversed(said[:at]) if role in ("user", "assistant") and text.strip()][:EARLIER]
    held = frozenset(comparable(text) for _, text in said if text.strip())
    return Asked(newest, tuple(before) if before and refers_back(newest) else (), held)


def comparable(text: str) -> str:
    """Return a text as it is compared with the messages of a prompt."""
    return " ".join(text.split())


def refers_back(text: str) -> bool:
    """Return whether a message points at what was said just before it."""
    return _REFERENCE.search(text) is not None


def _text(message: Mapping[str, Any]) -> str:
    return without_blocks(text_of_content(message.get("content")))


def _telling(text: str) -> Iterable[str]:
    """Yield the words of a message that may name what a later one refers to."""
    for match in _WORD.finditer(text[:1_000]):
        word = match[0]
        if word.casefold() not in STOP_WORDS and len(word) > 2:
            yield word


_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*")
_REFERENCE = re.compile(
    r"\b(?:he|him|his|she|her|hers|it|its|they|them|their|there|that|those|this|these|then|again|one|ones|else|"
    r"(?:what|how)\s+about|and|also|instead|before|after|same|other|another)\b",
    re.IGNORECASE,
)
