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
    columns: str | None = None,
    refuse: _Refuse | None = None,
) -> _Iterator[_Conversation]:
    """Yield the conversation of a file; its `left_out` counts the rest, once all turns were read.

    `format` is one of `formats.FORMATS`, detected by default; `start` is the time of the first message where messages
    have none; `session` names the session of a file that is one; `date_order` is that of dates in figures, dmy, mdy or
    ymd; `columns` names columns of a table, such as "speaker=From,text=Body". `refuse` is called for each refused item,
    by default it is raised. Raise ImportFailed for a file of another format.
    """
    from .conversation import ImportLog, raise_refusal  # noqa: PLC0415 - a chat reads messages, and no exports
    from .formats import read_conversation  # noqa: PLC0415

    given = {"start": start, "session": session, "date_order": date_order, "columns": columns}
    yield read_conversation(_Path(path), format, ImportLog(refuse or raise_refusal), **given)
