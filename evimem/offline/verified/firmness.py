"""How probably a bound value is the right one: a linear model over the named checks of a binding.

Chosen by scripts/fit_short_answers.py on our own conversations and the development conversations of LoCoMo; the script
reports it with each register left out.
"""

from __future__ import annotations

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
        "beside": 0.531,
        "few": 1.314,
        "least": 1.326,
        "reply": 0.621,
        "sentence": 3.505,
        "short": 1.98,
        "sole": -0.074,
        "speaker": 0.719,
        "turn": 1.453,
        "wide": 0.066,
        "dated": -0.862,
        "money": -0.578,
        "length": -0.263,
        "count": -0.26,
    },
    -6.593,
)


def firmness(asked: AskedForm, one: Binding) -> float:
    """Return the probability that a bound value is the right one."""
    return FIRMNESS.probability({**one.checks, FORMS.get(asked.form, "other"): 1.0})
