"""LoCoMo (Maharana et al. 2024): conversations with questions, from a file of your own; evimem ships none.

A turn is its text and, where it shares a picture, the picture's caption. The annotators' search string (`query`) was
never said, and observations and summaries were written later, so none of them is read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ..errors import ImportFailed
from ..types.paths import AnyPath
from ..types.values import Turn
from .data_sets import check_present
from .json_values import mismatch_error
from .parts import elements

KNOWN_FILES = {
    "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4": "the published file, ten conversations",
    "2ba19efc8b4340f6e33750bea626723e1571674965226e6f65e91d6a08a3aecb": "the development file, five conversations",
}
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"  # "1:56 pm on 8 May, 2023", by the speakers' own clocks


@dataclass(frozen=True, slots=True)
class LocomoQuestion:
    """A question with its gold answer and the ids of the turns that state it.

    In category 5, which has no answer, `answer` is None and `trap` is the wrong answer that the question suggests.

    Categories are 1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop and 5 adversarial, the file's own numbers.
    """

    text: str
    answer: str | None
    trap: str | None
    evidence: tuple[str, ...]
    category: int


@dataclass(frozen=True, slots=True)
class LocomoSample:
    """One conversation and the questions about it."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[LocomoQuestion, ...]


def read_locomo(path: AnyPath) -> Iterator[LocomoSample]:
    """Yield the conversations of a LoCoMo file. Raise ImportFailed for one of another form, and where there is none."""
    path = Path(path)
    check_present("locomo", path)
    with path.open("rb") as file:
        for number, sample in enumerate(elements(file, path.name), start=1):
            try:
                read = _sample(sample)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise ImportFailed(
                    f"{str(path)!r} conversation {number} is not in the form of LoCoMo ({error!r}); expected "
                    "sample_id, conversation with session_<n> and session_<n>_date_time, and qa"
                ) from error
            yield read


def known_file(path: Path) -> str | None:
    """Return which LoCoMo file this is, by its SHA-256; None if unknown: its figures may not be comparable."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return KNOWN_FILES.get(digest.hexdigest())


def evidence_ids(cited: Sequence[str], known: frozenset[str]) -> tuple[str, ...]:
    """Return the ids that an annotator cited, in any of the file's spellings: each once, and only existing ones.

    >>> evidence_ids(["D8:6; D9:17", "D:11:26", "D30:05", "D"], frozenset({"D8:6", "D9:17", "D11:26", "D30:5"}))
    ('D8:6', 'D9:17', 'D11:26', 'D30:5')
    """
    found = (f"D{session}:{turn}" for text in cited for session, turn in _EVIDENCE.findall(text))
    return tuple(dict.fromkeys(turn_id for turn_id in found if turn_id in known))


def _sample(sample: Mapping[str, Any]) -> LocomoSample:
    turns = tuple(_turns(sample["conversation"]))
    ids = frozenset(turn.id for turn in turns)
    return LocomoSample(sample["sample_id"], turns, tuple(_question(row, ids) for row in sample["qa"]))


def _turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    # The keys of sessions are read, not those of dates: one conversation has sixteen dates without a session.
    numbers = sorted(int(found[1]) for name in conversation if (found := _SESSION.fullmatch(name)))
    for number in numbers:
        time = _time(conversation[f"session_{number}_date_time"])
        for row in conversation[f"session_{number}"]:
            yield Turn(row["dia_id"], f"session_{number}", row["speaker"], row["text"], time, row.get("blip_caption"))


def _question(row: Mapping[str, Any], ids: frozenset[str]) -> LocomoQuestion:
    adversarial = row["category"] == 5
    return LocomoQuestion(
        text=row["question"],
        answer=None if adversarial else str(row["answer"]),
        trap=str(row["adversarial_answer"]) if adversarial else None,
        evidence=evidence_ids(row["evidence"], ids),
        category=row["category"],
    )


def _time(text: str) -> datetime:
    try:
        return datetime.strptime(text.upper(), _DATE)
    except ValueError as error:
        raise mismatch_error("a session's date", text, "one like '1:56 pm on 8 May, 2023'") from error
