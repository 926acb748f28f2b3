"""Have a model extract facts from every turn of a memory before its questions are asked, as `enrich` does."""

from __future__ import annotations

from dataclasses import dataclass

from evimem.api.memory import Memory
from evimem.errors import ModelError

from .mailbox import Mailbox

_ROUNDS = 2  # in which turns whose replies could not be read are tried again


@dataclass(frozen=True, slots=True)
class FactsRead:
    """How many turns the model gave no facts of, and why no question should be asked yet; "" where it may."""

    unread: int = 0
    barred: str = ""


def read_facts(memory: Memory, model: object) -> FactsRead:
    """Extract facts with the memory's model, which is `model`.

    Questions wait for a mailbox until all of its replies are there: they are asked of the same facts in every run.
    """
    try:
        report = memory.enrich()
        if isinstance(model, Mailbox):
            why = f"{report.put_off} turns wait for the replies that hold their facts" if report.put_off else ""
            return FactsRead(report.put_off, why)
        for _ in range(_ROUNDS):
            if not report.put_off:
                break
            report = memory.enrich(retry_now=True)
    except ModelError as error:
        return FactsRead(barred=f"facts could not be extracted: {error}")
    return FactsRead(report.put_off + report.failed.get("extract", 0))
