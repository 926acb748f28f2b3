"""A very long turn is read around the passage that was found, wherever in it that stands."""

from __future__ import annotations

from pathlib import Path

import pytest

import evimem

SAID = "The red kayak is called Pelican and hangs in the shed. "
FILLER = "The garden near the station made us think of the orchard and another spring. "


@pytest.mark.parametrize("before", [40, 120, 400])
def test_what_stands_anywhere_in_a_long_turn_is_found_and_quoted(tmp_path: Path, before: int) -> None:
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", FILLER * before + SAID + FILLER * 40, time="2024-03-01T08:00", id="long")
        memory.add("Noah", "Lovely.", time="2024-03-01T08:01")
        for question in ("What is the red kayak called?", "Where does the red kayak hang?"):
            answer = memory.ask(question)
            assert (answer.kind, [citation.quote for citation in answer.citations]) == ("quote", [SAID.strip()])
            (cited,) = answer.citations
            assert cited.span is not None
            assert memory.turn("long").text[slice(*cited.span)] == SAID.strip()
