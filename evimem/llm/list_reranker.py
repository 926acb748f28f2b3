"""`ModelReranker`: a chat model that orders the texts of a search by one list of their ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ..errors import InvalidQuery
from ..flow import Flow, run
from ..text.prompt_text import mark_lines
from .request import RERANK, Ledger, ask_model


class ModelReranker:
    """A chat model as a reranker, for `evimem.open(reranker=...)`: one request lists the texts that help, best first.

    A text that the model does not list comes after those that it lists, in its own order. A reply that cannot be read
    is asked for once more. The role of the request is "rerank", which `evimem.OpenAI` serves with `model`. Models take
    seconds: `evimem.Reranking(ModelReranker(model), texts=30, seconds=20)` gives it more of them than the default.

    Args:
        model: An `evimem.OpenAI`, or any object with `complete(request)`, which an event loop has run in a thread.
        remote: Always true, no argument: a pool lends the place of a memory while its search waits.

    Raises:
        InvalidQuery: The model has no `complete`.
    """

    remote: ClassVar[bool] = True

    def __init__(self, model: Any) -> None:
        if isinstance(model, type) or not callable(getattr(model, "complete", None)):
            raise InvalidQuery(
                f"model is a {type(model).__name__}; expected evimem.OpenAI(model=...), or an object with "
                "complete(request)"
            )
        self.model = model

    def rerank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return a score for each of the `texts`, larger is better for the `query`. Raise ModelError."""
        return run(score_by_list(query, texts), self.model.complete)


def score_by_list(query: str, texts: Sequence[str]) -> Flow[tuple[float, ...]]:
    """Ask a model for a list of the texts that help, and return a score a text: how many it comes before, less one."""
    ids = [f"m{number}" for number in range(1, len(texts) + 1)]
    ranking = RERANK.fields["ranking"]
    form = RERANK.having(ranking=replace(ranking, schema={**ranking.schema, "maxItems": max(1, len(ids))}))
    candidates = "\n".join(f"{name}:\n{mark_lines(text)}" for name, text in zip(ids, texts, strict=True))
    reply = yield from ask_model(form.request(question=mark_lines(query), candidates=candidates), form.read, Ledger(1))
    listed = [name for name in dict.fromkeys(map(str.casefold, reply["ranking"])) if name in ids]
    places = {name: place for place, name in enumerate((*listed, *(name for name in ids if name not in listed)))}
    return tuple(float(len(ids) - 1 - places[name]) for name in ids)
