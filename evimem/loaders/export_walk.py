"""The walk that reads every chat export: files, conversations in them, messages in these, turns.

A program's export is an `Export`: where its conversations stand, which part of one is a session, where a message has
its time, and its text. A message without a time has that of the one before it. Other items are counted by kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ..errors import ImportFailed, shown
from ..types.public_value import AnyPath
from .conversation import UNREADABLE, ExportFile, ImportedTurn, ImportLog, open_export_files
from .json_stream import Malformed, read_list_elements
from .json_values import make_type_error, parse_time

_MAX_PIECE_CHARACTERS = 200_000  # characters of an attached text that are one turn


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation: its session, its messages, when it began and was changed, and those on other branches.

    Attributes:
        is_about: Whether it was not said but noted: where it has no time, that of the newest conversation is its.
        omitted: Kinds of its parts that are left out.
    """

    session: str
    messages: Iterable[Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    times: Sequence[Any] = ()
    abandoned: Sequence[Any] = ()
    is_about: bool = False
    omitted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """Words of a message; a `thread` in a chat is a session.

    Attributes:
        attached: Name and text of documents that came with it; they are turns of the role tool.
        omitted: Kinds of its parts that are left out, each as often as there are such parts.
        is_shared: Whether the export repeats it in many conversations, such as instructions: it is kept once.
        time: Its time, if it has another than the message.
    """

    id: Any
    speaker: Any
    text: Any
    caption: str | None = None
    role: str = "user"
    thread: Any = ""
    former_id: str = ""
    attached: tuple[tuple[str, str], ...] = ()
    omitted: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    is_shared: bool = False
    time: Any = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A message that is no turn: its kind, one of `conversation.REASONS`."""

    kind: str


Outcome: TypeAlias = Said | Skipped | Sequence[Said]


class Export(NamedTuple):
    """A program's export. A function may raise ValueError, or the error that a value of an unexpected type causes.

    Attributes:
        name: The program.
        files: The names of its files, without ending; a lone file may have another.
        found: The conversations of a file.
        chat: Which part of one is a session.
        times: Where a message has its time.
        said: The text of a message, given the names of people by their ids.
        names: The names of people by their ids.
    """

    name: str
    files: str
    found: Callable[[ExportFile], Iterable[Any]]
    chat: Callable[[Any, ExportFile, Path], Chat]
    times: tuple[str, ...]
    said: Callable[[Any, Mapping[str, str]], Outcome]
    names: Callable[[Sequence[ExportFile]], Mapping[str, str]] = lambda parts: {}


def read_export(
    export: Export, path: AnyPath, log: ImportLog | None = None, *, start: datetime | None = None
) -> Iterator[ImportedTurn]:
    """Yield the turns of an export, one session per conversation; its last turn names those on other branches.

    `start` is the time of a message that has none and stands beside no message that has one. Raise ImportFailed for a
    file that is no export; unreadable and left-out items are told to `log`.
    """
    path, log = Path(path), log or ImportLog()
    with open_export_files(path) as parts:
        files = [part for part in parts if re.fullmatch(export.files, part.stem)]
        if not files and len(parts) != 1:
            raise ImportFailed(
                f"{str(path)!r} holds no file of a {export.name} export; expected the zip or folder of it"
            )
        for part in parts if files else ():
            if part not in files:
                log.skip("other file", part.name)
        try:
            names = export.names(parts)
        except UNREADABLE as error:
            raise ImportFailed(f"{str(path)!r} names its people in another form ({type(error).__name__})") from error
        yield from _ExportReader(export, path, log, names, start).read_turns(files or parts)


@dataclass(slots=True)
class _ExportReader:
    """The reading of one export; `latest` is the newest time seen, `shared` the texts that are kept once."""

    export: Export
    path: Path
    log: ImportLog
    names: Mapping[str, str]
    latest: datetime | None
    shared: dict[str, ImportedTurn] = field(default_factory=dict)

    def read_turns(self, parts: Iterable[ExportFile]) -> Iterator[ImportedTurn]:
        """Yield the turns of all parts; at the end those of no conversation, which may need the newest time."""
        about: list[tuple[Chat, str]] = []
        for part in parts:
            for raw in self._check_types(self.export.found(part), part.name):
                if isinstance(raw, Malformed):
                    self.log.refuse(f"{part.name} a conversation", raw.why)
                    continue
                known = raw if isinstance(raw, dict) else {}
                called = next(
                    (known[key] for key in ("conversation_id", "uuid", "id", "name") if known.get(key)), part.stem
                )
                where = f"{part.name} conversation {shown(called)}"
                try:
                    chat = self.export.chat(raw, part, self.path)
                    _check_name(chat.session, "the id of a conversation")
                except UNREADABLE as error:
                    self.log.refuse(where, _refusal_reason(error, f"a conversation of {self.export.name}"))
                    continue
                for kind in chat.omitted:
                    self.log.skip(kind, where)
                if chat.is_about:
                    about.append((chat, where))
                else:
                    yield from self._read_chat(chat, where)
        for chat, where in about:
            yield from self._read_chat(chat, where)
        yield from self.shared.values()

    def _read_chat(self, chat: Chat, where: str) -> Iterator[ImportedTurn]:
        last = None
        for turn in self._read_messages(chat, chat.messages, where, self.log):
            if last is not None:
                yield last
            last = turn
        if last is not None:  # nothing is missing from a branch that was not shown
            others = self._read_messages(chat, chat.abandoned, where, ImportLog(lambda item: None))
            yield replace(last, abandoned=tuple(others))
        for message in chat.abandoned:
            self.log.skip("other branch", f"{where} message {_describe_message(message, '')}")

    def _read_messages(self, chat: Chat, messages: Iterable[Any], where: str, log: ImportLog) -> Iterator[ImportedTurn]:
        now, messages = self._find_start_time(chat, self._check_types(messages, where))
        for number, message in enumerate(messages, start=1):
            place = f"{where} message {_describe_message(message, number)}"
            try:
                if isinstance(message, Malformed):
                    raise ValueError(message.why)  # noqa: TRY004 - refused with its place
                given = _first_field_given(message, self.export.times)
                now = now if given is None else _parse_time(given)
                outcome = self.export.said(message, self.names)
                if isinstance(outcome, Skipped):
                    log.skip(outcome.kind, place)
                    continue
                every = [outcome] if isinstance(outcome, Said) else outcome
                own = now or (self.latest if chat.is_about else None)
                turns = [turn for said in every for turn in _make_turns(said, chat, own)]
            except UNREADABLE as error:
                log.refuse(place, _refusal_reason(error, "a message"))
                continue
            for kind in chain.from_iterable(said.omitted for said in every):
                log.skip(kind, place)
            if not turns:
                log.skip("empty message", place)
            self.latest = max((one for one in (self.latest, now) if one), key=_time_sort_key, default=None)
            if any(said.is_shared for said in every):
                for turn in turns:
                    self._keep_shared_turn(turn)
            else:
                yield from turns

    def _check_types(self, values: Iterable[Any], where: str) -> Iterator[Any]:
        """Yield values. Raise ImportFailed for errors of values of another form than expected."""
        try:
            yield from values
        except UNREADABLE as error:
            raise ImportFailed(f"{where}: {_refusal_reason(error, f'an export of {self.export.name}')}") from error

    def _find_start_time(self, chat: Chat, messages: Iterator[Any]) -> tuple[datetime | None, Iterator[Any]]:
        """Return when a conversation began, by its own time or that of its first message with one, and its messages."""
        begun, *changed = [_parse_time_or_none(value) for value in chat.times] or [None]
        before: list[Any] = []
        for message in messages if begun is None else ():
            before.append(message)
            if begun := _parse_time_or_none(_first_field_given(message, self.export.times)):
                break
        return begun or next((time for time in changed if time), None), chain(before, messages)

    def _keep_shared_turn(self, turn: ImportedTurn) -> None:
        """Keep a turn once, with the earliest of its times."""
        digest = blake2b(f"{turn.role}\0{turn.text}".encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        own = replace(turn, id=f"{turn.session}/{digest}")
        known = self.shared.setdefault(digest, own)
        if _time_sort_key(own.time) < _time_sort_key(known.time):
            self.shared[digest] = own


def _make_turns(said: Said, chat: Chat, now: datetime | None) -> Iterator[ImportedTurn]:
    """Yield the turn of a message, if it says something, and those of its attachments."""
    if not isinstance(said.text, str) or not isinstance(said.speaker, str):
        wrong = said.speaker if isinstance(said.text, str) else said.text
        raise make_type_error("the text or sender of a message", wrong, "a string")
    time = now if said.time is None else _parse_time(said.time)
    id_, thread = _check_name(said.id, "the id of a message"), _check_name(said.thread, "a thread")
    session = "/".join((chat.session, thread)) if thread else chat.session
    session = thread if said.is_shared else session
    if time is None and (said.text.strip() or said.caption or said.attached):
        raise ValueError("neither it nor its conversation has a time; give one with --start (start= in Python)")
    if time is None:
        return
    metadata = {**chat.metadata, **said.metadata}
    id_ = f"{chat.session}/{id_}"
    if said.text.strip() or said.caption:
        yield ImportedTurn(
            id_, session, said.speaker, said.text, time, said.caption, said.role, metadata, said.former_id
        )
    number = 0
    for name, text in said.attached:
        for at in range(0, len(text), _MAX_PIECE_CHARACTERS):
            number += 1
            piece = text[at : at + _MAX_PIECE_CHARACTERS]
            if piece.strip():
                label = file_placeholders(("file", [name]))
                yield ImportedTurn(f"{id_}#{number}", session, name or "file", piece, time, label, "tool", metadata)


def _check_name(given: Any, what: str) -> str:
    if isinstance(given, (str, int)) and not isinstance(given, bool):
        return str(given)
    raise make_type_error(what, given, "a string or a whole number")


def _refusal_reason(error: Exception, form: str) -> str:
    """Return why something was refused: values of an export stand in no error of ours but by their type."""
    if type(error) is ValueError:
        return str(error)
    what = f" {error}" if isinstance(error, KeyError) and len(str(error)) < 40 else ""
    return f"not in the form of {form} ({type(error).__name__}{what})"


def _describe_message(message: Any, number: object) -> str:
    known = message if isinstance(message, dict) else {}
    name = next((known[key] for key in ("id", "uuid", "ID") if known.get(key)), None)
    return str(number) if name is None else shown(name, 60)


def _time_sort_key(time: datetime) -> datetime:
    return time.replace(tzinfo=None)


def _first_field_given(message: Any, names: Iterable[str]) -> Any:
    known = message if isinstance(message, dict) else {}
    return next((known[name] for name in names if known.get(name) is not None), None)


def _parse_time(given: Any) -> datetime:
    is_seconds = isinstance(given, str) and len(given) < 40 and re.fullmatch(r"\d+(\.\d+)?", given)
    return parse_time(float(given) if is_seconds else given)


def _parse_time_or_none(given: Any) -> datetime | None:
    try:
        return _parse_time(given)
    except UNREADABLE:
        return None


def file_placeholders(*named: tuple[str, Iterable[Any]]) -> str | None:
    """Return the placeholder of files: `[file plan.pdf]`."""
    return " ".join(f"[{kind} {name or ''}]".replace(" ]", "]") for kind, names in named for name in names) or None


def require_type(value: Any, kind: type, part: ExportFile) -> Any:
    """Return a value of a file if it is of this type. Raise ImportFailed for another."""
    if not isinstance(value, kind):
        wanted = "object" if kind is dict else "list"
        raise ImportFailed(f"{part.name!r} holds a {type(value).__name__}; expected a JSON {wanted} there")
    return value


def find_conversations(mark: str, part: ExportFile) -> Iterator[Any]:
    """Yield the conversations of a file: a list, a list behind `conversations`, or a single one, which has the mark."""
    if not part.read_beginning(4096).lstrip().startswith(b"{"):
        with part.open() as file:
            yield from read_list_elements(file, part.name)
        return
    whole = part.read_json()
    found = [whole] if mark in whole else whole.get("conversations")
    if not isinstance(found, list):
        raise ImportFailed(f"{part.name!r} has no list of conversations; expected one, or a conversation with {mark!r}")
    yield from found
