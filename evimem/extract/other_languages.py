"""Whether a sentence is English: the rules read no other language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..lang import ENGLISH
from .tag_letters import letters
from .word_tags import TAGS

_FOREIGN = frozenset(ENGLISH.words("grammar.foreign_words"))
_FUNCTION = frozenset(letters("PERSONS IT THAT THERE OBJECT DETERMINERS AUXILIARIES NOT PREPOSITION TO SUBORDINATOR"))
_ENGLISH = frozenset(word for word, tag in TAGS.items() if tag in _FUNCTION and word.isalpha()).difference(
    _FOREIGN, ENGLISH.words("grammar.shared_words")
)
_OTHER_SCRIPT = re.compile("[\u0370-\u1dff\u2e80-\uabff\uac00-\ud7ff]")
_MARKED = re.compile("[\u00c0-\u024f]")


def is_foreign_text(text: str, words: Sequence[str]) -> bool:
    """Return whether a sentence, given with its words in lower case, is written in another language than English."""
    present = frozenset(words)
    foreign, english = len(_FOREIGN & present), len(_ENGLISH & present)
    if foreign > max(1, english):
        return True
    if text.isascii():
        return False
    if _OTHER_SCRIPT.search(text) is not None and english < 2:
        return True
    return not english and foreign > 0 and _MARKED.search(text) is not None
