"""LoCoMo and LongMemEval, from files of your own: evimem ships none of other people's.

LoCoMo (Maharana et al. 2024): a turn is its text and, where it shares a picture, the picture's caption. The annotators'
search string (`query`) was never said, and observations and summaries were written later, so none of them is read.

LongMemEval (Wu et al. 2025): one haystack of user-assistant sessions per question. Labels never enter a memory (L1):
sessions are renamed by their order in time, because their names in the file reveal which hold the answer, and
`has_answer` only fills `LongMemEvalCase.evidence`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from evimem.errors import ImportFailed
from evimem.loaders.json_stream import read_list_elements
from evimem.loaders.json_values import make_mismatch_error
from evimem.types.public_value import AnyPath
from evimem.types.values import Turn

SOURCES = {
    "locomo": "LoCoMo (CC BY-NC 4.0, not shipped): take data/locomo10.json of https://github.com/snap-research/LoCoMo, "
    "SHA-256 79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
    "longmemeval": "LongMemEval (not shipped): take longmemeval_s_cleaned.json, longmemeval_m_cleaned.json or "
    "longmemeval_oracle.json of the data set that https://github.com/xiaowu0162/LongMemEval names; no SHA-256 of them "
    "is known here, so pin your own with --sha256",
    "chats": "our conversations stand in benchmarks/chats of the source code of evimem, and in no wheel",
    "requests": "our requests stand in benchmarks/requests_chats of the source code of evimem, and in no wheel",
    "report": "a report is a Markdown file, such as benchmarks/README.md of the source code of evimem",
}
KNOWN_FILES = {
    "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4": "the published file, ten conversations",
    "2ba19efc8b4340f6e33750bea626723e1571674965226e6f65e91d6a08a3aecb": "the development file, five conversations",
}
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"  # "1:56 pm on 8 May, 2023", by the speakers' own clocks

_SESSION_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2}) \(\w+\) (\d{2}):(\d{2})")


def check_present(name: str, path: Path) -> None:
    """Raise ImportFailed, with where to get it, if there is no data set of this name at a path."""
    if not path.exists():
        raise ImportFailed(f"there is nothing at {str(path)!r}; {SOURCES[name]}")


Row = TypeVar("Row")
_FORMS = {
    "locomo": "conversation {} is not in the form of LoCoMo ({!r}); expected sample_id, conversation with session_<n> "
    "and session_<n>_date_time, and qa",
    "longmemeval": "question {} is not in the form of LongMemEval ({!r}); expected question_id, question_date, "
    "haystack_dates and haystack_sessions",
}


def _rows(path: Path, name: str, read: Callable[[Any], Row]) -> Iterator[Row]:
    """Yield what `read` makes of each element of a data set's list."""
    check_present(name, path)
    with path.open("rb") as file:
        for number, row in enumerate(read_list_elements(file, path.name), start=1):
            try:
                made = read(row)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise ImportFailed(f"{str(path)!r} {_FORMS[name].format(number, error)}") from error
            yield made


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
    yield from _rows(Path(path), "locomo", _sample)


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
        raise make_mismatch_error("a session's date", text, "one like '1:56 pm on 8 May, 2023'") from error


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
    yield from _rows(Path(path), "longmemeval", _case)


def _case(row: Mapping[str, Any]) -> LongMemEvalCase:
    dated = zip(map(_session_time, row["haystack_dates"]), row["haystack_sessions"], strict=True)
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
        asked_at=_session_time(row["question_date"]),
        kind=row["question_type"],
        answerable="_abs" not in row["question_id"],
        turns=tuple(turn for turn, _ in spoken),
        evidence=tuple(turn.id for turn, marked in spoken if marked),
    )


def _turn(session: str, place: int, time: datetime, message: Mapping[str, Any]) -> Turn:
    return Turn(f"{session}:{place}", session, message["role"], message["content"], time, role=message["role"])


def _session_time(text: str) -> datetime:
    found = _SESSION_DATE.fullmatch(text.strip())
    if not found:
        raise make_mismatch_error("a date", text, "one like '2023/05/20 (Sat) 02:21'")
    return datetime(*map(int, found.groups()))  # type: ignore[arg-type]
