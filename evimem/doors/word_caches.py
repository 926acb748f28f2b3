"""The caches of words in this process: bounded, and emptied when turns are forgotten, because they hold their words."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ..embedding.static_embedder import forget_words

PACKAGE = __name__.partition(".")[0]
CACHED = type(lru_cache(len))  # the type of every function with a cache


def clear_word_caches() -> None:
    """Empty every cache of words, and that of patterns: some are made from names."""
    for cache in word_caches():
        cache.cache_clear()
    forget_words()
    re.purge()


def word_caches() -> Iterator[Any]:
    """Yield every bounded `lru_cache` of the package that is loaded: none is left out because nobody listed it.

    A cache of one entry or without a bound (`functools.cache`) holds tables of the package, never words of turns.
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == PACKAGE:
            for value in list(vars(module).values()):
                if isinstance(value, CACHED) and (value.cache_parameters()["maxsize"] or 0) > 1:
                    yield value
