"""Where the data sets of the benchmarks come from: evimem ships none of other people's."""

from __future__ import annotations

from pathlib import Path

from ..errors import ImportFailed

SOURCES = {
    "locomo": "LoCoMo (CC BY-NC 4.0, not shipped): take data/locomo10.json of https://github.com/snap-research/LoCoMo, "
    "SHA-256 79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
    "longmemeval": "LongMemEval (not shipped): take longmemeval_s_cleaned.json, longmemeval_m_cleaned.json or "
    "longmemeval_oracle.json of the data set that https://github.com/xiaowu0162/LongMemEval names; no SHA-256 of them "
    "is known here, so pin your own with --sha256",
    "chats": "our conversations stand in benchmarks/chats of the source code of evimem, and in no wheel",
    "report": "a report is a Markdown file, such as benchmarks/README.md of the source code of evimem",
}


def check_present(name: str, path: Path) -> None:
    """Raise ImportFailed, with where to get it, if there is no data set of this name at a path."""
    if not path.exists():
        raise ImportFailed(f"there is nothing at {str(path)!r}; {SOURCES[name]}")
