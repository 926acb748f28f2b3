"""LangChain: a retriever over a memory, and a chat history whose messages the memory keeps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

from ..api.checked_arguments import checked_items
from ..api.memory import Memory
from ..errors import InvalidTurn, MissingExtra, shown
from ..loaders.chat_messages import ChatMessage, read_message, replace_media_by_names
from ..loaders.json_values import to_storable_json
from ..types.values import Hit, Turn
from .message_log import LANGCHAIN_KEY, kept_message, new_turns

try:
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        message_to_dict,
        messages_from_dict,
    )
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict
except ImportError as _error:
    raise MissingExtra("evimem.adapters.langchain", "langchain") from _error


class EvimemRetriever(BaseRetriever):
    """A retriever: the turns that are the best evidence for a query, as documents.

    `page_content` is the text of the turn with the caption of a shared picture; the metadata are speaker, session, time
    (ISO 8601), score and facts (phrases). `invoke(query, k=, session=, ...)` takes the filters of `Memory.search`.

    Attributes:
        memory: The memory to search; it stays the caller's, to close.
        k: How many turns to return, where `invoke` is not told.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    memory: Memory
    k: int = 10

    def _get_relevant_documents(self, query: str, *, run_manager: Any, **filters: Any) -> list[Document]:
        return [_document(hit) for hit in self.memory.search(query, filters.pop("k", self.k), **filters)]


class EvimemChatMessageHistory(BaseChatMessageHistory):
    """A chat history, for `RunnableWithMessageHistory`: messages come back equal, calls of tools among them.

    Pictures, audio and files come back as a text part that names them, such as `[picture, image/jpeg, 3.1 MB]`.
    Their messages are found by `search` and `ask` of the memory, in this session and in every other.

    Args:
        session: The session of the memory that holds the messages.
        memory: The memory; it stays the caller's, to close.
    """

    def __init__(self, session: str, memory: Memory) -> None:
        self.session = session
        self.memory = memory

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override] # the base class has a plain attribute
        """The messages of the session, in order; turns that came another way are messages of their role."""
        return [_message_of(turn) for turn in self.memory.turns(session=self.session)]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store messages, durably on return. Raise InvalidTurn for one that cannot be kept; nothing is stored."""
        read = [_read(message) for message in checked_items("messages", messages, "messages of LangChain")]
        newest = self.memory.turns(session=self.session, limit=1, newest=True)
        self.memory.extend(new_turns(read, self.session, self.memory.now(), newest), strict=True)

    def clear(self) -> None:
        """Forget every message of the session, with everything derived from them."""
        self.memory.forget(session=self.session)


def _document(hit: Hit) -> Document:
    turn = hit.turn
    metadata = {
        "speaker": turn.speaker,
        "session": turn.session,
        "time": turn.time.isoformat(),
        "score": hit.score,
        "facts": [fact.text for fact in hit.facts],
    }
    text = "\n".join(part for part in (turn.text, turn.caption) if part)
    return Document(page_content=text, metadata=metadata, id=turn.id)


def _read(message: BaseMessage) -> ChatMessage:
    if not isinstance(message, BaseMessage):
        raise InvalidTurn(f"a message is {shown(message)}; expected a message of LangChain")
    try:
        return replace(
            read_message(message), raw=json.dumps({LANGCHAIN_KEY: to_storable_json(message_to_dict(message))})
        )
    except ValueError as error:
        raise InvalidTurn(f"a {message.type} message cannot be stored: {error}") from error


def _message_of(turn: Turn) -> BaseMessage:
    given = kept_message(turn)
    if given is not None and LANGCHAIN_KEY in given:
        with suppress(ValueError, TypeError, KeyError, AttributeError):  # an application's own metadata of that name
            return messages_from_dict([replace_media_by_names(given[LANGCHAIN_KEY])])[0]
    of_role = AIMessage if turn.role == "assistant" else HumanMessage
    return of_role(turn.text or turn.caption or "", name=turn.speaker)
