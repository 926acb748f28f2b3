"""Messages of a chat API as turns: each is stored once, however often the list that holds it is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from ..errors import InvalidTurn
from ..flow import Flow, find
from ..loaders.chat_messages import ChatMessage, message_ids
from ..types.reports import AddReport
from ..types.values import Turn
from .add import BATCH, Ingestion


def remember(
    messages: Sequence[ChatMessage], session: str, time: datetime | None, ingestion: Ingestion
) -> Iterator[Flow[AddReport]]:
    """Yield a flow for each batch of messages; `time` is that of new ones that have none of their own."""
    ids = message_ids(messages, session)
    for start in range(0, len(messages), BATCH):
        batch = slice(start, start + BATCH)
        yield _store(messages[batch], ids[batch], session, time, ingestion)


def _store(
    messages: Sequence[ChatMessage], ids: Sequence[str], session: str, time: datetime | None, ingestion: Ingestion
) -> Flow[AddReport]:
    """Store what is not stored yet. A known message is passed on as it is stored, whatever the time of this call."""
    kept = yield from find(ids)
    turns = [
        old or _turn(message, turn_id, session, time) for old, message, turn_id in zip(kept, messages, ids, strict=True)
    ]
    return (yield from ingestion.store(turns))


def _turn(message: ChatMessage, turn_id: str, session: str, time: datetime | None) -> Turn:
    said = message.time or time
    if said is None:
        raise InvalidTurn(
            "a new message has no time of its own (time, created_at, timestamp or create_time); give time=, when it "
            "was said: the reference date of 'yesterday' in it"
        )
    metadata = {"message": message.raw}
    return Turn(turn_id, session, message.speaker, message.text, said, role=message.role, metadata=metadata)
