"""Facts from turns by rule or by a spaCy parse; classes of predicates, and which facts replace others."""

from .identity import fact_id
from .predicates import predicate_class
from .rule_extractor import RuleExtractor, Stance, stance
from .topics import ENDABLE, ENDING, Topic, topic_of
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
    "stance",
    "topic_of",
]
