"""What messengers export: Telegram, Discord (by DiscordChatExporter) and Slack as JSON, WhatsApp as lines of text.

A chat or channel is a session. WhatsApp writes dates as the language and region of a phone do:

    [12.03.24, 18:20:11] Ana: We moved            iOS
    3/12/24, 6:20 PM - Ana: We moved              Android

A line that begins otherwise continues the message above it. Nothing in a file says in which order its dates stand: that
is decided from all of them, and a file from which it cannot be is refused.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..errors import ImportFailed, shown
from ..types.public_value import AnyPath
from ..types.values import Turn
from .conversation import Part, Refuse, RefusedItem, parts_of, raise_refused, readable
from .json_values import time_of

_SPOKEN_ON_DISCORD = {"Default", "Reply", "0", "19"}
_SPOKEN_ON_SLACK = {None, "bot_message", "slackbot_response", "me_message", "thread_broadcast", "file_share"}
_TELEGRAM_FILES = {"photo": "picture", "sticker_emoji": "sticker", "contact_information": "contact", "poll": "poll"}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SLACK_LINK = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")
MAX_LINE = 8 << 20
_EAST_ASIAN = re.compile("[\u4e00-\u9fff\uac00-\ud7a3]")
DATE_ORDERS = ("dmy", "mdy", "ymd")
_MORNING = "am|a m|上午|凌晨|早上|午前|오전|ص|ق ظ|πμ|de|öö|sa|पूर्वाह्न".split("|")
_EVENING = "pm|p m|下午|中午|晚上|午後|오후|م|ب ظ|μμ|du|ös|ch|अपराह्न".split("|")
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_HEAD = re.compile(
    r"(?P<open>\[)?(?P<date>\d{1,4}(?P<mark>[/.\-])\s?\d{1,2}(?P=mark)\s?\d{1,4})\.?[,،]?\s+"
    r"(?P<before>[^\W\d_][^\d\[\]:\-]{0,12}?)?\s?(?P<clock>\d{1,2}[:.]\d{2}(?:[:.]\d{2})?)"
    r"(?:\s?(?P<after>[^\W\d_][^\d\[\]:\-]{0,9}?))?(?(open)\]|\s?[-\u2013:])\s(?P<rest>.*)",
    re.DOTALL,
)
_ATTACHED = re.compile(r"<[^<>:]{2,30}: ([^<>]+\.\w{2,4})>|(\S[^()\n]*\.\w{2,4}) \([^()]{4,40}\)")
_OMITTED = re.compile(r"<[^<>]{4,40}>")
_EDITED = re.compile(
    r"\s*\u200e?<(?:This message was edited|Diese Nachricht wurde bearbeitet|Se editó este mensaje|"
    r"Ce message a été modifié|Questo messaggio è stato modificato|Mensagem editada)>\s*$"
)
_DELETED = re.compile(
    r"(?:You deleted this message|This message was deleted|Diese Nachricht wurde gelöscht|Du hast diese Nachricht "
    r"gelöscht|Se eliminó este mensaje|Eliminaste este mensaje|Ce message a été supprimé|Vous avez supprimé ce message|"
    r"Questo messaggio è stato eliminato|Hai eliminato questo messaggio|Mensagem apagada|Você apagou esta mensagem|"
    r"Dit bericht is verwijderd)\.?"
)
_KINDS = {  # what stands for a file that was not exported, behind the mark that no person types
    "picture": "image|photo|bild|imagen|foto|immagine|imagem|afbeelding",
    "video": "video|vídeo|vidéo|gif",
    "audio": "audio|áudio|ptt|nota de voz",
    "sticker": "sticker|figurinha",
    "file": "document|dokument|documento|contact|kontaktkarte|contacto",
}
_LEFT_OUT = {re.compile(rf"(?:{words})(?:\s\S+){{1,2}}", re.IGNORECASE): kind for kind, words in _KINDS.items()}


def read_telegram(path: AnyPath, refuse: Refuse = raise_refused) -> Iterator[Turn]:
    """Yield the messages of result.json: of one chat, or of all. An edited message has its last text; times are UTC.

    Service messages are skipped; pictures and files are captions, such as "[picture]".
    """
    return _chats(Path(path), _telegram_chats, _telegram, refuse)


def _telegram_chats(whole: Mapping[str, Any], part: Part) -> list[Any]:
    if "messages" in whole:
        return [whole]
    holders = [holder for name in ("chats", "left_chats") if isinstance(holder := whole.get(name), dict)]
    return [chat for holder in holders for chat in _list(holder.get("list"), part)]


def _telegram(session: str, chat: Mapping[str, Any], message: Mapping[str, Any]) -> Turn | None:
    if message.get("type") != "message":
        return None
    seconds = message.get("date_unixtime")  # exports of before 2021 have local times without an offset only
    time = time_of(int(seconds)) if seconds else time_of(message.get("date"))
    speaker = message.get("from") or message.get("from_id") or "deleted account"
    metadata = {"chat": chat["name"]} if chat.get("name") else {}
    text, caption = _telegram_text(message), _telegram_file(message)
    return Turn(f"{session}/{message['id']}", session, str(speaker), text, time, caption, "user", metadata)


def _telegram_text(message: Mapping[str, Any]) -> str:
    text = message.get("text") or ""
    pieces = [text] if isinstance(text, str) else text
    return "".join(piece if isinstance(piece, str) else piece["text"] for piece in pieces)


def _telegram_file(message: Mapping[str, Any]) -> str | None:
    if kind := next((kind for key, kind in _TELEGRAM_FILES.items() if key in message), None):
        return f"[{kind}]"
    if message.get("media_type"):
        return f"[{str(message['media_type']).replace('_', ' ')}]"
    return f"[file {message.get('file_name') or ''}]".replace(" ]", "]") if "file" in message else None


def read_discord(path: AnyPath, refuse: Refuse = raise_refused) -> Iterator[Turn]:
    """Yield the messages of a channel as DiscordChatExporter writes it, or of each file in a zip or folder.

    Joins, pins and calls are skipped; attachments are captions; a bot is an assistant.
    """
    return _chats(Path(path), lambda whole, part: [whole], _discord, refuse)


def _discord(session: str, whole: Mapping[str, Any], message: Mapping[str, Any]) -> Turn | None:
    if str(message.get("type", "Default")) not in _SPOKEN_ON_DISCORD:
        return None
    named = [("file", one.get("fileName")) for one in message.get("attachments") or ()]
    named += [("sticker", one.get("name")) for one in message.get("stickers") or ()]
    caption = " ".join(f"[{kind} {name}]" for kind, name in named) or None
    author, channel = message["author"], whole.get("channel") or {}
    speaker = author.get("nickname") or author.get("name") or str(author["id"])
    role = "assistant" if author.get("isBot") else "user"
    metadata = {"channel": channel["name"]} if channel.get("name") else {}
    of, text, time = f"{session}/{message['id']}", message.get("content") or "", time_of(message["timestamp"])
    return Turn(of, session, speaker, text, time, caption, role, metadata)


def _chats(
    path: Path,
    chats: Callable[[Mapping[str, Any], Part], list[Any]],
    read: Callable[[str, Mapping[str, Any], Any], Turn | None],
    refuse: Refuse,
) -> Iterator[Turn]:
    """Yield what `read` makes of the messages of each chat in each part of an export."""
    with parts_of(path) as parts:
        for part in parts:
            for chat in chats(_object(part.whole(), part), part):
                named = _object(_object(chat, part).get("channel") or chat, part)
                session = str(named.get("id") or named.get("name") or part.stem)
                where = f"{part.name} chat {named.get('name') or session!r}"
                yield from readable(_list(chat.get("messages"), part), where, partial(read, session, chat), refuse)


def read_slack(path: AnyPath, refuse: Refuse = raise_refused) -> Iterator[Turn]:
    """Yield the messages of a Slack export, a zip or folder of days by channel, or of the file of one day.

    Names are those of users.json, else of the message; mentions and links are written out. Times are UTC.
    """
    path = Path(path)
    with parts_of(path) as parts:
        users: dict[str, str] = {}
        days = [part for part in parts if _DAY.fullmatch(part.stem)] or (parts if len(parts) == 1 else [])
        for part in parts:
            if part.stem == "users":
                rows = [_object(user, part) for user in _list(part.whole(), part)]
                users |= {user["id"]: _slack_name(user) or user["id"] for user in rows if "id" in user}
        if not days:
            raise ImportFailed(f"{str(path)!r} holds no CHANNEL/2024-03-12.json; expected the zip of a Slack export")
        lone = path.resolve().parent.name if _DAY.fullmatch(path.stem) else path.stem
        for part in days:
            channel = part.folder if part.folder and part.folder != path.name else lone
            yield from readable(_list(part.whole(), part), part.name, partial(_slack, channel, users), refuse)


def _slack(channel: str, users: Mapping[str, str], message: Mapping[str, Any]) -> Turn | None:
    if message.get("type") != "message" or message.get("subtype") not in _SPOKEN_ON_SLACK:
        return None
    files = [one.get("name") or one.get("title") or "" for one in message.get("files") or ()]
    caption = " ".join(f"[file {name}]".replace(" ]", "]") for name in files) or None
    text = html.unescape(_SLACK_LINK.sub(partial(_written_out, users), message.get("text") or ""))
    user = message.get("user") or message.get("bot_id") or ""
    speaker = users.get(user) or _slack_name({"profile": message.get("user_profile"), **message}) or user
    if not speaker:
        raise ValueError("nobody is named who sent it; expected user, username or bot_id")
    is_bot = message.get("bot_id") or message.get("subtype") in ("bot_message", "slackbot_response")
    role = "assistant" if is_bot else "user"
    thread = message.get("thread_ts")
    session = f"{channel}/{thread}" if thread else channel
    time = datetime.fromtimestamp(float(message["ts"]), timezone.utc)
    return Turn(f"{channel}/{message['ts']}", session, speaker, text, time, caption, role, {"channel": channel})


def _slack_name(user: Mapping[str, Any]) -> str:
    profile = user.get("profile") or {}
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("username"))
    return next((name for name in (*names, user.get("name")) if isinstance(name, str) and name.strip()), "")


def _written_out(users: Mapping[str, str], link: re.Match[str]) -> str:
    mark, target, label = link.groups()
    if mark == "@":
        return f"@{users.get(target) or label or target}"
    return f"{mark.replace('!', '@')}{label or target}" if mark else label or target


def _object(value: Any, part: Part) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ImportFailed(f"{part.name!r} holds {shown(value, 40)}; expected a JSON object there")
    return value


def _list(value: Any, part: Part) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise ImportFailed(f"{part.name!r} holds {shown(value, 40)}; expected a JSON list there")
    return value or []


@dataclass(frozen=True, slots=True)
class _Line:
    """A message as it stands in a file: the numbers of its date and its time of day, its sender, if any, its text."""

    number: int
    date: tuple[str, str, str]
    mark: str
    hour: int
    minute: int
    second: int
    half: str
    rest: str

    def time(self, order: str) -> datetime:
        """Return when it was sent, its date in this order. Raise ValueError for no date."""
        year, month, day = (int(self.date[order.index(field)]) for field in "ymd")
        return datetime(year + 2000 if year < 100 else year, month, day, self.hour, self.minute, self.second)


def read_whatsapp(path: AnyPath, refuse: Refuse = raise_refused, order: str | None = None) -> Iterator[Turn]:
    """Yield the messages of an exported chat, a .txt or the zip that holds it; times are those of the phone.

    Notices of the program and deleted messages are skipped; pictures and files are captions, such as "[picture]". The
    session is the file's name. `order` is that of the dates, one of `DATE_ORDERS`, by default decided from all of them;
    raise ImportFailed where they leave it open.
    """
    path = Path(path)
    if order is not None and order not in DATE_ORDERS:
        raise ImportFailed(f"the order of dates is {order!r}; expected one of {', '.join(DATE_ORDERS)}")
    with parts_of(path) as parts:
        for part in parts:
            if looks_like_whatsapp(part.start(8192)):
                of = order or _order(part)
                named = part if part.stem != "_chat" else Part(path.name, part.open)
                session = re.sub(r"\s?\(\d+\)$", "", named.stem)  # without the number of a second download
                for line in _messages(part):
                    try:
                        turn = _turn(line, of, session)
                    except ValueError as error:
                        refuse(RefusedItem(f"{part.name} line {line.number}", str(error)))
                    else:
                        if turn is not None:
                            yield turn


def looks_like_whatsapp(start: bytes) -> bool:
    """Return whether one of the first lines begins as a message does."""
    lines = start.decode("utf-8", "replace").splitlines()[:20]
    return any(_head(0, line) is not None for line in lines)


def _turn(line: _Line, order: str, session: str) -> Turn | None:
    sender, colon, body = line.rest.partition(": ")
    if not colon and not (colon := ":" if sender.rstrip().endswith(":") else ""):
        return None  # a notice of the program
    speaker = _MARKS.sub("", sender).strip().rstrip(":")
    noted = body.startswith("\u200e")
    text = _MARKS.sub("", _EDITED.sub("", body)).strip()
    if not speaker or _DELETED.fullmatch(text):
        return None
    first, _, below = text.partition("\n")
    caption = _caption(first, noted=noted)
    if caption is not None:
        text = below
    elif noted:
        return None  # a notice that bears a name, such as that the chat is encrypted
    if not text.strip() and caption is None:
        return None
    return Turn("", session, speaker, text, line.time(order), caption, "user")


def _caption(text: str, *, noted: bool) -> str | None:
    """Return what stands for a picture or a file, if that is all that this says."""
    if found := _ATTACHED.fullmatch(text):
        return f"[file {found[1] or found[2]}]"
    if _OMITTED.fullmatch(text):
        return "[media]"
    kinds = (kind for words, kind in _LEFT_OUT.items() if words.fullmatch(text))
    return f"[{kind}]" if noted and (kind := next(kinds, None)) else None


def _messages(part: Part) -> Iterator[_Line]:
    """Yield each message with the lines that continue it; those before the first one are no message."""
    first, below, size = None, list[str](), 0
    with part.open() as file:
        for at, line in enumerate(iter(partial(file.readline, MAX_LINE), b""), start=1):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if (head := _head(at, text)) is not None:
                if first is not None:
                    yield replace(first, rest="\n".join((first.rest, *below)))
                first, below, size = head, [], 0
            elif first is not None and size < MAX_LINE:
                below.append(text)
                size += len(text) + 1
    if first is not None:
        yield replace(first, rest="\n".join((first.rest, *below)))


def _head(number: int, text: str) -> _Line | None:
    """Return a message, if a text begins as one does."""
    found = _HEAD.match(text.lstrip("\u200e\u200f\ufeff\u202a\u202b"))
    if found is None:
        return None
    first, second, third = re.split(r"[/.\-]\s?", found["date"])
    hour, minute, *second_of = (int(part) for part in re.split("[:.]", found["clock"]))
    half = (found["after"] or found["before"] or "").strip()
    plain = re.sub(r"[.\s]+", " ", _MARKS.sub("", half)).strip().casefold().replace("π μ", "πμ").replace("μ μ", "μμ")
    if plain in _EVENING and hour < 12:
        hour += 12
    elif plain in _MORNING and hour == 12:
        hour = 0
    return _Line(
        number, (first, second, third), found["mark"], hour, minute, next(iter(second_of), 0), half, found["rest"]
    )


def _order(part: Part) -> str:
    """Return the order of the dates of a file: the one in which most are dates and fewest go back in time.

    Where more than one is left, the writing decides: with points the day comes first everywhere, and so it does where
    numbers are filled up with a nought; only in the United States is the month first, "3/12/24, 6:20 PM", and only in
    East Asia a year of two digits.
    """
    dates: dict[tuple[str, str, str], _Line] = {}
    for line in _messages(part):
        dates.setdefault(line.date, line)
    year_first = any(len(date[0]) == 4 or _EAST_ASIAN.search(line.half) for date, line in dates.items())
    orders = DATE_ORDERS if year_first else DATE_ORDERS[:2]
    faults = {order: _faults(list(dates.values()), order) for order in orders}
    best = [order for order in orders if faults[order] == min(faults.values()) and faults[order][0] < len(dates)]
    best = ["ymd"] if "ymd" in best else best
    if len(best) == 1 or not dates:
        return (*best, "dmy")[0]
    if not best:
        raise ImportFailed(f"{part.name!r} has dates that are read in none of the orders {', '.join(DATE_ORDERS)}")
    shown = next(iter(dates.values()))
    padded = any(number.startswith("0") for date in dates for number in date[:2])
    halves = any(line.half in ("AM", "PM") for line in dates.values())
    if shown.mark == "/" and halves and not padded and "mdy" in best:
        return "mdy"
    if (shown.mark == "." or padded) and "dmy" in best:
        return "dmy"
    raise ImportFailed(
        f"{part.name!r} has dates such as {shown.mark.join(shown.date)!r}, which may be read as {' or '.join(best)}: "
        "say which with --date-order (date_order= in Python)"
    )


def _faults(lines: list[_Line], order: str) -> tuple[int, int]:
    """Return how many dates are none in this order, and how often one is earlier than the one before it."""
    times = []
    for line in lines:
        year = line.date[order.index("y")]
        if len(year) in (2, 4) and all(len(line.date[order.index(field)]) <= 2 for field in "dm"):
            with suppress(ValueError):
                times.append(line.time(order))
    return len(lines) - len(times), sum(later < earlier for earlier, later in pairwise(times))
