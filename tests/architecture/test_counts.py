"""Size and words of the package: `python -m benchmarks.house` counts them, and no count rises above its limit here.

A commit that lowers a count lowers its limit with it.
"""

import ast
from pathlib import Path

import pytest

from benchmarks.house import count, module_constants, package_files

LIMITS = {
    "statements": 25_840, "constants": 1_116, "one-word number constants": 5, "bare participles": 22,
    "what per 1,000 words": 1.0, "nobody, others, whoever per 1,000 words": 0.3,
}  # fmt: skip


def test_no_count_rises_above_its_limit() -> None:
    counts = count({path: path.read_text(encoding="utf-8") for path in package_files()})
    assert {name: counts[name] for name, limit in LIMITS.items() if counts[name] > limit} == {}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def f():\n    return 1\n", "statements"), ("_MAX_TURNS: int = 3\n", "constants"),
        ("MOST = -2 * 3.5\n", "one-word number constants"), ("async def joined(): ...\n", "bare participles"),
        ('"""Say what is so."""\n', "what per 1,000 words"),
        ("x = 1  # whoever\n", "nobody, others, whoever per 1,000 words"),
    ],
)  # fmt: skip
def test_each_count_sees_its_kind(text: str, name: str) -> None:
    assert count({Path("one.py"): text})[name] > 0


def test_imports_docstrings_and_names_of_two_words_are_not_counted() -> None:
    counts = count({Path("one.py"): '"""Text."""\nimport io\nMAX_TURNS = 3\n'})
    assert counts["statements"] == 1
    assert counts["one-word number constants"] == counts["bare participles"] == 0
    assert [name for name, _ in module_constants(ast.parse("A = B = 1\nlower = 2\n"))] == ["A", "B"]
