"""`Calibration`: a fitted map from scores to probabilities, what it was fitted to, and its measured quality."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import orjson

from ..errors import ImportFailed
from ..offline.constants import Monotone
from ..types.public_value import PublicValue
from .curves import Bin, Point


@dataclass(frozen=True, slots=True, repr=False)
class Calibration(PublicValue):
    """A monotone map from a judge's raw score to a probability, with what it was fitted to and its quality.

    It is valid for one judge and one embedder, and contains no text of any question. Every figure is cross-validated:
    measured on questions that the map was not fitted on (five parts, each left out in turn).

    Attributes:
        judge: The judge's identity: a model's name, or the rules with a digest of their constants.
        embedder: The embedder's name.
        questions: How many labelled questions were judged.
        answerable: How many of them are answerable.
        knots: The map's points (raw score, probability), scores ascending; linear in between, constant outside.
        abstain_below: The probability below which `ask` abstains, 0 to 1.
        ece: Expected calibration error over 10 equal bins of probability, 0 to 1; less is better.
        ece_before: That of the probabilities used until now, measured on all questions.
        auroc: Chance that an answerable question scores above an unanswerable one, 0 to 1; 0.5 at random.
        aurc: Area under risk against coverage (Geifman and El-Yaniv 2017), 0 to 1; less is better.
        caught: Share of the unanswerable questions that are refused with `abstain_below`.
        false_abstention: Share of the answerable questions that are refused with it.
        precision: The precision that `precise` is for, 0 to 1.
        precise: The lowest threshold at which this share of the answered questions is answerable; None if out of reach.
        reliability: Predicted against observed, one item per non-empty bin.
        curve: Risk against coverage, one item per threshold, the strictest first.
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
        """Return the probability, 0 to 1, of a raw `score` of the judge (any real number)."""
        return Monotone(self.knots)(score)

    def to_json(self) -> str:
        """Return the calibration as a JSON object; `from_json` returns an equal one."""
        return orjson.dumps(self.to_dict()).decode()

    @classmethod
    def from_json(cls, text: str) -> Calibration:
        """Return the calibration of a `text` that `to_json` wrote. Raise ImportFailed for anything else."""
        try:
            raw = orjson.loads(text)
            return cls(**{field.name: _value(field.name, raw[field.name]) for field in fields(cls)})
        except (LookupError, TypeError, ValueError) as error:
            raise ImportFailed(
                f"not a calibration ({error!r}); expected the JSON object that Calibration.to_json writes"
            ) from error


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
