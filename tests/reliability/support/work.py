"""Random operations on a memory, step by step, and a model of what must be stored after each step."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace

from evimem import EvimemError, Memory, Turn
from evimem.types.trace import Found, Trace

from .world import EMBEDDER, Unreachable, open_memory, said

Model = dict[str, Turn]  # what is stored, by id, in order of arrival


class Ghost:
    """A memory that does nothing, to compute the model alone."""

    def __init__(self) -> None:
        self._core = SimpleNamespace(embedder=None)

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args, **kwargs: None


class Work:
    """Does one random operation at a time and updates the model; each changes turns in one transaction."""

    def __init__(self, memory: Memory | Ghost, random: Random, model: Model | None = None, first: int = 0) -> None:
        self.memory = memory
        self.model: Model = dict(model or {})
        self._random = random
        self.next = first
        self._gone: list[Turn] = []
        self._steps: list[Callable[[], None]] = random.choices(
            [
                self._add, self._extend, self._add_without_vector, self._enrich, self._forget, self._forget_session,
                self._add_again, self._rebuild, self._keep_trace, self._forget_everything, self._replace,
            ],
            weights=[40, 15, 10, 10, 8, 3, 5, 4, 4, 1, 8],
            k=10_000,
        )  # fmt: skip

    @property
    def coming(self) -> str:
        """The operation of the next step."""
        return self._steps[-1].__name__.lstrip("_")

    def step(self) -> None:
        """Do the next operation."""
        self._steps.pop()()

    def _fresh(self, count: int) -> list[Turn]:
        self.next += count
        return [said(number) for number in range(self.next - count, self.next)]

    def _keep(self, turns: Sequence[Turn]) -> None:
        self.model |= {turn.id: replace(turn, role="user") for turn in turns}
        self.memory.extend(turns, strict=True)

    def _add(self) -> None:
        self._keep(self._fresh(1))

    def _extend(self) -> None:
        self._keep(self._fresh(self._random.randint(3, 6)))

    def _add_without_vector(self) -> None:
        core = self.memory._core
        core.embedder = Unreachable(EMBEDDER.dimension)
        try:
            self._add()
        finally:
            core.embedder = EMBEDDER

    def _add_again(self) -> None:
        self._keep([self._gone.pop()] if self._gone else self._fresh(1))

    def _enrich(self) -> None:
        self.memory.enrich()

    def _rebuild(self) -> None:
        self.memory.rebuild()

    def _keep_trace(self) -> None:
        self.memory.keep_trace(Trace("what?", "iris", (Found(1, "anchor", tuple(self.model)[:2]),)))

    def _forget(self) -> None:
        if self.model:
            self._drop(self._random.sample(sorted(self.model), min(2, len(self.model))))

    def _drop(self, ids: Sequence[str]) -> None:
        self._gone += [self.model.pop(turn_id) for turn_id in ids]
        self.memory.forget(turns=ids)

    def _replace(self) -> None:
        """Send some turns with another text, among a new one: the old and the new text never both, never neither."""
        new = self._fresh(1)
        for turn_id in self._random.sample(sorted(self.model), min(2, len(self.model))):
            old = self.model.pop(turn_id)
            other = said(self._random.randint(0, 500)).text
            new.append(replace(old, text=f"{other} {old.text}"[:400]))
        self.model |= {turn.id: replace(turn, role="user") for turn in new}
        self.memory.extend(new, strict=True, replace=True)

    def _forget_session(self) -> None:
        if self.model:
            session = self.model[self._random.choice(sorted(self.model))].session
            self.model = {name: turn for name, turn in self.model.items() if turn.session != session}
            self.memory.forget(session=session)

    def _forget_everything(self) -> None:
        self.model = {}
        self.memory.forget(everything=True)


def work_log(memory: Memory, seed: int, steps: int) -> Iterator[Model]:
    """Yield the model after each step, once the memory has acknowledged it."""
    work = Work(memory, Random(seed))
    for _ in range(steps):
        work.step()
        yield dict(work.model)


def complaint(path: Path, allowed: Sequence[Model]) -> str | None:
    """Return how a file differs from every one of these models, or None."""
    try:
        with open_memory(path) as memory:
            found = mismatch(memory, allowed)
            memory.extend([said(10**6)], strict=True)
    except EvimemError as error:
        return f"{type(error).__name__}: {error}"
    return found


def mismatch(memory: Memory, allowed: Sequence[Model]) -> str | None:
    """Return how an open memory differs from every one of these models, or from its own turns, or None."""
    stored = list(memory.turns())
    if not any(stored == list(model.values()) for model in allowed):
        wanted = " or ".join(str(list(model)) for model in allowed)
        return f"acknowledged turns differ: {[turn.id for turn in stored]}, expected {wanted}"
    problems = memory.check().problems
    return f"derived rows differ: {problems}" if problems else None
