"""The `evimem` command; `python -m evimem` is the same."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .cli.arguments import run


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; return its exit code."""
    return run(argv)


if __name__ == "__main__":
    sys.exit(main())
