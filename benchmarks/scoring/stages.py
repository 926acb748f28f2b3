"""How long searching, judging and answering took, told apart by the events of a trace as they come."""

from __future__ import annotations

import time

from evimem.types.trace import Acted, Called, Event, Found, Queried, Stopped

STAGES = ("searching", "judging", "answering")
_ACTIONS = {  # of a loop, by what came before them; others are of judging
    **dict.fromkeys(("analyse", "show", "look up"), "searching"),
    **dict.fromkeys(("answer", "abstain", "go on"), "answering"),
}


class Stages:
    """Adds up processor time of the thread that made it, and the wait for the model, by the event that ended it."""

    def __init__(self) -> None:
        self._seconds = dict.fromkeys(STAGES, 0.0)
        self._at = time.thread_time()

    def hear(self, event: Event) -> None:
        """Count the time since the event before."""
        self._count(_stage(event), event.seconds if isinstance(event, Called) else 0.0)

    def ended(self) -> tuple[float, ...]:
        """Return the seconds of each stage; those since the last event are of the answer."""
        self._count("answering", 0.0)
        return tuple(self._seconds.values())

    def _count(self, stage: str, waited: float) -> None:
        now = time.thread_time()
        self._seconds[stage] += now - self._at + waited
        self._at = now


def _stage(event: Event) -> str:
    if isinstance(event, Acted):
        return _ACTIONS.get(event.action, "judging")
    if isinstance(event, (Queried, Found)):
        return "searching"
    answered = isinstance(event, Stopped) or (isinstance(event, Called) and event.role == "answer")
    return "answering" if answered else "judging"
