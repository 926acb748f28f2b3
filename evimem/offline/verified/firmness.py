"""How probably a bound value is the right one: a linear model over the named checks of a binding.

Chosen by `benchmarks.short_answers --fit` on our own conversations of three registers (long replies, bursts, other
assistants) and the development conversations of LoCoMo; it reports each register left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..constants import Linear
from .asked_form import AskedForm
from .bindings import Binding

FORMS = {
    "when": "dated",
    "weekday": "dated",
    "month": "dated",
    "year": "dated",
    "money": "money",
    "duration": "length",
    "count": "count",
}
FIRMNESS = Linear(
    {
        "beside": -0.011,
        "few": 0.639,
        "least": 1.499,
        "reply": 1.046,
        "sentence": 4.878,
        "short": 3.072,
        "sole": -0.87,
        "speaker": 0.816,
        "turn": 1.601,
        "verb": 0.52,
        "wide": 0.436,
        "dated": -0.727,
        "money": -0.7,
        "length": -0.426,
        "count": -0.107,
    },
    -7.078,
)


def firmness(asked: AskedForm, one: Binding) -> float:
    """Return the probability that a bound value is the right one."""
    return FIRMNESS.probability(named_checks(asked, one))


def named_checks(asked: AskedForm, one: Binding) -> Mapping[str, float]:
    """Return the checks of a binding with the form of the value, by name."""
    return {**one.checks, FORMS.get(asked.form, "other"): 1.0}
