"""Check that a tag may be released: `python scripts/check_release.py v0.2.0`.

The tag is the version of the package, the changelog has a dated section of it with entries, and no figure of a page is
of an earlier version. Tells what is wrong, and exits with 1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.figures import outdated  # noqa: E402 - found from the root
from evimem.types.version import __version__ as VERSION  # noqa: E402


def faults(tag: str, version: str, changelog: str, old: list[str]) -> Iterator[str]:
    """Yield what forbids the release of a tag, a sentence each."""
    if tag != f"v{version}":
        yield f"the tag is {tag}, the version of the package {version}; expected v{version}"
    found = re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if not found or not found[1].strip():
        yield f"the changelog has no dated section of {version}, such as '## [{version}] - 2026-12-01', with entries"
    for name in old:
        yield f"the figure {name} was made by an earlier version; run `python -m benchmarks all`"


def main() -> int:
    """Check the tag that the first argument names."""
    version = tuple(map(int, VERSION.split(".")))
    found = list(faults(sys.argv[1], VERSION, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), outdated(version)))
    sys.stdout.write("\n".join(found or [f"{sys.argv[1]} may be released"]) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
