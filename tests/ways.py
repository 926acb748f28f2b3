"""A loop with fields of its variant, and a budget: how a question is asked."""

from dataclasses import replace
from typing import Any

from evimem.loops import LOOPS
from evimem.types.results import Budget


def way(loop: str = "iris", **given: Any) -> dict[str, Any]:
    """Return the arguments of `ask`: fields of a budget are its, others those of the loop."""
    limits = {name: given.pop(name) for name in Budget.__slots__ if name in given}
    return {"loop": replace(LOOPS[loop], **given) if given else loop, "budget": Budget(**limits)}
