"""What the caption of a shared image states: one fact, with its span in the caption."""

from __future__ import annotations

import re

from ..lang import ENGLISH
from .fact_draft import Statement
from .fact_text import Voice, clean

MAX_CAPTION = 400  # characters

_OPENING = re.compile(
    rf"\s*(?:this is\s+)?(?:an?|the)\s+({'|'.join(ENGLISH.words('terms.images'))})\s+of\s+", re.IGNORECASE
)
_SHORT_NAMES = ENGLISH.table("terms.image_names")


def read_caption(caption: str, voice: Voice) -> Statement | None:
    """Return the fact (speaker, "shared a photo of", what it shows), or None for an empty caption."""
    text = caption[:MAX_CAPTION].rstrip(" .\n\t")
    opening = _OPENING.match(text)
    kind = opening.group(1).lower() if opening is not None else "photo"
    kind = str(_SHORT_NAMES.get(kind, kind))
    start = opening.end() if opening is not None else len(text) - len(text.lstrip())
    shown = clean(text[start:])
    if not shown:
        return None
    article = "an" if kind[0] in "aeiou" else "a"
    span = (start, len(text))
    return Statement(voice.name, f"shared {article} {kind} of", shown, span, span, "image")
