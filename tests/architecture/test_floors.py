"""ARCHITECTURE.md holds: modules stand on floors, imports go down, SQL stays on its floors; and each rule can fail."""

from pathlib import Path

import pytest

import evimem

from .house import House, entry, floors

PACKAGE = Path(evimem.__file__).parent
PAGE = (PACKAGE.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
HOUSE = House(PACKAGE, floors(PAGE))


def test_every_entry_stands_in_the_table_and_every_row_in_the_package() -> None:
    assert HOUSE.unplaced() == []


def test_there_are_at_most_twelve_floors_and_thirty_two_entries() -> None:
    assert len(set(HOUSE.floors.values())) <= 12
    assert len(HOUSE.floors) <= 32


def test_every_import_goes_down() -> None:
    assert HOUSE.upward() == []


def test_no_modules_import_one_another() -> None:
    assert HOUSE.circles() == []


def test_sql_stays_in_one_room() -> None:
    assert len(HOUSE.sql()) > 50
    assert {entry(place.partition(":")[0]) for place in HOUSE.sql()} == {"db"}


def test_no_basename_stands_twice() -> None:
    names = [path.name for path in HOUSE.modules.values() if path.name not in {"__init__.py", "__main__.py"}]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


@pytest.fixture
def small(tmp_path: Path) -> House:
    """A package of two floors in which `top` imports `low`."""
    package = tmp_path / "small"
    for folder in ("low", "top"):
        (package / folder).mkdir(parents=True)
        (package / folder / "__init__.py").write_text("", encoding="utf-8")
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "low" / "one.py").write_text("A = 1\n", encoding="utf-8")
    (package / "top" / "two.py").write_text("from ..low.one import A\n", encoding="utf-8")
    return House(package, floors("| 1 | `low/` |\n| 2 | `top/` |\n| 3 | `__init__` |\n"))


def test_an_entry_without_a_floor_is_found(small: House) -> None:
    (small.package / "attic.py").write_text("", encoding="utf-8")
    assert small.unplaced() == ["attic"]


@pytest.mark.parametrize(
    "text",
    [
        "from ..top.two import A\n", "from ..top import two\n", "import small.top.two\n",
        "from small.top import two\n", "def late():\n    from ..top import two\n    return two\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..top.two import A\n", "from .. import top\n",
    ],
)  # fmt: skip
def test_an_import_that_goes_up_is_found_wherever_it_stands(small: House, text: str) -> None:
    (small.package / "low" / "one.py").write_text(text, encoding="utf-8")
    assert [said.partition(" imports ")[2].partition(".")[0] for said in small.upward()] == ["top"]


def test_a_circle_inside_an_entry_is_found(small: House) -> None:
    (small.package / "low" / "one.py").write_text("from .other import B\n", encoding="utf-8")
    (small.package / "low" / "other.py").write_text("def f():\n    from .one import A\n", encoding="utf-8")
    assert small.circles() == [["low.one", "low.other"]]


@pytest.mark.parametrize(
    "text", ['"DELETE FROM t"', 'f"SELECT {x} FROM t"', '" PRAGMA y"', '"INSERT OR IGNORE INTO t VALUES (?)"']
)
@pytest.mark.parametrize("place", ["A = {}", "def f(db, x):\n    return db.rows({})"])
def test_sql_is_found_wherever_it_stands(small: House, text: str, place: str) -> None:
    (small.package / "low" / "one.py").write_text(f"{place.format(text)}\n", encoding="utf-8")
    assert [found.partition(":")[0] for found in small.sql()] == ["low.one"]
