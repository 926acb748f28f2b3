"""An explorer of the example "friends", asked over HTTP without a socket, and in a browser."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

import evimem
from evimem.pages.explorer import build_explorer
from evimem.pages.serve_explorer import LocalExplorer
from evimem.pages.sources import OneMemory
from evimem.pages.visitors import admit_holder_of

TOKEN = "a-token-of-the-tests"
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


class Elements(HTMLParser):
    """The elements of a page, the texts of its marks, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.marks: list[str] = []
        self.text = ""
        self._marking = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "mark":
            self._marking = True
            self.marks.append("")

    def handle_endtag(self, tag: str) -> None:
        self._marking = self._marking and tag != "mark"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._marking:
            self.marks[-1] += data


class Asking:
    """Asks an explorer for pages as a browser that holds the token."""

    def __init__(self, source: Any, labels: Path | None = None) -> None:
        app = build_explorer(source, admit_holder_of(TOKEN), cookie="c", labels=labels)
        self.client = TestClient(app, base_url="http://127.0.0.1", cookies={"c": TOKEN})

    def page(self, address: str, status: int = 200) -> str:
        answer = self.client.get(address)
        assert answer.status_code == status, (address, answer.status_code, answer.text[:300])
        return answer.text

    def data(self, address: str, status: int = 200) -> Any:
        name, _, query = address.partition("?")
        answer = self.client.get(f"{name}.json?{query}")
        assert answer.status_code == status, (address, answer.text[:300])
        return answer.json()

    def send(self, page: str, **fields: str) -> Any:
        """Send a form with the token that the page holds."""
        held = re.findall(r'name="form_token" value="(\w+)"', self.page(f"/{page}"))
        return self.client.post(f"/{page.partition('?')[0]}", data={**fields, "form_token": held[0]})


@pytest.fixture
def exploring(friends: evimem.Memory, friends_path: Path, tmp_path: Path) -> Asking:
    return Asking(OneMemory(friends, "friends.evimem"), tmp_path / "labels.jsonl")


@pytest.fixture
def served(friends: evimem.Memory, friends_path: Path, tmp_path: Path) -> Iterator[str]:
    """The address of an explorer that serves a socket of this machine."""
    explorer = LocalExplorer(OneMemory(friends, "friends.evimem"), labels=tmp_path / "labels.jsonl")
    server = uvicorn.Server(uvicorn.Config(explorer.app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [explorer.socket]})
    thread.start()
    yield explorer.url
    server.should_exit = True
    thread.join()
