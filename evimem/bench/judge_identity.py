"""Which judge marked the answers of a run: figures of two judges, variants, prompts or temperatures do not compare."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from . import answer_judge, g_eval

OF_TYPES = "LongMemEval's rubrics"


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """A variant of the judge, the model behind it, a digest of its instructions, and its sampling temperature."""

    judge: str
    judged_by: str
    judge_prompt: str
    judge_temperature: float

    @classmethod
    def of(cls, variant: str, model: str) -> JudgeIdentity:
        """Return the judge of a variant and the name of a model."""
        temperature = g_eval.TEMPERATURE if variant == g_eval.VARIANT else answer_judge.TEMPERATURE
        return cls(variant, model, answer_judge.prompt_digest(), temperature)

    def options(self) -> dict[str, Any]:
        """Return what a result file says of it."""
        return asdict(self)

    def note(self) -> str:
        """Return the line under a table that has its marks."""
        return (
            f"Judged: {self.judge}, by {self.judged_by} at temperature {self.judge_temperature:g}, instructions "
            f"{self.judge_prompt}. Marks of another judge, variant or model do not compare."
        )
