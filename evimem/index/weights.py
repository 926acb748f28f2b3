"""The constants of retrieval, in one place: the same for every memory, whatever it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of a score weighs, in units of a turn that has every word of the question often (1.0).

    The kernel gives a turn a share of the words and vectors around it: `spread` of the next speaker's turn, falling
    by e with every `fade` turns up to `reach`; a further message of the same speaker is `burst` of a turn away, and
    at most `steps` messages to each side count. Words that ask count `asking` in the turn that asks them and
    `answering` in the turns that reply; of the vector of a turn that only asks, `echo` goes to the reply.
    """

    # BM25 (Robertson and Zaragoza 2009)
    k1: float = 1.0
    b: float = 0.7
    # dialogue neighbours
    spread: float = 0.3
    fade: float = 2.5
    reach: float = 4.0
    burst: float = 0.3
    steps: int = 10
    asking: float = 0.5
    answering: float = 1.0
    echo: float = 0.6
    # words that mean what the question says
    related: float = 0.45
    floor: float = 0.3
    # parts
    words: float = 1.0
    meaning: float = 0.625
    asks: float = 0.15
    speaker: float = 0.06
    laconic: float = 2.5  # times more, at most, for the one who says little in an unequal pair
    date: float = 0.15
    when: float = 0.06
    days: float = 7.0


WEIGHTS = Weights()
BM25 = Weights(
    spread=0.0,
    asking=1.0,
    answering=0.0,
    echo=0.0,
    related=0.0,
    meaning=0.0,
    asks=0.0,
    speaker=0.0,
    date=0.0,
    when=0.0,
)
