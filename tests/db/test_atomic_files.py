"""A file is replaced whole while other processes sweep what killed ones left beside it."""

import os
import time
from functools import partial
from pathlib import Path

import pytest

from evimem.db.atomic_files import delete_stale_temporaries, replace_with
from tests.reliability.support.children import all_in_children

SECONDS = 1.5
SWEEPERS = 3


def write(path: Path, until: float) -> int:
    written = 0
    while time.monotonic() < until:
        written += 1
        with replace_with(path) as file:
            file.write(b"%d" % written)
        assert path.read_bytes() == b"%d" % written
    return written


def sweep_on(path: Path, until: float) -> int:
    while time.monotonic() < until:
        delete_stale_temporaries(path)
    return 0


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be deleted there")
def test_a_file_that_is_being_replaced_is_never_swept(tmp_path):
    memory = tmp_path / "m.evimem"
    memory.touch()
    mark, until = memory.with_name("m.evimem.mark"), time.monotonic() + SECONDS
    sweeping = [partial(sweep_on, memory, until) for _ in range(SWEEPERS)]
    assert max(all_in_children([partial(write, mark, until), *sweeping])) > 0
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["m.evimem", "m.evimem.mark"]
