"""A chat model whose requests and replies are files, so that a person or any program can be the model."""

from __future__ import annotations

import hashlib
from pathlib import Path

import orjson

from evimem.db.atomic_files import replace_with
from evimem.embedding.static_embedder import count_tokens
from evimem.errors import ModelUnavailable
from evimem.types.trace import Complete, Reply, without_tools

# As of a request that a server cannot process: a queue of turns then goes on to the next one, instead of waiting.
_WAITS = 422


class Mailbox:
    """A `ChatModel` over a folder: `requests/NAME.json` waits for `replies/NAME.txt`.

    NAME is the role and a digest of the request, so that a run that is started again finds the replies given so far.
    It never waits: a request without a reply is written, and raises ModelUnavailable. One that was answered is removed
    from `requests`, so that the folder holds what waits. Tokens are counted with the shipped vocabulary.
    """

    model = "mailbox"

    def __init__(self, folder: Path) -> None:
        self.requests: Path = folder / "requests"
        self.replies: Path = folder / "replies"
        for one in (self.requests, self.replies):
            one.mkdir(parents=True, exist_ok=True)

    def complete(self, request: Complete) -> Reply:
        """Return the reply to a request. Raise ModelUnavailable if it waits for one."""
        asked = {
            "role": request.role,
            "messages": [{"role": one.role, "text": one.text} for one in without_tools(request.messages)],
            "schema": request.schema,
        }
        digest = hashlib.sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).hexdigest()
        name = f"{request.role}-{digest[:20]}"
        place, reply = self.requests / f"{name}.json", self.replies / f"{name}.txt"
        if reply.exists():
            place.unlink(missing_ok=True)
            text = reply.read_text(encoding="utf-8")
            read = count_tokens(request.text)
            return Reply(text, self.model, read, count_tokens(text))
        with replace_with(place) as file:
            file.write(orjson.dumps({**asked, "most_tokens": request.most_tokens}, option=orjson.OPT_INDENT_2))
        why = f"the request {place.name} waits for its reply {reply.name}"
        raise ModelUnavailable(why, retryable=True, status=_WAITS)

    def waiting(self) -> int:
        """Return how many requests wait for a reply."""
        return sum(1 for _ in self.requests.glob("*.json"))
