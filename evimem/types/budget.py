"""Limits of one question."""

from __future__ import annotations

from dataclasses import dataclass

MOST = 2**31 - 1  # of anything counted: more than a memory holds, and still an integer of SQLite and numpy


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one question. Checked when it is asked.

    Attributes:
        iterations: At most this many rounds of searching and judging, at least 1; None for as many as the loop has of
            itself: 3 of "iris", 5 decisions of "memr3", 4 rounds of "mgretrieval", 8 turns of "mragent".
        k: At most this many turns of a search, at least 1; None for the loop's own: 10 of "iris", which takes three
            more in each further round, and of a round of "mgretrieval", 5 of "memr3" and "mragent".
        tokens: At most this many tokens of evidence are shown to the judge, counted with the shipped WordPiece
            vocabulary, at least 1 (E6).
        seconds: Start no further iteration after this many wall-clock seconds, and end a judge's request then; None for
            no limit. Not an error once there was a check: the question is answered from the evidence so far. Wording
            the answer has at least a quarter of this time, so that all may take a quarter more. Where the model fails
            and the offline judge is asked, this has what is left, and looks once if nothing is.
        abstain_below: Abstain below this probability, 0 to 1; None takes that of the calibration, else the shipped one.
        format: How the answer is to be written, in your own words ("one sentence, no names"); a model's answer only.
    """

    iterations: int | None = None
    k: int | None = None
    tokens: int = 4000
    seconds: float | None = None
    abstain_below: float | None = None
    format: str = ""
