"""Short answers that are verified: a value of the asked type, bound to the asked subject and relation."""

from .short_answer import NotStated, ShortAnswer, short_answer

__all__ = ["NotStated", "ShortAnswer", "short_answer"]
