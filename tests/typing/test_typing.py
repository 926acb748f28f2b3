"""What type checkers know of evimem in a user's program; the checkers themselves run every night."""

import subprocess
from pathlib import Path

import pytest

from .program import main

HERE = Path(__file__).parent


def test_the_program_that_is_checked_does_what_its_types_say(tmp_path: Path) -> None:
    assert main(tmp_path) == ["I moved to Porto. True True", "I moved to Leeds."]


@pytest.mark.nightly
def test_every_public_name_has_a_type_and_a_users_program_passes_in_strict_mode(tmp_path: Path) -> None:
    script = [HERE / "run_type_checkers", tmp_path / "env"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "Type completeness score: 100%" in done.stdout
