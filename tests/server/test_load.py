"""Two workers ended under load, by SIGTERM or by kill -9: what was acknowledged is there, for its user alone."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import pytest

import evimem
from tests.server.served import Served, start
from tests.sizes import SEED, sizes

USERS = [f"user-{number}" for number in range(24)]  # three times as many as a worker has open
CLIENTS = 6


@dataclass
class Load:
    """Clients that add, search and list for random users, until `requests` are answered or the server is gone."""

    requests: int
    answered: int = 0
    acknowledged: dict[str, str] = field(default_factory=dict)  # the user of each turn by its text
    wrong: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, served: Served, signals: int, seed: int) -> None:
        """Send requests; after a share of them, end the server by a signal to its whole group."""
        random = Random(seed)
        until = self.answered + random.randint(60, 240)
        clients = [threading.Thread(target=self._send, args=(served, seed + one)) for one in range(CLIENTS)]
        for client in clients:
            client.start()
        while self.answered < min(until, self.requests) and any(client.is_alive() for client in clients):
            time.sleep(0.01)
        if signals == signal.SIGTERM:
            assert served.end() == 0
        else:
            os.killpg(served.process.pid, signals)
        for client in clients:
            client.join(60)
        served.process.communicate()

    def _send(self, served: Served, seed: int) -> None:
        random = Random(seed)
        with served.client() as client, suppress(httpx2.HTTPError):
            while self.answered < self.requests:
                user, base = (name := random.choice(USERS)), f"/v1/users/{name}"
                kind = random.choice(("add", "add", "search", "list"))
                if kind == "add":
                    text = f"{user} repaired boat number {next(self.numbers)}."
                    turn = {"speaker": user, "text": text, "time": "2024-03-12T18:20:00Z"}
                    self._note(user, client.post(f"{base}/turns", json={"turns": [turn]}), text)
                elif kind == "search":
                    self._note(user, client.post(f"{base}/search", json={"query": "boat", "k": 5}))
                else:
                    self._note(user, client.get(f"{base}/turns", params={"limit": 5, "newest": "true"}))

    def _note(self, user: str, answer: httpx2.Response, text: str | None = None) -> None:
        value: dict[str, Any] = answer.json()
        with self.lock:
            self.answered += 1
            if answer.status_code == 503:  # every memory of the worker is in use: nothing was acknowledged
                return
            assert answer.status_code == 200, answer.text
            if text is not None and value["added"]:
                self.acknowledged[text] = user
            turns = [hit["turn"] for hit in value.get("hits", ())] + value.get("turns", [])
            self.wrong += [turn["text"] for turn in turns if not turn["text"].startswith(f"{user} ")]


def test_workers_end_with_the_process_that_watches_them(tmp_path: Path) -> None:
    served = start("--pool", tmp_path / "users", "--workers", 2)
    served.process.kill()
    served.process.communicate(timeout=30)  # until none of them holds the pipe any more
    with served.client() as client, pytest.raises(httpx2.ConnectError):
        client.get("/healthz")


@pytest.mark.parametrize("signals", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("requests", sizes(2_000, nightly=50_000, reduced=150))
def test_two_workers_that_are_ended_under_load_lose_nothing_and_mix_no_users(
    tmp_path: Path, signals: int, requests: int
) -> None:
    load, seed = Load(requests), SEED
    while load.answered < requests:
        seed += CLIENTS
        served = start("--pool", tmp_path / "users", "--workers", 2, "--capacity", 8)
        load.run(served, signals, seed)
    assert load.wrong == []
    assert len(load.acknowledged) > requests // 4
    with evimem.MemoryPool(tmp_path / "users") as pool:
        for user in USERS:
            with pool.open(user) as memory:
                stored = {turn.text for turn in memory.turns()}
                assert {text for text, whose in load.acknowledged.items() if whose == user} <= stored
                assert all(text.startswith(f"{user} ") for text in stored)
                assert memory.health().problems == ()
