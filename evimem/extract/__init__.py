"""Facts out of turns: rules that need no model, and what is known about predicates."""

from .identity import fact_id
from .predicates import predicate_class
from .rules import RuleExtractor, Stance, stance
from .sentences import sentences
from .updates import replaces

__all__ = ["RuleExtractor", "Stance", "fact_id", "predicate_class", "replaces", "sentences", "stance"]
