"""Facts from turns by rule or by a spaCy parse; classes of predicates, and which facts replace others."""

import typing as _typing

from ..types.lazy_names import lazily as _lazily

if _typing.TYPE_CHECKING:
    from .fact_text import fact_id as fact_id
    from .rule_extractor import RuleExtractor as RuleExtractor
    from .rule_extractor import conventions_of as conventions_of
    from .slots import Topic as Topic
    from .slots import contradicts as contradicts
    from .slots import outranks as outranks
    from .slots import replaces as replaces
    from .slots import topic_of as topic_of
    from .turn_facts import Stance as Stance
    from .turn_facts import stance as stance

_LAZY = {  # imported at first use: a search needs own sentences only, and none of the grammar
    "RuleExtractor": "rule_extractor",
    "Stance": "turn_facts",
    "Topic": "slots",
    "contradicts": "slots",
    "conventions_of": "rule_extractor",
    "fact_id": "fact_text",
    "outranks": "slots",
    "replaces": "slots",
    "stance": "turn_facts",
    "topic_of": "slots",
}


__getattr__ = _lazily(__name__, _LAZY)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
