"""Breaks of odd text, names and queries."""

from typing import Any

from evimem import Turn
from evimem.extract.rule_extractor import RuleExtractor
from evimem.raw import turn_log
from evimem.raw.turn_log import NameTable
from tests.breaks.gates import ODD_INPUT
from tests.breaks.patch import put
from tests.breaks.registry import breaks


@breaks(gate="tests/reliability/test_hostile_load.py", says=r"ended with -(9|24)|to keep .* took")
def dateparser_scans_raw_text() -> None:
    from dateparser.search import search_dates  # noqa: PLC0415 - slow to import, and wanted here alone

    honest = RuleExtractor.extract

    def extract(self: RuleExtractor, turn: Turn) -> Any:
        search_dates(turn.text, languages=["en"])
        return honest(self, turn)

    put(RuleExtractor, "extract", extract)


@breaks(gate=ODD_INPUT, says="Error")
def names_are_interpolated_into_sql() -> None:
    def numbers(self: NameTable, names: Any) -> Any:
        plain = [name.encode("utf-8", "replace").decode() for name in names]
        found = [self._db.rows(f"SELECT name, ord FROM {self._table} WHERE name = '{name}'") for name in plain]
        return dict(row for rows in found for row in rows)

    put(NameTable, "find_numbers", numbers)


@breaks(gate=ODD_INPUT, says="a statement of its own")
def names_are_quoted_into_sql() -> None:
    def numbers(self: NameTable, names: Any) -> Any:
        plain = [name.encode("utf-8", "replace").decode().replace("'", "''").replace("\0", "") for name in names]
        found = [self._db.rows(f"SELECT name, ord FROM {self._table} WHERE name = '{name}'") for name in plain]
        return dict(row for rows in found for row in rows)

    put(NameTable, "find_numbers", numbers)


@breaks(gate="tests/reliability/test_odd_input.py::test_an_odd_text_is_kept_verbatim_and_found", says="Unicode|UTF-8")
def lone_surrogates_are_bound_as_text() -> None:
    put(turn_log, "encode_text", lambda text: text)
