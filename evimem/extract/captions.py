"""What the caption of a shared image states: one fact, its span in the caption."""

from __future__ import annotations

import re

from .clause_facts import Statement
from .fact_text import Voice, clean

MAX_CAPTION = 400  # characters

_OPENING = re.compile(
    r"\s*(?:this is\s+)?(?:an?|the)\s+(photo|photography|photograph|picture|image|screenshot|drawing|painting)\s+of\s+",
    re.IGNORECASE,
)
_NAMES = {"photography": "photo", "photograph": "photo"}


def read_caption(caption: str, voice: Voice) -> Statement | None:
    """Return (speaker, shared a photo of, what it shows), or None for an empty caption."""
    text = caption[:MAX_CAPTION].rstrip(" .\n\t")
    opening = _OPENING.match(text)
    kind = opening.group(1).lower() if opening is not None else "photo"
    kind = _NAMES.get(kind, kind)
    start = opening.end() if opening is not None else len(text) - len(text.lstrip())
    shown = clean(text[start:])
    if not shown:
        return None
    article = "an" if kind[0] in "aeiou" else "a"
    span = (start, len(text))
    return Statement(voice.name, f"shared {article} {kind} of", shown, span, span, "image")
