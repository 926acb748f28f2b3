"""Cues of polarity and modality: what negates a statement, ends what it states, or leaves it open."""

from __future__ import annotations

import re

from ...lang import ENGLISH

_CUES = {
    name: re.compile(rf"(?<![\w'])(?:{'|'.join(cues)})(?!\w)", re.IGNORECASE)
    for name, cues in ENGLISH.lists("asked_forms.polarity").items()
}
NEGATION, ENDED, UNSETTLED = _CUES["negation"], _CUES["ended"], _CUES["unsettled"]
FAILED = _CUES["failed"]
HEARSAY, INTENDS = _CUES["hearsay"], _CUES["intends"]
REPLY_YES, REPLY_NO = _CUES["reply_yes"], _CUES["reply_no"]
