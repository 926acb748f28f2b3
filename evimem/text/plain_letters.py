"""Text as it is compared: case, accents and optional marks of each script folded, compatible forms made one."""

from __future__ import annotations

import re
import unicodedata

# What a writer may leave out: accents of Latin, Greek and Cyrillic letters, Hebrew and Arabic vowel points, the Arabic
# hamza on a carrier and the stretching tatweel, the Indic nukta, joiners. Marks that make another letter or syllable
# stay: Indic vowel signs and viramas, the voicing marks of kana, Thai vowels and tones.
_OPTIONAL = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u093c\u09bc\u0a3c\u0abc\u0b3c\u0cbc\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d"
    "\u20d0-\u20f0\ufe20-\ufe2f]+"
)
_CANDRABINDU, _ANUSVARA = "\u0901", "\u0902"  # Hindi writes a nasal vowel with either mark


def plain(text: str) -> str:
    """Return a text with case, accents and optional marks folded, and straight apostrophes."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    decomposed = unicodedata.normalize("NFKD", folded).replace(_CANDRABINDU, _ANUSVARA).replace("\u2019", "'")
    return unicodedata.normalize("NFC", _OPTIONAL.sub("", decomposed))  # kana and Hangul are one character again
