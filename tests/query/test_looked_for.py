"""Of a text that is too long to be a question its two ends are looked for."""

from datetime import datetime, timedelta

import pytest

import evimem

NOON = datetime(2024, 3, 1, 12)
PASTED = " ".join(f"zq{number}" for number in range(9_000))


@pytest.mark.parametrize(
    "query", [f"{PASTED}\nWhich tea does Mira like?", f"Which tea does Mira like?\n{PASTED}"], ids=["after", "before"]
)
def test_words_of_a_question_beside_pasted_text_count(tmp_path, query):
    with evimem.open(tmp_path / "m.evimem") as memory:
        for number, text in enumerate(["I like jasmine tea.", "The bus was late.", "My printer is broken."]):
            memory.add("Mira", text, time=NOON + timedelta(minutes=number), session="s")
        words = {hit.turn.text: hit.parts["words"] for hit in memory.search(query, k=3)}
    assert words["I like jasmine tea."] > words["The bus was late."]
