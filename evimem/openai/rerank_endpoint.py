"""`EndpointReranker`: a reranker behind any `/rerank` endpoint of Cohere's form, or of text-embeddings-inference's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from ..errors import InvalidQuery, ModelError, ModelUnavailable, shown
from .clients import _Async, _Client, _result
from .endpoint import Connection, Server, body_of
from .wire_format import host, parse_json


@dataclass(frozen=True, repr=False, eq=False)
class EndpointReranker(_Client):
    """A reranker behind a `/rerank` endpoint, for `evimem.open(reranker=...)`; `as_async()` is for event loops.

    Cohere ("https://api.cohere.com/v2"), Jina ("https://api.jina.ai/v1"), vLLM, Infinity and text-embeddings-inference
    speak it. The query and the texts of the hits are sent there, and nothing else. A server that refuses `documents` is
    asked with `texts`, as text-embeddings-inference calls them, then and from then on.

    Args:
        model: The model's name, sent with each request.
        base_url: The API's root; "/rerank" is appended.
        api_key: The key, sent as a bearer token; None sends none of any environment variable.
        deadline: Seconds, above 0, that a call may take with its retries, its waits and its waiting for one of
            `concurrency` places. The bound of `evimem.Reranking` holds besides.
        max_retries: Further attempts, 0 or more, after a failure that may pass; see `evimem.OpenAI`.
        concurrency: Requests in flight at one time, at least 1.
        remote: Always true, no argument: a pool lends the place of a memory while its search waits.

    Raises:
        InvalidQuery: An argument is of another type or out of range.
        MissingExtra: The `openai` package, whose client is used, is not installed (`pip install 'evimem[openai]'`).
    """

    model: str
    base_url: str
    api_key: str | None = None
    deadline: float = 5.0
    max_retries: int = 1
    concurrency: int = 8
    _takes_texts: list[bool] = field(init=False, default_factory=list)
    remote: ClassVar[bool] = True
    _feature: ClassVar[str] = "evimem.EndpointReranker"

    def __post_init__(self) -> None:
        if self.base_url is None:
            raise InvalidQuery(f"base_url is {shown(self.base_url)}; expected a URL such as 'http://localhost:8080'")
        _Client.__post_init__(self)

    def _server_of(self) -> Server:
        limits = (self.deadline, self.max_retries, self.concurrency)
        # Send "none" without a key: that of another provider in the environment is not for this server.
        return Server(self._feature, self.base_url, self.api_key or "none", *limits)

    def rerank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the server's score of each of the `texts` for a `query`, in their order, larger is better.

        Raise ModelTimeout at the deadline, ModelUnavailable (with `status` and `retryable`) when the server refuses the
        request, cannot be reached, or does not return one finite score a text.
        """
        return _result(self._submit(query, texts))

    def as_async(self) -> AsyncEndpointReranker:
        """Return the same reranker for event loops; it shares this one's connections and limits."""
        return AsyncEndpointReranker(self)

    def _submit(self, query: str, texts: Sequence[str]) -> Future[tuple[float, ...]]:
        async def request_scores(connection: Connection) -> tuple[float, ...]:
            if not texts:
                return ()
            return (await self._server.call(connection, partial(self._request, query=query, texts=texts)))[0]

        return self._server.submit(request_scores)

    async def _request(self, client: Any, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the scores of texts; where the server refuses Cohere's form, ask in the other."""
        if self._takes_texts:
            return await self._ask(client, "texts", query, texts)
        try:
            return await self._server.with_typed_errors(self._ask(client, "documents", query, texts))
        except ModelError as error:
            # Statuses of a server that does not know the form of a request.
            if getattr(error, "status", None) not in {400, 422}:
                raise
            refused = error
        try:
            scores = await self._server.with_typed_errors(self._ask(client, "texts", query, texts))
        except ModelError:
            raise refused from None
        self._takes_texts.append(True)
        return scores

    async def _ask(self, client: Any, name: str, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        # Lone surrogates have no UTF-8 form.
        clean, *sent = (text.encode("utf-8", "replace").decode() for text in (query, *texts))
        body = {"model": self.model, "query": clean, name: sent}
        # The header has the client leave the body to `body_of`, which bounds it.
        response = await client.post(
            "/rerank", cast_to=object, body=body, options={"headers": {"X-Stainless-Raw-Response": "stream"}}
        )
        try:
            return _scores(await body_of(response), len(texts), host(self.base_url))
        finally:
            await response.close()


class AsyncEndpointReranker(_Async[EndpointReranker]):
    """`EndpointReranker` for event loops, any number of them: cancelling a call cancels its request."""

    remote: ClassVar[bool] = True

    async def rerank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the server's score of each text; raises as `EndpointReranker.rerank` does."""
        return await asyncio.wrap_future(self.model._submit(query, texts))


def _scores(body: bytes, count: int, server: str) -> tuple[float, ...]:
    """Return the scores in a response body, in the order of the texts: the API names the place of each, in any order.

    They stand in a list, or under "results" or "data", each with its `index` and its `relevance_score` or `score`.
    """
    payload = parse_json(body)
    items = payload.get("results", payload.get("data")) if isinstance(payload, dict) else payload
    found: dict[int, float] = {}
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            place, score = item.get("index"), item.get("relevance_score", item.get("score"))
            if type(place) is int and isinstance(score, (int, float)) and abs(score) < float("inf"):
                found[place] = float(score)
    if found.keys() != set(range(count)):
        raise ModelUnavailable(f"{server} did not return one finite score for each of {count} texts", retryable=True)
    return tuple(found[place] for place in range(count))
