"""Which judge marked the answers of a run: figures of two judges, variants, prompts or temperatures do not compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import answer_judge, g_eval

OF_TYPES = "LongMemEval's rubrics"


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """The variants of the judge with the sampling temperature of each, the model, and a digest of its instructions."""

    temperatures: dict[str, float]
    judged_by: str
    judge_prompt: str

    @classmethod
    def of(cls, variants: Sequence[str], model: str) -> JudgeIdentity:
        """Return the judge of some variants and of the name of a model."""
        found = {name: g_eval.TEMPERATURE if name == g_eval.VARIANT else answer_judge.TEMPERATURE for name in variants}
        return cls(found, model, answer_judge.prompt_digest())

    def options(self) -> dict[str, Any]:
        """Return what a result file says of it."""
        return {
            "judge": " and ".join(self.temperatures),
            "judged_by": self.judged_by,
            "judge_prompt": self.judge_prompt,
            "judge_temperature": [*self.temperatures.values()],
        }

    def note(self) -> str:
        """Return the line under a table that has its marks."""
        variants = " and ".join(f"{name} at temperature {one:g}" for name, one in self.temperatures.items())
        return (
            f"Judged: {variants}, by {self.judged_by}, instructions {self.judge_prompt}. Marks of another judge, "
            "variant or model do not compare."
        )


def rubric_of(judges: Sequence[str] | None) -> str:
    """Return the rubric among some variants of the judge; "" if there is none."""
    return next((name for name in judges or () if name != g_eval.VARIANT), "")


def grades(judges: Sequence[str] | None) -> bool:
    """Whether G-Eval is among some variants of the judge."""
    return g_eval.VARIANT in (judges or ())
