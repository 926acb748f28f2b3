"""What was acknowledged survives the process being killed at any moment, and can be sent again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from time import process_time

import pytest

from evimem import Memory, TurnConflict

from .support.children import Send, killed_after
from .support.scale import bound, sizes
from .support.work import Ghost, Model, Work, mismatch
from .support.world import open_memory, small_thresholds

ROUNDS = 40  # kills that one file has to live through
SLOWEST_OPEN = 1.0  # seconds


def check_sending_again(memory: Memory, model: Model) -> None:
    """What a client that never got its answer does: the same ids again, whose content must then be the same."""
    last = list(model.values())[-5:]
    report = memory.extend([*last, *last])
    assert report.existing == 2 * len(last), f"sent again and not recognized: {report.statuses}"
    for turn in last[:1]:
        with pytest.raises(TurnConflict):
            memory.add(turn.speaker, "something else", time=turn.time, session=turn.session, id=turn.id)


def one_life(path: Path, allowed: list[Model], seed: int, first: int) -> Callable[[Send], None]:
    """Open what the last crash left, say which model holds, and work until killed."""

    def live(send: Send) -> None:
        started = process_time()  # and not by the clock on the wall: other work must not turn this red
        memory = open_memory(path)
        opened = process_time() - started
        assert opened < SLOWEST_OPEN, f"opening after a crash took {opened:.2f} s"
        stored = list(memory.turns())
        complaint = mismatch(memory, allowed)
        assert complaint is None, complaint
        which = next(index for index, model in enumerate(allowed) if list(model.values()) == stored)
        check_sending_again(memory, allowed[which])
        send(which)
        work = Work(memory, Random(seed), allowed[which], first)
        while True:
            work.step()
            send("done")

    return live


@pytest.mark.parametrize("count", sizes(1_000, nightly=10_000, reduced=120))
def test_no_acknowledged_turn_is_lost_to_a_kill(disk: Path, seed: int, count: int, tell: Callable[[str], None]) -> None:
    delays = Random(seed)
    under_way = 0
    with small_thresholds():
        for round_ in range(count):
            if round_ % ROUNDS == 0:
                path, allowed, first = disk / f"{round_}.evimem", [Model()], 0
            life = one_life(path, allowed, seed + round_, first)
            opening, *done = killed_after(delays.uniform(0.0, 0.02), life)
            ghost = Work(Ghost(), Random(seed + round_), allowed[opening], first)
            under_way += opening
            for _ in done:
                ghost.step()
            promised = ghost.model
            ghost.model = dict(promised)
            ghost.step()
            allowed, first = [promised, ghost.model], ghost.next
    tell(f"{count} kills, {under_way} right after an unheard commit: 0 acknowledged turns lost, {bound(count)}")
