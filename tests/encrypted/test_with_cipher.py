"""The tests of encrypted memories run where `apsw` can encrypt: in a process that finds apsw-sqlite3mc before apsw.

Both distributions hold the module `apsw`, so that one environment has one of them.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import apsw
import pytest

import evimem
from evimem import MissingExtra

HERE = Path(__file__).parent
PAGE = "tests/docs/test_blocks.py::test_the_blocks_of_a_page_run"
TESTS = (
    "tests/encrypted/test_encrypted_files.py", "tests/reliability/test_exchanged_files.py",
    f"{PAGE}[docs/guides/encrypt.md]", f"{PAGE}[docs/files.md]",
)  # fmt: skip


@pytest.fixture
def cipher(tmp_path: Path) -> Path:
    """A folder with apsw-sqlite3mc, from the package index or its cache."""
    folder = tmp_path / "site"
    given = ("--no-deps", "--target", str(folder), "apsw-sqlite3mc>=3.51.3")
    uv = shutil.which("uv")
    own = sys.executable if find_spec("pip") else str(Path(sys.base_prefix) / "bin" / "python3")  # uv makes no pip
    pip = [uv, "pip", "install", "--python", sys.executable] if uv else [own, "-m", "pip", "install"]
    done = subprocess.run([*pip, *given], check=False, capture_output=True, text=True)
    if done.returncode and "CI" not in os.environ:
        pytest.skip("apsw-sqlite3mc cannot be installed here: " + done.stderr.strip()[-200:])
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.skipif(hasattr(apsw, "mc_version"), reason="apsw can encrypt here: the tests have run in this process")
def test_encrypted_memories_pass_their_tests(cipher):
    environment = {**os.environ, "PYTHONPATH": str(cipher)}
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    done = subprocess.run(
        run, cwd=HERE.parent.parent, env=environment, check=False, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "skipped" not in done.stdout


@pytest.mark.skipif(hasattr(apsw, "mc_version"), reason="apsw can encrypt here")
def test_without_the_library_a_key_is_refused_and_no_file_made(tmp_path):

    with pytest.raises(MissingExtra, match="apsw-sqlite3mc"):
        evimem.open(tmp_path / "m.evimem", key=b"k" * 32)
    assert not list(tmp_path.iterdir())
