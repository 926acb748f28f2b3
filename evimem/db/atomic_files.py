"""Files that are written whole or not at all, private to their owner, with the system's refusals as typed errors."""

from __future__ import annotations

import errno
import os
import re
import stat
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, Literal

from ..errors import DiskFull, StoreBusy, StoreError, StoreReadOnly
from .file_format import HEADER_SIZE, is_encrypted_header
from .safe_context import safe_context

if os.name != "nt":
    import fcntl
    import resource

PRIVATE_MODE = 0o600  # a memory and whatever is copied from it are for their owner alone, whatever the umask
_PRIVATE_FOLDER = 0o700
_NO_DESCRIPTOR = {errno.EMFILE, errno.ENFILE}
_DESCRIPTORS_OF_WINDOWS = 8_192
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# Names that `temporary_path` or a backup gives (process, thread), for a file or its mark or index, and SQLite's
# companions.
_TEMPORARY = re.compile(
    r"(?P<base>(?P<companion>\.(?:ann|ann\.json|mark))?\.[1-9][0-9]*(?:\.[1-9][0-9]*)?\.tmp)(?P<sqlite>-wal|-shm|-journal)?"
)
_OF_A_MEMORY = re.compile(
    rf"(?s:.+)(?:{_TEMPORARY.pattern}|\.ann|\.ann\.json|\.mark|-wal|-shm|-journal)", re.IGNORECASE
)


def is_disk_full(error: OSError) -> bool:
    """Return whether the system refused for want of room."""
    return error.errno in _NO_ROOM


def max_descriptors() -> int:
    """Return how many files this process may have open."""
    if os.name == "nt":
        return _DESCRIPTORS_OF_WINDOWS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _DESCRIPTORS_OF_WINDOWS if soft == resource.RLIM_INFINITY else soft


def has_free_descriptors(count: int) -> bool:
    """Return whether this process can open so many files more."""
    with ExitStack() as opened:
        try:
            for _ in range(count):
                opened.enter_context(open(os.devnull, "rb"))
        except OSError as error:
            return error.errno not in _NO_DESCRIPTOR
    return True


def no_descriptor_message(what: str) -> str:
    """Return the message for something that cannot be opened because the process has too many files open."""
    return (
        f"{what} cannot be opened: this process has as many files open as it may, {max_descriptors()}; close memories "
        "or other files, or raise the limit (`ulimit -n`), and repeat the call"
    )


@contextmanager
def translate_os_errors(what: str, kept: str) -> Iterator[None]:
    """Raise DiskFull or StoreReadOnly for a refusal of the system in a block; `kept` says which work stays done."""
    try:
        yield
    except OSError as error:
        if is_disk_full(error):
            raise DiskFull(f"no room to write {what} ({error}); {kept}: free space") from error
        if error.errno in _NO_DESCRIPTOR:
            raise StoreBusy(f"{no_descriptor_message(what)}; {kept}") from error
        raise StoreReadOnly(f"{what} cannot be changed ({error}); {kept}: check the folder") from error


@safe_context
def replace_with(path: Path, *, like: Path | None = None) -> Iterator[BinaryIO]:
    """Write a file so that after a crash either the old or the new one is there, whole.

    Its permissions are those of the file that it replaces, else those of `like`, else the owner's alone.
    """
    temporary = temporary_path(path)
    try:
        with create_temporary(temporary) as file:
            yield file
            file.flush()
            _set_mode(file, _file_mode(path) or (like and _file_mode(like)) or PRIVATE_MODE)
            os.fsync(file.fileno())
            if os.name != "nt":
                temporary.replace(
                    path
                )  # while it is locked: `delete_stale_temporaries` of another process takes unlocked files
        if os.name == "nt":
            temporary.replace(path)  # there, no open file can be renamed
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


@safe_context
def create_database(path: Path, kept: str) -> Iterator[Path]:
    """Have SQLite write a new file elsewhere, which has its name only when it is whole and on disk.

    Raise StoreError where there is a file already, DiskFull or StoreReadOnly for a refusal of the system; `kept` names
    the state afterwards.
    """
    check_target(path)
    if path.exists():
        raise StoreError(f"{str(path)!r} exists already; no memory is written over another file: give a new path")
    delete_stale_temporaries(path)  # temporary files of processes that were killed
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with translate_os_errors(repr(str(path)), kept), create_temporary(temporary):
            yield temporary
        with translate_os_errors(repr(str(path)), kept):
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            temporary.with_name(temporary.name + end).unlink(missing_ok=True)
    sync_folder(path.parent)


def temporary_path(path: Path) -> Path:
    """Return where this thread writes a file before it takes its place; `delete_stale_temporaries` knows its form."""
    return path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")


def create_temporary(temporary: Path) -> BinaryIO:
    """Open a new private file, which `delete_stale_temporaries` leaves alone for as long as it is open."""
    while True:
        file = open_private(temporary)
        try:
            _set_mode(file, PRIVATE_MODE)  # it may have been there, or the umask may forbid the owner's access
            lock_file(file, wait=True)  # for `delete_stale_temporaries` of another process, which has it for a moment
            if temporary.exists():
                return file
        except BaseException:  # a signal's too: its traceback would keep the file, and the lock on it
            file.close()
            raise
        file.close()  # swept between opening and locking: try again


def create_private(path: Path) -> None:
    """Create an empty file for its owner alone, where there is none; do nothing where there is one.

    No descriptor is opened where the system can do without: closing one that another thread's SQLite has open by then
    would drop SQLite's locks (POSIX advisory locks belong to the process, not to the descriptor).
    """
    with suppress(FileExistsError):
        try:
            os.mknod(path, stat.S_IFREG | PRIVATE_MODE)
        except (AttributeError, PermissionError):  # Windows has no mknod, and macOS leaves it to root
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_MODE))
        path.chmod(PRIVATE_MODE)  # a umask may forbid the owner's access


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, each for its owner alone; leave one that is there as it is.

    Raise StoreReadOnly where that cannot be, StoreError for a name of no folder.
    """
    check_usable_name(folder)
    with translate_os_errors(f"the folder {str(folder)!r}", "it was not made"):
        for one in reversed([folder, *folder.parents]):
            if not one.is_dir():
                with suppress(FileExistsError):  # another process was first; a file is refused by the next step
                    one.mkdir(_PRIVATE_FOLDER)
                    one.chmod(_PRIVATE_FOLDER)  # a umask may forbid the owner's access
    if not folder.is_dir():
        raise StoreError(f"{str(folder)!r} is not a folder; give another path, or move what is there")


def check_usable_name(path: Path) -> None:
    """Raise StoreError for a path that no file can have, or that SQLite cannot be told."""
    if "\0" in str(path):
        raise StoreError(f"the path {str(path)!r} has a NUL character, which no file name can have; give another path")
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise StoreError(
            f"the path {str(path)!r} is not valid UTF-8, and SQLite takes no other; rename the file or its folder"
        ) from error


def check_not_companion_name(path: Path) -> None:
    """Raise StoreError for a name under which SQLite or evimem keeps something of another file.

    A process that opens that other file, now or later, replaces or deletes files under such a name.
    """
    if _OF_A_MEMORY.fullmatch(path.name):
        raise StoreError(
            f"{str(path)!r} is a name for what is kept beside another memory (-wal, -shm, -journal, .mark, .ann, "
            ".ann.json, .1.tmp), where it would be overwritten or deleted; give another name"
        )


def check_target(path: Path) -> None:
    """Raise StoreError for a path that a file cannot be written to: a folder, a pipe, a device, another's companion."""
    with translate_os_errors(repr(str(path)), "nothing was written"):
        kind = kind_of(path)
        if kind_of(path.parent) != "folder":
            raise StoreReadOnly(f"the folder {str(path.parent)!r} of {path.name!r} does not exist; create it first")
    if kind not in (None, "file"):
        raise StoreError(f"{str(path)!r} is a {kind}; give the path of a new file")
    check_not_companion_name(path)


def kind_of(path: Path) -> str | None:
    """Return the kind of file at a path, links followed: "file", "folder", another kind by name, or None for nothing.

    Raise StoreError for a name that no file can have.
    """
    check_usable_name(path)
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFIFO: "named pipe", stat.S_IFSOCK: "socket"}
    return kinds.get(stat.S_IFMT(mode), "device")


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading. Raise OSError at once for anything else: opening a pipe would wait for a writer.

    Never use it for a file that SQLite may have open in this process: see `create_private`.
    """
    return open(path, "rb", opener=_open_regular_descriptor)


def delete_stale_temporaries(path: Path) -> None:
    """Delete the temporary files that killed processes left of this file and of its companions.

    They may hold turns that were forgotten since. A process that still writes such a file holds a lock on it. Only
    names that are made here are looked at, and only files of this user that begin as such a file does.
    """
    with os.scandir(path.parent) as entries:
        left = [(entry.name, found) for entry in entries if (found := _match_temporary_name(path, entry))]
    for name, found in sorted(left, key=lambda one: one[0]):
        file = path.with_name(name)
        if found["sqlite"] and file.with_name(path.name + found["base"]).exists():
            continue  # SQLite's companions of a file go after it
        try:
            with open_regular(file) as handle:
                named = found["companion"] or found["sqlite"] or path.suffix in (".ann", ".mark")  # by no one else
                # Before it was locked, another file may have been given its name.
                same = lock_file(handle) and os.path.samestat(os.fstat(handle.fileno()), file.stat())
                if same and (named or _is_own_temporary(handle)):
                    file.unlink()
        except OSError:
            continue  # another process was first, or this one may not delete it


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if os.name == "nt":
        return  # Windows has no handle on a folder, and renames there are journalled
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_private(path: Path, mode: Literal["wb", "a+b"] = "wb") -> BinaryIO:
    """Open a file for its owner alone, with no Python between the descriptor and its owner: no cast either."""
    return open(path, mode, opener=partial(os.open, mode=PRIVATE_MODE))


def _open_regular_descriptor(path: str, flags: int) -> int:
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)  # noqa: TRY301 - the handle is closed by all that is raised
    except BaseException:
        os.close(handle)
        raise
    return handle


def _match_temporary_name(path: Path, entry: os.DirEntry[str]) -> re.Match[str] | None:
    """Return the parts of a name that may have been made here for a path, for a file of this user."""
    if not entry.name.startswith(path.name):
        return None
    found = _TEMPORARY.fullmatch(entry.name, len(path.name))
    if found is None or not entry.is_file(follow_symlinks=False):
        return None
    try:
        owned = os.name == "nt" or entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    except FileNotFoundError:
        return None  # it has taken its place, or was swept, since it was listed
    return found if owned else None


def _is_own_temporary(file: BinaryIO) -> bool:
    """Return whether a file begins as a backup or an export does, or was killed before its beginning was written."""
    head = file.read(HEADER_SIZE)
    unwritten = not head.strip(b"\0") and stat.S_IMODE(os.fstat(file.fileno()).st_mode) == PRIVATE_MODE
    # The first bytes of a backup and of an export.
    return head.startswith((b"SQLite format 3\0", b'{"evimem"')) or is_encrypted_header(head) or unwritten


def _file_mode(path: Path) -> int | None:
    with suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    return None


def _set_mode(file: BinaryIO, mode: int) -> None:
    if os.name != "nt":  # where permissions are lists, not bits
        os.fchmod(file.fileno(), mode)


def lock_file(file: BinaryIO, *, wait: bool = False) -> bool:
    """Lock a file unless another process has; return whether this one holds it, which is never so without locks.

    With `wait`, until the other process lets go of it.
    """
    if os.name == "nt":
        return True  # there, no process can delete a file that another has open
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
