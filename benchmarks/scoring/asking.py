"""Put many questions: some at a time, kept as they are answered, and none of them ends a run."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeVar

import orjson

from evimem.errors import ImportFailed
from evimem.loops import Loop
from evimem.types.results import Budget

from .spending import Spending


@dataclass(frozen=True, slots=True)
class Approach:
    """How questions are asked: with which model, if any, by which loop and budget.

    With `enrich`, the model first extracts facts from every turn; with a `rubric`, `marker` marks the answers, or where
    there is none the same model, and with `grade` it grades them by G-Eval. With `spans`, what answers without a model
    reads the words with the best expected F1 (`benchmarks.span`). An `embedder` takes the place of the shipped one, and
    a `second` judge marks each answer too.
    """

    llm: Any = None
    loop: str | Loop = "iris"
    budget: Budget = Budget()
    enrich: bool = False
    rubric: str = ""
    marker: Any = None
    grade: bool = False
    spans: bool = False
    embedder: Any = None
    second: Any = None

    @property
    def marks(self) -> Any:
        """The model that marks answers."""
        return self.marker or self.llm


class Asked(Protocol):
    """The result of a question, and why there is no answer, if something failed."""

    @property
    def failed(self) -> str: ...


T = TypeVar("T")
R = TypeVar("R", bound=Asked)
Progress = Callable[[int], None]


_BEGINNING = b'{"settings":'  # of every line of a checkpoint


class Checkpoint:
    """A file that keeps each result as a line, by the key of its question, and by the settings of the run.

    Results of other settings are kept and not used, so that runs may share a file. What failed is not kept: the next
    run asks it again. A last line that was cut by a kill is left out. `spent` is what the runs of these settings have
    cost in dollars, failures included. `memories` is a folder beside the file, for memories that were paid for.
    """

    def __init__(self, path: Path, settings: Mapping[str, object]) -> None:
        """Read what the file holds, if it is there. Raise ImportFailed for a file of another form."""
        self._path = path
        digest = hashlib.sha256(orjson.dumps(settings, option=orjson.OPT_SORT_KEYS, default=str))
        self._settings = digest.hexdigest()[:16]
        self._kept: dict[str, Any] = {}
        self.spent = 0.0
        self.memories = path.with_name(f"{path.name}.memories") / self._settings
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        cut = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        if not (cut.startswith(_BEGINNING) or _BEGINNING.startswith(cut)):
            raise ImportFailed(f"{path.name} ends in no kept result; give --checkpoint another file")
        for number, line in enumerate(lines, start=1):
            self._read(line, f"{path.name} line {number}")
        if cut:
            os.truncate(path, sum(map(len, lines)))

    def get(self, key: str) -> Any:
        """Return the kept result of a question as a JSON value; None if there is none."""
        return self._kept.get(key)

    def keep(self, key: str, result: Any, spent: float) -> None:
        """Add what the runs have cost so far and, unless it failed, a result, a dataclass, to the file."""
        found = {} if result.failed else {"key": key, "result": asdict(result)}
        with self._path.open("ab") as file:
            file.write(orjson.dumps({"settings": self._settings, "spent": spent, **found}) + b"\n")

    def _read(self, line: bytes, where: str) -> None:
        try:
            row = orjson.loads(line)
            if row["settings"] == self._settings:
                self.spent = max(self.spent, row["spent"])
                if "key" in row:
                    self._kept[row["key"]] = row["result"]
        except (ValueError, KeyError, TypeError) as error:
            raise ImportFailed(f"{where} is no kept result ({error!r}); give --checkpoint another file") from error


class Asker:
    """Puts questions with `workers` threads; results come in the order of the questions.

    With a `checkpoint`, what it holds is not asked again, and what `spending` counted before is counted on. `progress`
    is called with 1 for each question.
    """

    def __init__(
        self,
        *,
        workers: int = 1,
        checkpoint: Checkpoint | None = None,
        spending: Spending | None = None,
        progress: Progress = lambda count: None,
    ) -> None:
        self.workers = workers
        self.checkpoint = checkpoint
        self._spending = spending or Spending()
        self._progress = progress
        self._lock = Lock()
        self._spending.add(checkpoint.spent if checkpoint else 0.0)

    @property
    def dollars(self) -> float | None:
        """What the requests have cost, earlier runs of the checkpoint included; None where no price is known."""
        return self._spending.dollars or None

    def each(
        self,
        questions: Iterable[tuple[str, T]],
        ask: Callable[[T], R],
        restore: Callable[[Any], R],
        give_up: Callable[[T, str], R],
    ) -> list[R]:
        """Return the result of each question by its key: kept and restored, asked, or given up where asking raised."""
        listed: Sequence[tuple[str, T]] = list(questions)

        def one(asked: tuple[str, T]) -> R:
            result = self._one(*asked, ask, restore, give_up)
            self.report(1)
            return result

        if self.workers == 1:
            return [one(asked) for asked in listed]
        with ThreadPoolExecutor(self.workers, thread_name_prefix="evimem-bench") as workers:
            return list(workers.map(one, listed))

    def report(self, count: int) -> None:
        """Say that so many questions have been asked."""
        with self._lock:
            self._progress(count)

    def _one(
        self,
        key: str,
        question: T,
        ask: Callable[[T], R],
        restore: Callable[[Any], R],
        give_up: Callable[[T, str], R],
    ) -> R:
        if self.checkpoint and (kept := self.checkpoint.get(key)) is not None:
            return restore(kept)
        try:
            result = ask(question)
        except Exception as error:  # noqa: BLE001 - of another's code too: the result says what it was, and the run goes on
            result = give_up(question, f"{type(error).__name__}: {error}")
        if self.checkpoint:
            with self._lock:
                self.checkpoint.keep(key, result, self._spending.dollars)
        return result
