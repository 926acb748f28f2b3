"""Our own sentences with the facts that the rules read from them; where a reader could be misled, none."""

import re
from datetime import datetime
from pathlib import Path

import pytest

from evimem import Turn
from evimem.extract.rule_extractor import RuleExtractor

TABLE = Path(__file__).with_name("facts.txt")
OPENING = re.compile(r"(?:\[(\w+)\] )?(.*)")


def rows() -> dict[str, list[str]]:
    """Return the sentences of the table with their facts."""
    found: dict[str, list[str]] = {}
    sentence = ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            found[sentence] += [] if line == "  -" else [line.strip()]
        elif line and not line.startswith("#"):
            sentence = line
            found[sentence] = []
    return found


@pytest.mark.parametrize(("line", "expected"), rows().items())
def test_a_sentence_states_what_the_table_says(line: str, expected: list[str]) -> None:
    speaker, text = OPENING.fullmatch(line).groups("Mira")  # type: ignore[union-attr]
    said = Turn("t", "s", speaker, text.replace("\\n", "\n"), datetime(2024, 3, 12, 18))
    facts = RuleExtractor().extract(said)
    assert [" | ".join((fact.subject, fact.predicate, fact.object)).rstrip(" |") for fact in facts] == expected
