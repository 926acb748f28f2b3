"""The constants of retrieval, in one place: the same for every memory, whatever it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of a score weighs, in units of a turn that has every word of the question (1.0).

    The kernel gives a turn a share of its neighbours' words and vectors: `spread` to the next speaker's turn,
    falling by e with every `fade` turns up to `reach`; a message of the same burst counts as `burst` of a turn.
    """

    # BM25 (Robertson and Zaragoza 2009), on the words a turn has with its neighbours' shares
    k1: float = 1.0
    b: float = 0.3
    # dialogue neighbours
    spread: float = 0.3
    fade: float = 2.0
    reach: float = 4.0
    burst: float = 0.5
    steps: int = 8
    flow: float = 0.3
    # parts
    words: float = 1.0
    meaning: float = 2.0
    session: float = 0.3
    asks: float = 0.15
    speaker: float = 0.08
    date: float = 0.12
    when: float = 0.12
    days: float = 7.0


WEIGHTS = Weights()
