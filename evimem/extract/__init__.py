"""Facts from turns by rule or by a spaCy parse; classes of predicates, and which facts replace others."""

from .identity import fact_id
from .predicates import predicate_class
from .rule_extractor import RuleExtractor, Stance, conventions_of, stance
from .topics import ENDABLE, ENDING, Topic, topic_of
from .updates import contradicts, outranks, replaces

__all__ = [
    "ENDABLE",
    "ENDING",
    "RuleExtractor",
    "Stance",
    "Topic",
    "contradicts",
    "fact_id",
    "outranks",
    "predicate_class",
    "replaces",
    "stance",
    "topic_of",
    "conventions_of",
]
