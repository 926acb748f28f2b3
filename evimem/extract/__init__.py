"""Facts from turns by rule or by a spaCy parse; classes of predicates, and which facts replace others."""

import typing as _typing

from ..types.lazy_names import lazily as _lazily

if _typing.TYPE_CHECKING:
    from .fact_text import fact_id as fact_id
    from .rule_extractor import RuleExtractor as RuleExtractor
    from .rule_extractor import Stance as Stance
    from .rule_extractor import conventions_of as conventions_of
    from .rule_extractor import stance as stance
    from .updates import ENDABLE as ENDABLE
    from .updates import ENDING as ENDING
    from .updates import Topic as Topic
    from .updates import contradicts as contradicts
    from .updates import outranks as outranks
    from .updates import predicate_class as predicate_class
    from .updates import replaces as replaces
    from .updates import topic_of as topic_of

_LAZY = {  # imported at first use: a search needs own sentences only, and none of the grammar
    "ENDABLE": "updates",
    "ENDING": "updates",
    "RuleExtractor": "rule_extractor",
    "Stance": "rule_extractor",
    "Topic": "updates",
    "contradicts": "updates",
    "conventions_of": "rule_extractor",
    "fact_id": "fact_text",
    "outranks": "updates",
    "predicate_class": "updates",
    "replaces": "updates",
    "stance": "rule_extractor",
    "topic_of": "updates",
}


__getattr__ = _lazily(__name__, _LAZY)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
