"""What a model may have read of turns that are erased: it reads each with some before it, to know whom "he" means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from ..db.turn_sql import turns_around
from ..text.terms import terms
from ..types.attempt import attempt
from ..types.stored import EARLIER
from ..types.values import Fact
from .layers import Layers


class ReadBeside:
    """The words of erased turns, by the number of each later turn in which a model found facts."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._words: dict[int, set[str]] = defaultdict(set)

    def note(self, seqs: Sequence[int]) -> None:
        """Note the words of turns that are about to be erased."""
        layers, erased = self._layers, set(seqs)
        after = [pair for pair in layers.db.rows(*turns_around(layers.db, seqs, 0, EARLIER)) if pair[1] not in erased]
        by_model = layers.facts.read_by_a_model({near for _, near in after})
        after = [(seq, near) for seq, near in after if near in by_model]
        said = self._said({seq for seq, _ in after})
        for seq, near in after:
            self._words[near] |= said[seq]

    def lost(self) -> list[int]:
        """Return the turns that are left and have a fact with a word of an erased turn, and of none that is left."""
        layers = self._layers
        beside = sorted(layers.facts.read_by_a_model(self._words))
        left = [(seq, seq) for seq in beside] + layers.db.rows(*turns_around(layers.db, beside, EARLIER, 0))
        said, gone = self._said({near for _, near in left}), {seq: set(self._words[seq]) for seq in beside}
        for seq, near in left:
            gone[seq] -= said[near]
        facts = attempt({}, layers.facts.of_turns, beside).value
        return [seq for seq in beside if seq not in facts or any(_speaks_of(fact, gone[seq]) for fact in facts[seq])]

    def _said(self, seqs: Collection[int]) -> dict[int, set[str]]:
        """Return the words of turns; none of one that is not what was stored."""
        intact = self._layers.raw.intact(list(seqs)) if seqs else {}
        texts = {seq: f"{turn.speaker} {turn.text} {turn.caption or ''}" for seq, turn in intact.items()}
        return {seq: set(terms(texts.get(seq, ""))) for seq in seqs}


def _speaks_of(fact: Fact, words: Collection[str]) -> bool:
    return any(term in words for term in terms(f"{fact.subject} {fact.object}"))
