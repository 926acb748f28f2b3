"""Facts out of turns: rules that need no model, and what is known about predicates."""

from .identity import fact_id
from .rules import RuleExtractor, stance
from .sentences import sentences

__all__ = ["RuleExtractor", "fact_id", "sentences", "stance"]
