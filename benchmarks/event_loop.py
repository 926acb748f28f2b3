"""Users on one event loop: `python -m benchmarks.event_loop --users 50 --seconds 20`.

Each user stores a pair of messages with `remember`, then asks for a `block`, over and over. Printed are the exchanges
a second, and how late a heartbeat of 10 ms runs on the same loop meanwhile: what every other handler of a server feels.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import evimem
from evimem.loaders.examples import load_example

BEAT = 0.01  # seconds


async def beat(late: list[float], ended: asyncio.Event) -> None:
    while not ended.is_set():
        due = time.perf_counter() + BEAT
        await asyncio.sleep(BEAT)
        late.append(time.perf_counter() - due)


async def converse(pool: evimem.MemoryPool, user: int, until: float) -> int:
    said = [turn.text for turn in load_example("assistant")]
    exchanges = 0
    while time.perf_counter() < until:
        async with pool.open_async(f"user-{user}") as memory:
            asked = {"role": "user", "content": f"{said[exchanges % len(said)]} ({exchanges})"}
            await memory.remember(
                [asked, {"role": "assistant", "content": "Noted."}], session="s", time=await memory.now()
            )
            await memory.block([asked], tokens=800)
        exchanges += 1
    return exchanges


async def run(users: int, seconds: float, folder: Path) -> None:
    late: list[float] = []
    ended = asyncio.Event()
    with evimem.MemoryPool(folder, capacity=users) as pool:
        for user in range(users):  # as a server that has run for a while
            async with pool.open_async(f"user-{user}") as memory:
                await memory.extend(load_example("assistant"))
        heart = asyncio.ensure_future(beat(late, ended))
        began = time.perf_counter()
        many = await asyncio.gather(*(converse(pool, user, began + seconds) for user in range(users)))
        took = time.perf_counter() - began
        ended.set()
        await heart
    late.sort()
    p50, p99 = (1000 * late[int(len(late) * share)] for share in (0.5, 0.99))
    print(f"{users} users: {sum(many) / took:.1f} exchanges/s; heartbeat late p50 {p50:.0f} ms, p99 {p99:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(options.users, options.seconds, Path(folder)))


if __name__ == "__main__":
    main()
