"""The text of an answer while its JSON reply is still arriving."""

from __future__ import annotations

from .json_reply import partial_field


class AnswerStream:
    """Extracts the answer's text from the pieces of a JSON reply as they arrive."""

    def __init__(self) -> None:
        self._reply = ""
        self._sent = ""

    def add(self, piece: str) -> str:
        """Add a piece of the reply; return the characters by which it extends the answer, often none."""
        self._reply += piece
        spoken = self._reply.rpartition("</think>")[2].lstrip()
        if not spoken.startswith(("{", "`")):  # thoughts, tagged or not, may hold a draft of the reply
            return ""
        answer = partial_field(spoken, "answer")
        new = answer[len(self._sent) :]
        self._sent = answer
        return new
