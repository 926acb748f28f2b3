"""The words of an answer while its reply is still arriving."""

from __future__ import annotations

from .json_reply import partial_field


class Telling:
    """Takes the pieces of an answerer's reply, which is JSON, and gives back what each adds to the answer's text."""

    def __init__(self) -> None:
        self._reply = ""
        self._told = ""

    def take(self, piece: str) -> str:
        """Return the new characters of the answer that a piece completes, often none."""
        self._reply += piece
        said = partial_field(self._reply, "answer")
        new = said[len(self._told) :]
        self._told = said
        return new
