"""WhatsApp chats: lines of text, whose dates are as the language and region of a phone write them.

    [12.03.24, 18:20:11] Ana: We moved            iOS
    3/12/24, 6:20 PM - Ana: We moved              Android

A line that begins otherwise continues the message above it. Nothing in a file says in which order its dates stand: that
is decided from all of them, and a file from which it cannot be is refused.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time
from functools import cache, partial
from pathlib import Path
from typing import Any

from ..types.public_value import AnyPath
from ..types.values import Turn
from .conversation import ExportFile, ImportLog, open_export_files
from .date_orders import NumericDate, check_date_order, decide_date_order

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_LINE = 8 << 20  # bytes of a line, and characters of a message
_MARKS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_HEAD = re.compile(
    r"(?P<open>\[)?(?P<date>\d{1,4}(?P<mark>[/.\-])\s?\d{1,2}(?P=mark)\s?\d{1,4})\.?[,،]?\s+"
    r"(?P<before>[^\W\d_][^\d\[\]:\-]{0,12}?)?\s?(?P<clock>\d{1,2}[:.]\d{2}(?:[:.]\d{2})?)"
    r"(?:\s?(?P<after>[^\W\d_][^\d\[\]:\-]{0,9}?))?(?(open)\]|\s?[-\u2013:])\s(?P<rest>.*)",
    re.DOTALL,
)
_ATTACHED = re.compile(r"<[^<>:]{2,30}: ([^<>]+\.\w{2,4})>|(\S[^()\n]*\.\w{2,4}) \([^()]{4,40}\)")


@dataclass(slots=True)
class _ChatMessage:
    """A message as it stands in a file: its date and its time of day, its sender, if any, its text."""

    number: int
    date: NumericDate
    clock: tuple[int, int, int]
    half: str
    rest: str

    def parse_time(self, order: str) -> datetime:
        """Return when it was sent, its date in this order. Raise ValueError for no date."""
        return datetime.combine(self.date.to_date(order), time(*self.clock[:3]))


@dataclass(slots=True)
class _Survey:
    """The findings about a whole file.

    Attributes:
        order: The order of its dates.
        doubt: Why that may be wrong.
        chat: The name of the chat, where the notice of encryption tells it.
        group: The same if it is a group's.
        notice: The line of that notice.
        is_unmarked: Whether it came without the mark that an iPhone puts before notices: a copy lost them all, and a
            notice is known by the name that it begins with, as in "Ana: Ana added you".
    """

    order: str
    doubt: str | None
    chat: str
    group: str
    notice: int
    is_unmarked: bool


def read_whatsapp(
    path: AnyPath, log: ImportLog | None = None, *, date_order: str | None = None, session: str | None = None
) -> Iterator[Turn]:
    """Yield the messages of an exported chat, a .txt or the zip that holds it; times are those of the phone.

    Notices of the program and deleted messages are left out; pictures and files are captions, such as "[picture]". The
    session is the file's name, of a `_chat.txt` that of its chat or folder. `date_order` is one of `DATE_ORDERS`, by
    default decided from all dates; raise ImportFailed where they leave it open.
    """
    path, log = Path(path), log or ImportLog()
    check_date_order(date_order)
    with open_export_files(path) as parts:
        for part in parts:
            if not looks_like_whatsapp(part.read_beginning(8192)):
                log.skip("other file", part.name)
                continue
            survey = _survey_file(part, date_order)
            if survey.doubt:
                log.doubts.append(survey.doubt)
            name = session or _session_name(part, path, survey)
            for line in _read_messages(part):
                place = f"{part.name} line {line.number}"
                said = "notice" if _is_notice(line, survey) else _read_body(line.rest, survey.group)
                if isinstance(said, str):
                    log.skip(said, place)
                    continue
                try:
                    at = line.parse_time(survey.order)
                except (ValueError, OverflowError) as error:
                    log.refuse(place, str(error))
                    continue
                speaker, text, caption = said
                if caption:
                    log.skip("content of a file", place)
                yield Turn("", name, speaker, text, at, caption, "user")


def _session_name(part: ExportFile, path: Path, survey: _Survey) -> str:
    """Return the session of a file: its name, or where that is `_chat`, the zip's, the folder's or the chat's."""
    stem = re.sub(r"\s?\(\d+\)$", "", part.stem)  # without the number of a second download
    # as the file is called in the zip of an iPhone
    numbered = re.fullmatch(r"_chat(?:[ _-]?\(?(\d{1,4})\)?)?", part.stem)
    if numbered is None:
        return stem
    if path.is_file() and path.name != part.name:  # a zip, which is named after the chat
        folder = part.folder if part.folder != path.name else path.name
        return re.sub(r"\s?\(\d+\)$", "", folder.removesuffix(".zip"))
    folder = path.resolve().parent.name if path.is_file() else part.folder
    if "whatsapp" in folder.casefold():
        return re.sub(r"\s?\(\d+\)$", "", folder)
    return " ".join(one for one in (folder, survey.chat, numbered[1] or "") if one)


def looks_like_whatsapp(start: bytes) -> bool:
    """Return whether one of the first lines begins as a message does."""
    lines = start.decode("utf-8", "replace").splitlines()[:20]
    return any(_match_head(0, line) is not None for line in lines)


@cache
def _load_notices() -> dict[str, frozenset[str]]:
    """Return the notices of all languages by their kind, as they are compared."""
    return {
        kind: frozenset(map(_comparison_key, words))
        for kind, words in _load_notice_table().items()
        if kind != "placeholders"
    }


@cache
def _placeholders() -> dict[re.Pattern[str], str]:
    """Return the patterns of the placeholders of files that were not exported, with the kind of file of each."""
    kinds: dict[str, list[str]] = _load_notice_table()["placeholders"]
    return {re.compile(rf"(?:{'|'.join(words)})(?:\s\S+){{1,2}}", re.IGNORECASE): kind for kind, words in kinds.items()}


def _load_notice_table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("whatsapp_notices.toml").read_text("utf-8"))


def _comparison_key(text: str) -> str:
    return " ".join(_MARKS.sub("", text).split()).strip(" .。\u06d4\u0964").casefold()


def _survey_file(part: ExportFile, date_order: str | None) -> _Survey:
    """Read a file once for properties of all its messages.

    An iPhone shows the notice of encryption as sent by the chat: the other person, or the group. Who sent it is a group
    where two other people speak.
    """
    dates: dict[NumericDate, None] = {}
    speakers: dict[str, None] = {}
    chat, notice, is_east_asian, is_unmarked = "", 0, False, False
    for number, line in enumerate(_read_messages(part)):
        dates.setdefault(line.date)
        is_east_asian |= bool(re.search("[\u4e00-\u9fff\uac00-\ud7a3]", line.half))
        sender, colon, body = line.rest.partition(": ")
        speaker = _clean_sender(sender)
        if number < 5 and colon and not chat and _is_about_encryption(body):
            chat, notice, is_unmarked = speaker, line.number, not body.startswith("\u200e")
        if colon and len(speakers) < 10_000:
            speakers.setdefault(speaker)
    order, doubt = (
        (date_order, None) if date_order else decide_date_order([*dates], part.name, may_begin_with_year=is_east_asian)
    )
    return _Survey(order, doubt, chat, chat if len(speakers.keys() - {chat}) > 1 else "", notice, is_unmarked)


def _is_notice(line: _ChatMessage, survey: _Survey) -> bool:
    sender, _, body = line.rest.partition(": ")
    speaks_of_itself = survey.is_unmarked and body.startswith(f"{_clean_sender(sender)} ")
    return line.number == survey.notice or speaks_of_itself


def _is_about_encryption(body: str) -> bool:
    words = _comparison_key(body)
    return len(words) > 30 and any(stem in words for stem in _load_notices()["encrypted"])


def _clean_sender(sender: str) -> str:
    return _MARKS.sub("", sender).strip().rstrip(":")


def _read_body(rest: str, group: str = "") -> tuple[str, str, str | None] | str:
    """Return the speaker, the words, and the placeholder of a picture or file; for no message, the kind that it is."""
    sender, colon, body = rest.partition(": ")
    if not colon and not sender.rstrip().endswith(":"):
        return "notice"
    speaker, noted = _clean_sender(sender), body.startswith("\u200e")
    # A name has at most 200 characters; phones allow far fewer.
    if not speaker or speaker == group or len(re.findall('["“”„«»「」『』]', sender)) % 2 or len(sender) > 200:
        return "notice"  # the name of a group, or a colon inside of quotation marks, such as that of its new subject
    text = _MARKS.sub("", _remove_edit_mark(body)).strip()
    if _comparison_key(text) in _load_notices()["deleted"]:
        return "deleted message"
    first, _, below = text.partition("\n")
    caption = None
    if found := _ATTACHED.fullmatch(first):
        caption = f"[file {found[1] or found[2]}]"
    elif re.fullmatch(r"<[^<>]{4,40}>", first):
        caption = "[media]"
    elif noted:
        kind = next((kind for words, kind in _placeholders().items() if words.fullmatch(first)), None)
        if kind is None:
            return "notice"  # one that bears a name, such as that the chat is encrypted
        caption = f"[{kind}]"
    said = text if caption is None else below
    return (speaker, said, caption) if said.strip() or caption else "empty message"


def _remove_edit_mark(body: str) -> str:
    """Return a text without the remark at its end that it was edited: by its words, or behind a mark of the program."""
    found = re.search(r"\s*(?P<mark>\u200e?)<(?P<words>[^<>]{4,60})>\s*$", body[-100:])
    if found is None:
        return body
    is_remark = _comparison_key(found["words"]) in _load_notices()["edited"] or (found["mark"] and found.start() > 0)
    is_media = len(body) - len(found[0]) == 0
    return body[: len(body) - len(found[0])] if is_remark and not is_media else body


def _read_messages(part: ExportFile) -> Iterator[_ChatMessage]:
    """Yield each message with the lines that continue it; those before the first one are no message."""
    last, below, size = None, list[str](), 0
    with part.open() as file:
        for at, line in enumerate(iter(partial(file.readline, MAX_LINE), b""), start=1):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if (head := _match_head(at, text)) is not None:
                if last is not None:
                    yield replace(last, rest="\n".join((last.rest, *below)))
                last, below, size = head, [], 0
            elif last is not None and size < MAX_LINE:
                below.append(text)
                size += len(text) + 1
    if last is not None:
        yield replace(last, rest="\n".join((last.rest, *below)))


def _match_head(number: int, text: str) -> _ChatMessage | None:
    """Return a message, if a text begins as one does; marks of the direction of writing may stand anywhere in it."""
    # The date, the time and the sender begin within 200 characters.
    plain_text = _MARKS.sub("", text[:200]) if not text.isascii() else text
    found = _HEAD.match(plain_text)
    if found is None:
        return None
    hour, minute, second = (*(int(part) for part in re.split("[:.]", found["clock"])), 0)[:3]
    half = (found["after"] or found["before"] or "").strip()
    plain = re.sub(r"[.\s]+", " ", half).strip().casefold().replace("π μ", "πμ").replace("μ μ", "μμ")
    if plain in _load_notices()["evening"] and hour < 12:
        hour += 12
    elif plain in _load_notices()["morning"] and hour == 12:
        hour = 0
    if hour > 23 or minute > 59 or second > 59:
        return None
    numbers = tuple(re.split(r"[/.\-]\s?", found["date"]))
    rest = found["rest"] if text.isascii() else _text_after(text, found.start("rest"))
    return _ChatMessage(number, NumericDate(numbers, found["mark"]), (hour, minute, second), half, rest)


def _text_after(text: str, count: int) -> str:
    """Return a text from behind so many characters on, marks not counted; those that follow them stay."""
    at = 0
    while count:
        count -= _MARKS.match(text[at]) is None
        at += 1
    return text[at:]
