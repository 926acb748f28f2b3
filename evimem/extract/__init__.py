"""Facts out of turns: rules that need no model, and what is known about predicates."""

from .identity import fact_id
from .predicates import predicate_class
from .rules import RuleExtractor, Stance, stance
from .sentences import sentences
from .slots import ENDABLE, ENDING, Topic, topic_of
from .updates import replaces

__all__ = [
    "ENDABLE",
    "ENDING",
    "RuleExtractor",
    "Stance",
    "Topic",
    "fact_id",
    "predicate_class",
    "replaces",
    "sentences",
    "stance",
    "topic_of",
]
