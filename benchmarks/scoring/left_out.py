"""Leave questions out of a run: gold that an audit found wrong, or one of two that are the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.data_sets import LocomoQuestion, LocomoSample
from evimem.errors import ImportFailed

REPEATED = "repeated"  # in place of a file


def left_out(samples: Iterable[LocomoSample], which: str | None) -> Iterator[LocomoSample]:
    """Yield samples without some questions: those of a file, or those that repeat another one."""
    if which is None:
        return iter(samples)
    return without_repeated(samples) if which == REPEATED else without_listed(samples, Path(which))


def without_repeated(samples: Iterable[LocomoSample]) -> Iterator[LocomoSample]:
    """Yield samples without questions whose words stood in the same conversation before, as MemR3 scores them."""
    for sample in samples:
        first = {one.text.casefold().strip(): one for one in reversed(sample.questions)}
        yield _kept(sample, [one for one in sample.questions if first[one.text.casefold().strip()] is one])


def without_listed(samples: Iterable[LocomoSample], path: Path) -> Iterator[LocomoSample]:
    """Yield samples without the questions of a file: a line for each, the conversation's id and the number from 0.

    Raise ImportFailed for a line of another form, and for one that names no question.
    """
    listed = _listed(path)
    for sample in samples:
        wrong = {number for name, number in listed if name == sample.id}
        if beyond := [number for number in wrong if number >= len(sample.questions)]:
            raise ImportFailed(
                f"{path.name} names question {beyond[0]} of {sample.id}, which has {len(sample.questions)}, from 0 on"
            )
        yield _kept(sample, [one for number, one in enumerate(sample.questions) if number not in wrong])


def _kept(sample: LocomoSample, questions: Sequence[LocomoQuestion]) -> LocomoSample:
    return replace(sample, questions=tuple(questions))


def _listed(path: Path) -> set[tuple[str, int]]:
    found = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        name, _, place = line.strip().rpartition(" ")
        if line.strip() and not (name and place.isdecimal()):
            raise ImportFailed(f"{path.name} line {number} is {line!r:.100}; expected one like 'conv-26 12'")
        if line.strip():
            found.add((name.strip(), int(place)))
    return found
