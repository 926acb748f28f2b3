"""How probably a bound value is the right one: a linear model over the named checks of a binding.

Chosen by `benchmarks.short_answers --fit` on our own conversations of five registers (all but other
languages) and the development conversations of LoCoMo; it reports each register left out.
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
        "beside": -0.155,
        "few": 1.104,
        "least": 0.9,
        "reply": 1.003,
        "sentence": 4.609,
        "short": 2.6,
        "sole": 0.887,
        "speaker": 0.43,
        "turn": 1.5,
        "verb": 0.219,
        "wide": 1.338,
        "dated": -0.688,
        "money": -0.985,
        "length": -0.567,
        "count": 0.148,
    },
    -8.375,
)


def firmness(asked: AskedForm, one: Binding) -> float:
    """Return the probability that a bound value is the right one."""
    return FIRMNESS.probability(named_checks(asked, one))


def named_checks(asked: AskedForm, one: Binding) -> Mapping[str, float]:
    """Return the checks of a binding with the form of the value, by name."""
    return {**one.checks, FORMS.get(asked.form, "other"): 1.0}
