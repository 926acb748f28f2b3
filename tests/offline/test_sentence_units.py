"""Attribution is a sentence's: first person to the speaker, second person to whom it is said to."""

from __future__ import annotations

from datetime import datetime

from evimem.offline.matching import addressee, split_turn
from evimem.types.values import Turn


def said(speaker: str, text: str, place: int = 1, caption: str | None = None) -> Turn:
    return Turn(f"s1:{place}", "s1", speaker, text, datetime(2024, 3, 12, 18, place), caption)


def test_the_addressee_is_the_last_other_speaker() -> None:
    dialogue = [said("Ana", "Hi.", 1), said("Ben", "Hello.", 2), said("Cleo", "You two!", 3), said("Ana", "Us?", 4)]
    assert addressee(dialogue[2], dialogue) == "Ben"
    assert addressee(dialogue[3], dialogue) == "Cleo"
    assert addressee(dialogue[0], dialogue) == "Ben"


def test_a_turn_of_the_only_speaker_has_no_addressee() -> None:
    diary = [said("Mira", "Dear diary.", 1), said("Mira", "It rained.", 2)]
    assert addressee(diary[1], diary) is None
    assert dict(split_turn(diary[1], None)[0].about).keys() == {"Mira"}


def test_a_message_of_any_length_is_read_in_bounded_time() -> None:
    found = split_turn(said("Mira", "I adopted a puppy and then some more " * 30_000), "Tomas")
    assert sum(len(unit.text) for unit in found) <= 20_000
    assert len(split_turn(said("Mira", "I ran. " * 5_000), "Tomas")) == 200
    assert len(split_turn(said("Mira", "I ran as far as I could, and then I ran back home. " * 5_000), "Tomas")) < 410
