"""WhatsApp chats: lines of text, whose dates are as the language and region of a phone write them.

    [12.03.24, 18:20:11] Ana: We moved            iOS
    3/12/24, 6:20 PM - Ana: We moved              Android

A line that begins otherwise continues the message above it. Nothing in a file says in which order its dates stand: that
is decided from all of them, and a file from which it cannot be is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path

from ..errors import ImportFailed
from ..types.public_value import AnyPath
from ..types.values import Turn
from .conversation import Part, Refuse, RefusedItem, parts_of, raise_refused

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


@dataclass(slots=True)
class _Line:
    """A message as it stands in a file: the numbers of its date and its time of day, its sender, if any, its text."""

    number: int
    date: tuple[str, ...]
    mark: str
    clock: tuple[int, ...]
    half: str
    rest: str

    def time(self, order: str) -> datetime:
        """Return when it was sent, its date in this order. Raise ValueError for no date."""
        year, month, day = (int(self.date[order.index(field)]) for field in "ymd")
        hour, minute, second = self.clock
        return datetime(year + 2000 if year < 100 else year, month, day, hour, minute, second)


def read_whatsapp(path: AnyPath, refuse: Refuse = raise_refused, date_order: str | None = None) -> Iterator[Turn]:
    """Yield the messages of an exported chat, a .txt or the zip that holds it; times are those of the phone.

    Notices of the program and deleted messages are skipped; pictures and files are captions, such as "[picture]". The
    session is the file's name. `date_order` is one of `DATE_ORDERS`, by default decided from all dates; raise
    ImportFailed where they leave it open.
    """
    path = Path(path)
    if date_order is not None and date_order not in DATE_ORDERS:
        raise ImportFailed(f"the order of dates is {date_order!r}; expected one of {', '.join(DATE_ORDERS)}")
    with parts_of(path) as parts:
        for part in parts:
            if not looks_like_whatsapp(part.start(8192)):
                continue
            order = date_order or _order(part)
            named = part if part.stem != "_chat" else Part(path.name, part.open)
            session = re.sub(r"\s?\(\d+\)$", "", named.stem)  # without the number of a second download
            for line in _messages(part):
                if (said := _said(line.rest)) is None:
                    continue
                try:
                    time = line.time(order)
                except ValueError as error:
                    refuse(RefusedItem(f"{part.name} line {line.number}", str(error)))
                    continue
                speaker, text, caption = said
                yield Turn("", session, speaker, text, time, caption, "user")


def looks_like_whatsapp(start: bytes) -> bool:
    """Return whether one of the first lines begins as a message does."""
    lines = start.decode("utf-8", "replace").splitlines()[:20]
    return any(_head(0, line) is not None for line in lines)


def _said(rest: str) -> tuple[str, str, str | None] | None:
    """Return who said what, and what stands for a picture or file; None for a notice of the program."""
    sender, colon, body = rest.partition(": ")
    if not colon and not sender.rstrip().endswith(":"):
        return None
    speaker, noted = _MARKS.sub("", sender).strip().rstrip(":"), body.startswith("\u200e")
    text = _MARKS.sub("", _EDITED.sub("", body)).strip()
    if not speaker or _DELETED.fullmatch(text):
        return None
    first, _, below = text.partition("\n")
    caption = None
    if found := _ATTACHED.fullmatch(first):
        caption = f"[file {found[1] or found[2]}]"
    elif _OMITTED.fullmatch(first):
        caption = "[media]"
    elif noted:
        kind = next((kind for words, kind in _LEFT_OUT.items() if words.fullmatch(first)), None)
        if kind is None:
            return None  # a notice that bears a name, such as that the chat is encrypted
        caption = f"[{kind}]"
    said = text if caption is None else below
    return (speaker, said, caption) if said.strip() or caption else None


def _messages(part: Part) -> Iterator[_Line]:
    """Yield each message with the lines that continue it; those before the first one are no message."""
    last, below, size = None, list[str](), 0
    with part.open() as file:
        for at, line in enumerate(iter(partial(file.readline, MAX_LINE), b""), start=1):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if (head := _head(at, text)) is not None:
                if last is not None:
                    yield replace(last, rest="\n".join((last.rest, *below)))
                last, below, size = head, [], 0
            elif last is not None and size < MAX_LINE:
                below.append(text)
                size += len(text) + 1
    if last is not None:
        yield replace(last, rest="\n".join((last.rest, *below)))


def _head(number: int, text: str) -> _Line | None:
    """Return a message, if a text begins as one does."""
    found = _HEAD.match(text.lstrip("\u200e\u200f\ufeff\u202a\u202b"))
    if found is None:
        return None
    hour, *others = (int(part) for part in re.split("[:.]", found["clock"]))
    half = (found["after"] or found["before"] or "").strip()
    plain = re.sub(r"[.\s]+", " ", _MARKS.sub("", half)).strip().casefold().replace("π μ", "πμ").replace("μ μ", "μμ")
    if plain in _EVENING and hour < 12:
        hour += 12
    elif plain in _MORNING and hour == 12:
        hour = 0
    date = tuple(re.split(r"[/.\-]\s?", found["date"]))
    return _Line(number, date, found["mark"], (hour, *others, 0)[:3], half, found["rest"])


def _order(part: Part) -> str:
    """Return the order of the dates of a file: the one in which most are dates and fewest go back in time.

    Where more than one is left, the writing decides: with points the day comes first everywhere, and so it does where
    numbers are filled up with a nought; only in the United States is the month first, "3/12/24, 6:20 PM", and only in
    East Asia a year of two digits.
    """
    dates: dict[tuple[str, ...], _Line] = {}
    for line in _messages(part):
        dates.setdefault(line.date, line)
    year_first = any(len(date[0]) == 4 or _EAST_ASIAN.search(line.half) for date, line in dates.items())
    faults = {order: _faults([*dates.values()], order) for order in DATE_ORDERS if year_first or order != "ymd"}
    best = [order for order, found in faults.items() if found == min(faults.values()) and found[0] < len(dates)]
    if "ymd" in best or len(best) == 1 or not dates:
        return "ymd" if "ymd" in best else (*best, "dmy")[0]
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


def _faults(lines: Sequence[_Line], order: str) -> tuple[int, int]:
    """Return how many dates are none in this order, and how often one is earlier than the one before it."""
    times = []
    for line in lines:
        year = line.date[order.index("y")]
        if len(year) in (2, 4) and all(len(line.date[order.index(field)]) <= 2 for field in "dm"):
            with suppress(ValueError):
                times.append(line.time(order))
    return len(lines) - len(times), sum(later < earlier for earlier, later in pairwise(times))
