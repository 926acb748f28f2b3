"""Memories that many tests begin with are built once; each test gets a copy of the files."""

import shutil
from pathlib import Path


def copied(memory: Path, to: Path) -> Path:
    """Copy the file of a closed memory and all that stands beside it; return the path of the copy."""
    for file in memory.parent.glob(f"{memory.name}*"):
        shutil.copy(file, to.with_name(to.name + file.name.removeprefix(memory.name)))
    return to
