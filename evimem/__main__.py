"""The `evimem` command; `python -m evimem` is the same."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .cli.arguments import run_command_line


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; return its exit code."""
    return run_command_line(argv)


if __name__ == "__main__":
    sys.exit(main())
