"""Facts from turns by rule or by a spaCy parse; classes of predicates, and which facts replace others."""

from .fact_text import fact_id
from .rule_extractor import RuleExtractor, Stance, conventions_of, stance
from .updates import ENDABLE, ENDING, Topic, contradicts, outranks, predicate_class, replaces, topic_of

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
