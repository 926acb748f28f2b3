"""LongMemEval (Wu et al. 2025): one haystack of user-assistant sessions per question, from a file of your own.

Labels never enter a memory (L1): sessions are renamed by their order in time, because their names in the file reveal
which hold the answer, and `has_answer` only fills `LongMemEvalCase.evidence`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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

_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2}) \(\w+\) (\d{2}):(\d{2})")


@dataclass(frozen=True, slots=True)
class LongMemEvalCase:
    """A question about its own haystack of turns, asked at a date. `evidence` holds the ids of the labelled turns.

    `kind` is the file's question_type. `answer` describes the expected reply, also if `answerable` is False.
    """

    id: str
    question: str
    answer: str
    asked_at: datetime
    kind: str
    answerable: bool
    turns: tuple[Turn, ...]
    evidence: tuple[str, ...]


def read_longmemeval(path: AnyPath) -> Iterator[LongMemEvalCase]:
    """Yield the questions of a LongMemEval file with their haystacks, sessions in chronological order.

    Raise ImportFailed for a file of another form, and where there is none.
    """
    path = Path(path)
    check_present("longmemeval", path)
    with path.open("rb") as file:
        for number, row in enumerate(elements(file, path.name), start=1):
            try:
                case = _case(row)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise ImportFailed(
                    f"{str(path)!r} question {number} is not in the form of LongMemEval ({error!r}); expected "
                    "question_id, question_date, haystack_dates and haystack_sessions"
                ) from error
            yield case


def _case(row: Mapping[str, Any]) -> LongMemEvalCase:
    dated = zip(map(_time, row["haystack_dates"]), row["haystack_sessions"], strict=True)
    sessions = sorted(dated, key=lambda session: session[0])  # the oracle file is not in chronological order
    spoken = [
        (_turn(f"s{number}", place, time, message), bool(message.get("has_answer")))
        for number, (time, messages) in enumerate(sessions, start=1)
        for place, message in enumerate(messages, start=1)
        if message["content"].strip()
    ]
    return LongMemEvalCase(
        id=row["question_id"],
        question=row["question"],
        answer=str(row["answer"]),
        asked_at=_time(row["question_date"]),
        kind=row["question_type"],
        answerable="_abs" not in row["question_id"],
        turns=tuple(turn for turn, _ in spoken),
        evidence=tuple(turn.id for turn, marked in spoken if marked),
    )


def _turn(session: str, place: int, time: datetime, message: Mapping[str, Any]) -> Turn:
    return Turn(f"{session}:{place}", session, message["role"], message["content"], time, role=message["role"])


def _time(text: str) -> datetime:
    found = _DATE.fullmatch(text.strip())
    if not found:
        raise mismatch_error("a date", text, "one like '2023/05/20 (Sat) 02:21'")
    return datetime(*map(int, found.groups()))  # type: ignore[arg-type]
