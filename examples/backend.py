"""A web backend with a memory for each user: `uvicorn --app-dir examples backend:app`.

    POST /users/mira/messages   {"session": "s1", "messages": [{"role": "user", "content": "I moved to Porto."}]}
    GET  /users/mira/block?question=Where+does+Mira+live%3F

Your own login decides who {user} is. With FastAPI the handlers are the same; USERS names the folder of the memories.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

import evimem


async def remember(request: Request) -> JSONResponse:
    """Store what was said, durably. Messages with a time of their own (`created_at`) may be sent again."""
    body, user = await request.json(), request.path_params["user"]
    async with request.app.state.pool.open_async(user) as memory:
        report = await memory.remember(body["messages"], session=body["session"], time=await memory.now())
    request.app.state.changed.put_nowait(user)
    return JSONResponse({"added": report.added})


async def block(request: Request) -> JSONResponse:
    """Return what a prompt needs for a question."""
    async with request.app.state.pool.open_async(request.path_params["user"]) as memory:
        found = await memory.block(request.query_params["question"])
    return JSONResponse({"text": found.text, "turns": [turn.id for turn in found.turns]})


async def work(pool: evimem.MemoryPool, changed: asyncio.Queue[str]) -> None:
    """Work off what was queued for users: vectors, edges, and with a model its facts."""
    while True:
        async with pool.open_async(await changed.get()) as memory:
            await memory.enrich()


@asynccontextmanager
async def life(app: Starlette) -> AsyncIterator[None]:
    """Open the pool with the program, and close it at its end."""
    app.state.changed = asyncio.Queue()
    with evimem.MemoryPool(os.environ.get("USERS", "users"), capacity=256) as app.state.pool:
        worker = asyncio.create_task(work(app.state.pool, app.state.changed))
        yield
        worker.cancel()
        await asyncio.wait([worker])


paths = [Route("/users/{user}/messages", remember, methods=["POST"]), Route("/users/{user}/block", block)]
app = Starlette(routes=paths, lifespan=life)
