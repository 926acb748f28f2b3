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
        "beside": 0.239,
        "few": 0.689,
        "least": 1.008,
        "reply": 1.042,
        "sentence": 4.324,
        "short": 2.867,
        "sole": -0.754,
        "speaker": 0.744,
        "turn": 1.803,
        "wide": 0.536,
        "dated": -0.551,
        "money": -0.607,
        "length": -0.383,
        "count": -0.132,
    },
    -6.992,
)


def firmness(asked: AskedForm, one: Binding) -> float:
    """Return the probability that a bound value is the right one."""
    return FIRMNESS.probability({**one.checks, FORMS.get(asked.form, "other"): 1.0})
