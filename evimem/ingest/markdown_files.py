"""A memory as a folder of Markdown, a file a session, that people read and `Memory.import_` reads back.

A turn is a comment with its fields as JSON, a line for readers, and its text as a quotation:

    <!-- turn {"n": 1, "id": "s1:1", "speaker": "Mira", "role": "user", "time": "2024-03-12T18:20:00"} -->
    **Mira**, 2024-03-12 18:20

    > We adopted a puppy last Friday.

The text stands behind ">" in every line and cannot end the quotation; "<" in it is written as "&lt;", so that no
page shows it as HTML. Facts are not written: they are read from the turns again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ..db.atomic_files import open_private, open_regular, sync_folder, temporary_path, translate_os_errors
from ..errors import ImportFailed, InvalidTurn, StoreError, shown
from ..flow import Flow
from ..loaders.json_values import parse_json, parse_time
from ..protocols import Store
from ..raw.validate import AS_GIVEN, LocalTimes, TurnValidator
from ..types.results import AddReport
from ..types.stored import JobKind
from ..types.values import Fact, Turn
from .add import BATCH_TURNS, Ingestion

MARKDOWN_FORMAT_VERSION = 1
MAX_LINE = 32 << 20  # bytes: the fields of a turn at their bounds, every character escaped
MAX_OPEN_FILES = 32
_HEADER, _TURN, _END = "<!-- evimem ", "<!-- turn ", "<!-- end "
_FIELDS = {"n": int, "id": str, "speaker": str, "role": str, "time": str}
_OPTIONAL = {"caption": str, "metadata": dict}


class _TurnPosition(NamedTuple):
    """Where a turn stands: its number in the memory, its file, and the byte of its comment."""

    number: int
    file: int
    byte: int


def write_folder(
    folder: Path, pairs: Iterable[tuple[Turn, tuple[Fact, ...]]], progress: Callable[[int], None] = lambda turns: None
) -> None:
    """Write a folder of Markdown, readable by its owner only; after a crash there is no folder that looks whole.

    Call `progress` with 1 after each turn. Raise StoreError where the path exists and is no empty folder, DiskFull or
    StoreReadOnly where the system refuses the write.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StoreError(f"{str(folder)!r} exists already; give a new folder, a file a session is written into it")
    temporary = temporary_path(folder)
    with translate_os_errors(repr(str(folder)), "there is no export"):
        try:
            temporary.mkdir(mode=0o700)
            with _SessionFiles(temporary) as files:
                for number, (turn, _) in enumerate(pairs, start=1):
                    files.append_turn(turn, number)
                    progress(1)
            temporary.replace(folder)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        sync_folder(folder.parent)


class _SessionFiles:
    """The files of an export, a few of them open at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: OrderedDict[str, BinaryIO] = OrderedDict()
        self._counts: dict[str, int] = {}

    def __enter__(self) -> _SessionFiles:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            for name, count in self._counts.items():
                self._open_session_file(name).write(f"{_END}{_comment_json({'turns': count})}\n".encode())
        while self._open:
            self._close_oldest()

    def append_turn(self, turn: Turn, number: int) -> None:
        """Append a turn to the file of its session."""
        name = _file_name(turn.session)
        file = self._open_session_file(name)
        if name not in self._counts:
            head = {"format": MARKDOWN_FORMAT_VERSION, "session": turn.session}
            file.write(
                f"{_HEADER}{_comment_json(head)}\n# {_escape_name_line(turn.session)}\n\n".encode(
                    "utf-8", "surrogatepass"
                )
            )
        self._counts[name] = self._counts.get(name, 0) + 1
        file.write(_format_turn(turn, number).encode("utf-8", "surrogatepass"))

    def _open_session_file(self, name: str) -> BinaryIO:
        if (file := self._open.get(name)) is None:
            if len(self._open) >= MAX_OPEN_FILES:
                self._close_oldest()
            file = self._open[name] = open_private(self._folder / name, "a+b")
        self._open.move_to_end(name)
        return file

    def _close_oldest(self) -> None:
        _, file = self._open.popitem(last=False)
        with file:
            file.flush()
            os.fsync(file.fileno())


def _file_name(session: str) -> str:
    plain = re.sub(r"[^\w-]+", "-", session, flags=re.ASCII).strip("-")[:60]
    digest = blake2b(session.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{plain}-{digest}.md" if plain else f"{digest}.md"


def _comment_json(value: dict[str, Any]) -> str:
    """Return JSON that ends a comment, without marks that could end it sooner."""
    text = json.dumps(value, ensure_ascii=False)  # halves of an emoji side by side stay two
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("--", "-\\u002d") + " -->"


def _escape_name_line(text: str) -> str:
    """Return a name as a line of Markdown that is not read back and begins no other form."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text[:100])
    return re.sub(r"([\\`*_\[\]<>#&!|~])", r"\\\1", plain).encode("utf-8", "replace").decode()


def _format_turn(turn: Turn, number: int) -> str:
    fields: dict[str, Any] = {
        "n": number, "id": turn.id, "speaker": turn.speaker, "role": turn.role, "time": turn.time.isoformat(),
    }  # fmt: skip
    fields |= {name: value for name in _OPTIONAL if (value := getattr(turn, name)) not in (None, {})}
    if "metadata" in fields:
        fields["metadata"] = dict(turn.metadata)
    quoted = re.sub("<|&(?=(?:amp|lt);)", lambda found: "&lt;" if found[0] == "<" else "&amp;", turn.text)
    said = "".join(f"> {line}\n" for line in quoted.split("\n")) if turn.text else ""
    caption = f"\n{_escape_name_line(turn.caption)}\n" if turn.caption else ""
    at = f"{turn.time:%Y-%m-%d %H:%M}"
    return f"{_TURN}{_comment_json(fields)}\n**{_escape_name_line(turn.speaker)}**, {at}\n{caption}\n{said}\n"


def is_markdown_export(path: Path) -> bool:
    """Return whether a path is a folder with a file of an export."""
    return os.path.isdir(path) and any(map(_begins_as_markdown_export, path.glob("*.md")))


def _begins_as_markdown_export(path: Path) -> bool:
    if not path.is_file():
        return False
    with _open_file(path) as file:
        return file.read(len(_HEADER)) == _HEADER.encode()


def _open_file(path: Path) -> BinaryIO:
    """Open a file for reading. Raise ImportFailed where it cannot be read."""
    try:
        return open_regular(path)
    except OSError as error:
        raise ImportFailed(f"{str(path)!r} cannot be read ({error}); let this user read it") from error


def import_folder(
    store: Store, folder: Path, *, deferred: bool, jobs: tuple[JobKind, ...], times: LocalTimes = AS_GIVEN
) -> Iterator[Flow[AddReport]]:
    """Validate all files of an export, then yield a flow for each batch of turns, in the order of the memory.

    `deferred`, `jobs` and `times` are those of `Ingestion`. Raise ImportFailed, before the first flow, with file and
    line, for a file that is no whole and well-formed one.
    """
    files = sorted(file for file in folder.glob("*.md") if _begins_as_markdown_export(file))
    places: list[_TurnPosition] = []
    ids: set[bytes] = set()
    for at, file in enumerate(files):
        for turn, number, byte in _read_file_turns(file):
            digest = blake2b(turn.id.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            if digest in ids:
                raise ImportFailed(f"{file.name!r} has the turn {shown(turn.id, 40)} for the second time")
            ids.add(digest)
            places.append(_TurnPosition(number, at, byte))
    places.sort()
    turns = _read_turns_in_order(files, places)
    while batch := list(islice(turns, BATCH_TURNS)):
        yield Ingestion(store, None, deferred=deferred, jobs=jobs, times=times).store_batch(batch)


def _read_turns_in_order(files: list[Path], places: list[_TurnPosition]) -> Iterator[Turn]:
    """Yield the turn at each place; a few files are open at a time."""
    opened: OrderedDict[int, tuple[BinaryIO, str]] = OrderedDict()
    try:
        for place in places:
            if place.file not in opened:
                if len(opened) >= MAX_OPEN_FILES:
                    opened.popitem(last=False)[1][0].close()
                fresh = _open_file(files[place.file])
                opened[place.file] = fresh, _parse_session(fresh.readline(MAX_LINE), files[place.file])
            opened.move_to_end(place.file)
            file, session = opened[place.file]
            file.seek(place.byte)
            yield next(_read_turns(file, session, files[place.file], place.byte))[0]
    finally:
        deque((file.close() for file, _ in opened.values()), maxlen=0)


def _read_file_turns(path: Path) -> Iterator[tuple[Turn, int, int]]:
    """Yield each turn of a file, its number in the memory, and the byte where it begins."""
    with _open_file(path) as file:
        session = _parse_session(file.readline(MAX_LINE), path)
        yield from _read_turns(file, session, path, file.tell())


def _parse_session(line: bytes, path: Path) -> str:
    head = _parse_comment(line, _HEADER, path, 1)
    session = head.get("session")
    if head.get("format") != MARKDOWN_FORMAT_VERSION or not isinstance(session, str) or not session:
        raise ImportFailed(f"{path.name!r} is no Markdown of an evimem export of the format {MARKDOWN_FORMAT_VERSION}")
    return session


def _read_turns(file: BinaryIO, session: str, path: Path, byte: int) -> Iterator[tuple[Turn, int, int]]:
    """Yield turns from a byte on, to the end that a whole file has."""
    fields: dict[str, Any] | None = None
    start, count, quoted = byte, 0, list[str]()
    for line in iter(lambda: file.readline(MAX_LINE + 1), b""):
        here, byte = byte, byte + len(line)
        if line.startswith(b">"):
            quoted.append(_unquote(line, path))
        elif line.startswith((_TURN.encode(), _END.encode())):
            if fields is not None:
                count += 1
                yield _parse_turn(fields, session, quoted, path), fields["n"], start
            if line.startswith(_END.encode()):
                _check_end(_parse_comment(line, _END, path, here), count, file, path)
                return
            fields, start, quoted = _check_fields(_parse_comment(line, _TURN, path, here), path), here, []
    raise ImportFailed(f"{path.name!r} is cut short: it has no last line {_END}...; export the memory again")


def _check_end(end: dict[str, Any], count: int, file: BinaryIO, path: Path) -> None:
    if end.get("turns") != count or file.read(4096).strip():
        raise ImportFailed(f"{path.name!r} has {count} turns and an end of {shown(end.get('turns'))}: was it edited?")


def _unquote(line: bytes, path: Path) -> str:
    if len(line) > MAX_LINE:
        raise ImportFailed(f"{path.name!r} has a line of over {MAX_LINE >> 20} MiB")
    text = line.decode("utf-8", "surrogatepass").removesuffix("\n").removeprefix(">").removeprefix(" ")
    return re.sub("&(amp|lt);", lambda found: "<" if found[1] == "lt" else "&", text)


def _parse_comment(line: bytes, mark: str, path: Path, byte: int) -> dict[str, Any]:
    """Return the JSON of a comment. Raise ImportFailed for another line."""
    text = line.strip()
    if not text.startswith(mark.encode()) or not text.endswith(b"-->") or len(line) > MAX_LINE:
        raise ImportFailed(f"{path.name!r} has a line at byte {byte} that is not of an evimem export")
    try:
        value = parse_json(text[len(mark) : -len(b"-->")].strip())
    except ValueError as error:
        raise ImportFailed(f"{path.name!r} has a comment at byte {byte} that is {error}") from error
    if not isinstance(value, dict):
        raise ImportFailed(f"{path.name!r} has a comment at byte {byte} that is no JSON object")
    return value


def _check_fields(fields: dict[str, Any], path: Path) -> dict[str, Any]:
    known = {**_FIELDS, **_OPTIONAL}
    wrong = [name for name in _FIELDS if name not in fields]
    wrong += [name for name, value in fields.items() if name not in known or type(value) is not known[name]]
    if wrong:
        raise ImportFailed(
            f"{path.name!r} has a turn whose {shown(wrong[0], 40)} is missing, unknown or of another type"
        )
    return fields


def _parse_turn(fields: dict[str, Any], session: str, quoted: list[str], path: Path) -> Turn:
    try:
        turn = Turn(
            fields["id"], session, fields["speaker"], "\n".join(quoted), parse_time(fields["time"]),
            fields.get("caption"), fields["role"], fields.get("metadata") or {},
        )  # fmt: skip
        checked = TurnValidator()(turn)
    except (ValueError, InvalidTurn) as error:
        raise ImportFailed(f"{path.name!r}: {str(error)[:400]}") from error
    if checked != turn:
        raise ImportFailed(f"{path.name!r} has a turn with an empty id, or metadata that JSON cannot hold")
    return turn
