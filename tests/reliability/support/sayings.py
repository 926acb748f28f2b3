"""The texts of the state machine, the facts that follow from them, and models that find them well, badly or never."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import Literal, cast
from zlib import crc32

from evimem import Fact, ModelUnavailable, Turn
from evimem.extract.statements import fact_id
from evimem.types.trace import Complete
from tests.llm.mutants import mutants

from .world import SayingExtractor

IDS = (*"123456789abcde", "é", "e\u0301", "../1", "1' --", "%", "\u202e7", "0x")
TOKENS = ("zebra", "zebra", "zebra", "Kettle", "straße", "ピアノ")  # alike often enough to be linked
SESSIONS = ("s1", "s2", "S1", "s%")
TOWNS = ("Porto", "Lisbon", "Bergen")
REACH = 2  # of `small_thresholds`: how many facts further one is looked for that takes a fact's place

Mood = Literal["well", "malformed", "down"]


class LivingExtractor(SayingExtractor):
    """Finds that (speaker, says, word) in the first two words, and that (speaker, lives in, town) in the last."""

    def extract(self, turn: Turn) -> tuple[Fact, ...]:
        said = super().extract(turn)
        words = turn.text.rpartition(" ")
        if words[2] not in TOWNS:
            return said
        span = (len(words[0]) + 1, len(turn.text))
        identity = fact_id(turn.id, self.name, span, turn.speaker, "lives in", words[2])
        lives = Fact(
            identity, turn.id, turn.speaker, "lives in", words[2], None, span, "state", self.name, attribute="home"
        )
        return (*said, lives)


EXTRACTOR = LivingExtractor()


def predicted(turns: Iterable[Turn]) -> set[Fact]:
    """Return the facts of turns in order of arrival: a later town of a speaker replaces an earlier one."""
    facts = {fact: turn for turn in turns for fact in EXTRACTOR.extract(turn)}
    homes = [fact for fact in facts if fact.predicate == "lives in"]
    homes.sort(key=lambda fact: facts[fact].time)  # and, as sorting is stable, by arrival
    found = set(facts) - set(homes)
    for place, home in enumerate(homes):
        later = [one for one in homes[place + 1 :] if one.subject == home.subject][:REACH]
        winner = next((one.id for one in later if one.object != home.object), None)
        found.add(replace(home, replaced_by=winner))
    return found


def any_turn(random: Random, noon: datetime) -> Turn:
    words = [any_text(random), random.choice(TOKENS), any_text(random)]
    text = " ".join(words[random.randint(0, 1) :]) + (f" {random.choice(TOWNS)}" if random.random() < 0.5 else "")
    time = noon + timedelta(minutes=random.randint(-50, 50))
    return Turn(random.choice(IDS), random.choice(SESSIONS), random.choice(("Mira", "Tomas")), text, time, role="user")


def any_text(random: Random) -> str:
    """Return a few characters from anywhere in Unicode, control characters and lone surrogates included."""
    ranges = (
        (0x20, 0x7F), (0, 0x20), (0xA0, 0x250), (0x300, 0x370), (0x2000, 0x2070), (0xD800, 0xE000),
        (0x1F300, 0x1F700),
    )  # fmt: skip
    return "".join(chr(random.randrange(*random.choice(ranges))) for _ in range(random.randint(0, 8)))


def token_in(text: str) -> str:
    return next((token for token in TOKENS if token in text), "")


def reply(request: Complete, mood: Mood) -> str:
    """Return a model's reply to a turn: that its speaker mentions a word; the same, malformed; or none."""
    if mood == "down":
        raise ModelUnavailable("down", retryable=True)
    token = token_in(request.prompt.rpartition("<turn")[2])
    fact = {"subject": "I", "predicate": "mentions", "object": token, "quote": token, "kind": "state", "when": ""}
    whole = {"facts": [fact] if token else []}
    if mood == "well":
        return json.dumps(whole)
    return next(mutants([cast(dict, whole)], 1, crc32(request.prompt.encode())))
