"""Conversations with labelled questions: pairs of NAME.turns.jsonl and NAME.questions.jsonl in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.data_sets import check_present
from evimem.errors import ImportFailed
from evimem.loaders.formats import read_turns
from evimem.loaders.json_values import make_mismatch_error, parse_json
from evimem.types.values import Turn

OTHER = "other"  # the register of a conversation that no register names
_TURNS, _QUESTIONS = ".turns.jsonl", ".questions.jsonl"
_REGISTERS = "registers.json"


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """A question about a chat.

    `answer` is None where nothing was told; `accept` are other right forms of it. `evidence` are the ids of the turns
    that are needed, or of those that mislead. `asked_at` is "today" for the question, in ISO 8601.
    """

    text: str
    answer: str | None
    accept: tuple[str, ...]
    evidence: tuple[str, ...]
    kind: str
    asked_at: str | None = None

    @property
    def gold(self) -> tuple[str, ...]:
        """The right forms of the answer, the usual one first; none where nothing was told."""
        return () if self.answer is None else (self.answer, *self.accept)


@dataclass(frozen=True, slots=True)
class LabelledChat:
    """A conversation, the register it belongs to, and the questions about it."""

    name: str
    register: str
    turns: tuple[Turn, ...]
    questions: tuple[ChatQuestion, ...]


def read_chats(folder: Path, registers: Path | None = None) -> list[LabelledChat]:
    """Return the chats of a folder, by name. Raise ImportFailed where a file is missing or of another form.

    A register is a way of writing, such as letters: `registers` is a JSON object of lists of names of chats by
    register, by default `registers.json` in the folder. A chat that it does not name is of the register "other".
    """
    check_present("chats", folder)
    places = sorted(folder.glob(f"*{_TURNS}"))
    if not places:
        raise ImportFailed(f"{str(folder)!r} has no file NAME{_TURNS}; expected one a conversation")
    names = _register_of(registers or folder / _REGISTERS, required=registers is not None)
    return [_chat(place, names) for place in places]


def _chat(place: Path, registers: Mapping[str, str]) -> LabelledChat:
    name = place.name.removesuffix(_TURNS)
    asked = place.with_name(name + _QUESTIONS)
    if not asked.is_file():
        raise ImportFailed(f"{place.name} has no {asked.name} beside it; expected the questions about its turns")
    questions = tuple(
        _question(line, f"{asked.name} line {number}")
        for number, line in enumerate(asked.read_bytes().splitlines(), start=1)
        if line.strip()
    )
    return LabelledChat(name, registers.get(name, OTHER), tuple(read_turns(place)), questions)


def _question(line: bytes, where: str) -> ChatQuestion:
    try:
        row = parse_json(line)
        if not isinstance(row, dict) or not isinstance(row.get("question"), str) or "answer" not in row:
            raise make_mismatch_error("a line", row, "an object with question and answer, null where nothing was told")
    except ValueError as error:
        raise ImportFailed(f"{where}: {error}") from error
    accept, evidence = (tuple(map(str, row.get(name) or ())) for name in ("accept", "evidence"))
    answer: Any = row["answer"]
    said = None if answer is None else str(answer)
    return ChatQuestion(row["question"], said, accept, evidence, str(row.get("kind", "")), row.get("asked_at"))


def _register_of(path: Path, *, required: bool) -> dict[str, str]:
    if not path.is_file() and not required:
        return {}
    try:
        table = parse_json(path.read_bytes())
        return {str(name): str(register) for register, names in table.items() for name in names}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise ImportFailed(
            f"{str(path)!r} is no table of registers ({error}); expected a JSON object such as "
            '{"letters": ["landlord-tenant"]}'
        ) from error
