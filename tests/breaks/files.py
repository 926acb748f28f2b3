"""Breaks of imports and exports, files beside a memory, modes of files, and output to a terminal."""

from io import BytesIO
from pathlib import Path
from typing import Any

from evimem.api import open as places
from evimem.cli import arguments, page
from evimem.db import atomic_files, connection
from evimem.db.connection import Connection
from evimem.ingest import import_file
from evimem.loaders import formats
from evimem.store import open_file, sequence, sqlite
from tests.breaks.gates import BESIDE, IMPORT, MODES
from tests.breaks.patch import put
from tests.breaks.registry import breaks


@breaks(gate=f"{IMPORT}::test_a_malformed_export_is_refused_by_line_and_leaves_nothing", says="DID NOT RAISE")
def facts_of_an_export_are_not_validated() -> None:
    put(import_file, "find_fact_fault", lambda fact, turn: None)


@breaks(gate=f"{IMPORT}::test_a_fact_whose_words_stand_nowhere_is_left_out", says="assert")
def words_of_facts_are_not_sought_in_their_turns() -> None:
    put(import_file.SourceWords, "are_grounded", lambda sources, phrase, share=0.5: True)


@breaks(
    gate=f"{IMPORT}::test_a_malformed_export_is_refused_by_line_and_leaves_nothing", says="TypeError|KeyError|Error"
)
def fields_of_an_export_are_not_validated() -> None:
    put(import_file, "_check_fields", lambda what, value, known: value)


@breaks(
    gate=f"{IMPORT}::test_a_bad_last_line_leaves_nothing_of_the_batches_before_it",
    says="a refused import left something",
)
def an_import_is_validated_as_it_is_written() -> None:
    honest = import_file.read_export
    passes: list[Any] = []

    def read(path: Path, file: Any) -> Any:
        passes.append(path)
        return iter(()) if len(passes) == 1 else honest(path, file)

    put(import_file, "read_export", read)


@breaks(gate=f"{IMPORT}::test_an_import_takes_room_for_a_batch_and_not_for_the_file", says="the whole file is held")
def an_import_holds_the_whole_file() -> None:
    honest = import_file.read_export
    put(import_file, "read_export", lambda path, file: honest(path, BytesIO(file.read())))


@breaks(gate=f"{BESIDE}::test_opening_a_second_handle_leaves_the_locks_of_the_first", says="dropped the locks")
def a_header_is_read_past_sqlite() -> None:
    put(open_file, "read_header", lambda path, vfs=None: path.read_bytes()[:100])


@breaks(gate=f"{BESIDE}::test_no_call_opens_the_database_file_outside_sqlite", says="opened|DID NOT RAISE")
def a_database_is_loaded_past_sqlite() -> None:
    put(formats, "check_readable", lambda path: None)


@breaks(gate=f"{BESIDE}::test_a_users_own_files_beside_a_memory_stay", says="a user's file was deleted")
def every_file_that_ends_in_tmp_is_deleted() -> None:
    def sweep(path: Path) -> None:
        for file in path.parent.glob(f"{path.name}.*.tmp"):
            file.unlink()

    put(open_file, "delete_stale_temporaries", sweep)


@breaks(gate=f"{BESIDE}::test_a_users_own_files_beside_a_memory_stay", says="a user's file was deleted")
def content_of_temporary_files_is_not_checked() -> None:
    put(atomic_files, "_is_own_temporary", lambda file: True)


@breaks(
    gate=f"{BESIDE}::test_forget_as_in_another_kind_of_file_is_refused_and_leaves_it_unchanged",
    says="what was refused was changed|StoreError|StoreCorrupt",
)
def the_kind_of_a_copy_is_not_checked() -> None:
    put(sequence, "open_copy", lambda path, key: Connection(path, key=key))


@breaks(gate=f"{BESIDE}::test_a_memory_with_two_hard_links_is_refused_and_left_unchanged", says="DID NOT RAISE")
def hard_links_of_a_memory_are_not_counted() -> None:
    put(sqlite, "resolve_memory_path", lambda path: path)


@breaks(
    gate=f"{BESIDE}::test_nothing_is_written_under_a_name_that_belongs_beside_another_memory",
    says="DID NOT RAISE|a file of the memory was replaced",
)
def names_of_companions_are_free_to_take() -> None:
    put(atomic_files, "check_not_companion_name", lambda path: None)
    put(open_file, "check_not_companion_name", lambda path: None)


@breaks(gate=f"{BESIDE}::test_a_link_to_a_memory_is_the_memory", says="StoreReadOnly|assert")
def a_link_to_a_memory_is_not_followed() -> None:
    put(sqlite, "resolve_memory_path", lambda path: path)


@breaks(gate=f"{BESIDE}::test_no_call_opens_the_database_file_outside_sqlite", says="DID NOT RAISE")
def an_export_may_replace_a_database() -> None:
    put(import_file, "check_replaceable", lambda path: None)


@breaks(
    gate=f"{BESIDE}::test_opening_another_kind_of_file_is_refused_at_once_and_leaves_it_unchanged",
    says="what was refused was changed",
)
def a_file_with_a_journal_is_not_checked() -> None:
    honest = open_file._check_is_memory

    def check(path: Path, vfs: str | None, key: Any) -> None:
        if not path.with_name(f"{path.name}-journal").exists():
            honest(path, vfs, key)

    put(open_file, "_check_is_memory", check)


@breaks(gate=f"{MODES}::test_every_file_of_a_memory_is_its_owners_alone", says="0o666|0o644")
def files_of_a_memory_follow_the_umask() -> None:
    put(connection, "create_private", lambda path: path.touch())


@breaks(gate=f"{MODES}::test_every_file_of_a_memory_is_its_owners_alone", says="0o666|0o644")
def temporary_files_follow_the_umask() -> None:
    put(atomic_files, "create_temporary", lambda temporary: temporary.open("wb"))
    put(atomic_files, "_set_mode", lambda file, mode: None)


@breaks(gate=f"{MODES}::test_every_folder_and_file_of_a_pool_is_its_owners_alone", says="assert")
def folders_follow_the_umask() -> None:
    put(places, "make_folder", lambda folder: folder.mkdir(parents=True, exist_ok=True))


@breaks(gate="tests/cli/test_escapes.py::test_no_command_prints_what_steers_the_terminal", says="assert")
def the_command_line_prints_what_it_is_given() -> None:
    for module in (page, arguments):
        put(module, "escape_control_characters", lambda text: text)
