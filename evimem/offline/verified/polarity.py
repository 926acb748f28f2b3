"""Cues of polarity and modality: what negates a statement, ends what it states, or leaves it open."""

from __future__ import annotations

import re

from ...lang import ENGLISH


def _cue(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'])(?:{'|'.join(ENGLISH.words(f'asked_forms.polarity.{name}'))})(?!\w)", re.IGNORECASE)


NEGATION, ENDED, UNSETTLED = _cue("negation"), _cue("ended"), _cue("unsettled")
HEARSAY, INTENDS = _cue("hearsay"), _cue("intends")
REPLY_YES, REPLY_NO = _cue("reply_yes"), _cue("reply_no")
