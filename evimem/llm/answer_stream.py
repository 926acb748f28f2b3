"""The text of an answer while its JSON reply is still arriving."""

from __future__ import annotations

from .json_reply import begun, partial_field

MOST_WATCHED = 100_000  # characters: a reply that is longer, thoughts included, is shown when it is there


class AnswerStream:
    """Extracts the answer's text from the pieces of a JSON reply as they arrive, after what the model thinks."""

    def __init__(self) -> None:
        self._reply = ""
        self._sent = ""

    def add(self, piece: str) -> str:
        """Add a piece of the reply; return the characters by which it extends the answer, often none."""
        if len(self._reply) > MOST_WATCHED:
            return ""
        self._reply += piece
        answer = partial_field(begun(self._reply), "answer")
        if not answer.startswith(self._sent):  # what was sent was thought after all
            return ""
        new = answer[len(self._sent) :]
        self._sent = answer
        return new
