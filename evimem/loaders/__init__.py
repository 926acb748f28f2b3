"""Read conversations from files. A loader takes a path and yields turns; for a bad item it names place and reason."""

from __future__ import annotations

import typing as _typing
from pathlib import Path as _Path

if _typing.TYPE_CHECKING:
    from collections.abc import Iterator as _Iterator
    from datetime import datetime as _datetime

    from ..types.public_value import AnyPath as _AnyPath
    from .conversation import Conversation as _Conversation
    from .conversation import Refuse as _Refuse


def load(
    path: _AnyPath,
    format: str | None = None,
    *,
    start: _datetime | None = None,
    session: str | None = None,
    date_order: str | None = None,
    refuse: _Refuse | None = None,
) -> _Iterator[_Conversation]:
    """Yield the conversation of a file.

    `format` is one of `formats.FORMATS`, detected by default; `start` and `session` are for messages (see
    `read_messages`), `date_order` for WhatsApp (see `read_whatsapp`); `refuse` is called for each refused item, by
    default it is raised. Raise ImportFailed for a file of another format.
    """
    from .conversation import raise_refused  # noqa: PLC0415 - a chat reads messages, and no exports of other programs
    from .formats import read  # noqa: PLC0415

    yield read(_Path(path), format, refuse or raise_refused, start=start, session=session, date_order=date_order)
