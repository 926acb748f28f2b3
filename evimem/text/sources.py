"""Whether what was worked out from texts stands in them: the words of a phrase, and each of its numbers."""

from __future__ import annotations

from collections.abc import Iterable

from ..lang import ENGLISH
from .terms import terms, words

ANCHORED = 0.5  # share of a phrase's terms that must stand in the sources
_KIN = {
    form: " ".join((kin, *forms))
    for kin, forms in ENGLISH.lists("people.kin").items()
    for form in (kin, *forms)
}  # fmt: skip


class Sources:
    """The words of some texts, read once, in which phrases are to stand. "Mum" stands for a mother too."""

    def __init__(self, texts: Iterable[str]) -> None:
        texts = tuple(texts)
        said = [word for text in texts for word in words(text)]
        kin = " ".join(_KIN[word] for word in sorted(_KIN.keys() & set(said)))
        self._stems = {term for text in (*texts, kin) for term in terms(text)}
        self._numbers = {word for word in said if any(c.isdigit() for c in word)}

    def anchor(self, phrase: str, share: float = ANCHORED) -> bool:
        """Return whether at least a share of a phrase's terms, and each of its numbers, stand in the texts."""
        own = terms(phrase)
        invented = [word for word in words(phrase) if any(c.isdigit() for c in word) and word not in self._numbers]
        return not invented and sum(term in self._stems for term in own) >= share * len(own)
