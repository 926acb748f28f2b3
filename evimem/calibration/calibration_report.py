"""What calibrating found: the map from scores to probabilities, where it comes from, and how good it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import orjson

from ..offline.constants import Monotone
from .curves import Bin, Point


@dataclass(frozen=True, slots=True)
class Calibration:
    """A monotone map from a judge's raw score to a probability, with its provenance and what it is worth.

    It holds for one `judge` (the rules, or a model by name) over one `embedder`, and no word of any question. Every
    figure is of questions that the map was not fitted on (five parts, each left out in turn): `ece` is the expected
    calibration error, `ece_before` that of the probabilities in force until now; `caught` is the share of
    unanswerable questions that are refused, `false_abstention` that of answerable ones, with the threshold
    `abstain_below`. `precise` is where `precision` of what is answered is answerable, None where that is not reached.
    """

    judge: str
    embedder: str
    questions: int
    answerable: int
    knots: tuple[tuple[float, float], ...]
    abstain_below: float
    ece: float
    ece_before: float
    auroc: float
    aurc: float
    caught: float
    false_abstention: float
    precision: float
    precise: Point | None
    reliability: tuple[Bin, ...]
    curve: tuple[Point, ...]

    def probability(self, score: float) -> float:
        """Return the probability of a raw score."""
        return Monotone(self.knots)(score)

    def to_json(self) -> str:
        """Return the calibration as a JSON object; `from_json` gives an equal one back."""
        return orjson.dumps(asdict(self)).decode()

    @classmethod
    def from_json(cls, text: str) -> Calibration:
        """Read what `to_json` wrote. Raise ValueError for anything else."""
        raw = orjson.loads(text)
        try:
            return cls(**{field.name: _value(field.name, raw[field.name]) for field in fields(cls)})
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a calibration: expected the fields that to_json writes, {error!r}") from error


def _value(name: str, value: Any) -> Any:
    if name == "knots":
        return tuple((score, probability) for score, probability in value)
    if name == "reliability":
        return tuple(Bin(**one) for one in value)
    if name == "curve":
        return tuple(Point(**one) for one in value)
    if name == "precise":
        return None if value is None else Point(**value)
    return value
