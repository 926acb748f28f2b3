"""Read conversations from files. A loader takes a path and yields turns; for a bad item it names place and reason."""

import typing as _typing

from ..types.lazy_names import lazily as _lazily

if _typing.TYPE_CHECKING:
    from .chat_exports import read_chatgpt as read_chatgpt
    from .chat_exports import read_claude as read_claude
    from .conversation import Conversation as Conversation
    from .conversation import ImportedTurn as ImportedTurn
    from .conversation import RefusedItem as RefusedItem
    from .conversation import raise_refused as raise_refused
    from .formats import FORMATS as FORMATS
    from .formats import detect as detect
    from .formats import load as load
    from .formats import read_messages as read_messages
    from .formats import read_turns as read_turns
    from .messengers import read_discord as read_discord
    from .messengers import read_slack as read_slack
    from .messengers import read_telegram as read_telegram
    from .messengers import read_whatsapp as read_whatsapp

_LAZY = {  # imported at first use: a chat reads messages only, and no exports of other programs
    "Conversation": "conversation",
    "FORMATS": "formats",
    "ImportedTurn": "conversation",
    "RefusedItem": "conversation",
    "detect": "formats",
    "load": "formats",
    "raise_refused": "conversation",
    "read_chatgpt": "chat_exports",
    "read_claude": "chat_exports",
    "read_discord": "messengers",
    "read_messages": "formats",
    "read_slack": "messengers",
    "read_telegram": "messengers",
    "read_turns": "formats",
    "read_whatsapp": "messengers",
}


__getattr__ = _lazily(__name__, _LAZY)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
