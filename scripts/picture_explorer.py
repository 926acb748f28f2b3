"""Take the pictures of docs/pictures from the explorer of the example "friends", in Debian's Chromium.

`python scripts/picture_explorer.py` writes those of the documents; with a folder it writes every page there, light and
dark, to be looked at. Needs the extra [server], selenium, chromium and chromium-driver.
"""

from __future__ import annotations

import base64
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import uvicorn
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import evimem
from evimem.loaders.examples import load_example
from evimem.pages.serve_explorer import LocalExplorer
from evimem.pages.sources import OneMemory

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
MAX_BYTES = 150_000
WIDE, HIGH = 1080, 800  # pixels of a picture of the documents
WHEN, DINNER = quote("When did Mira adopt her puppy?"), quote("Suggest a dinner for Tomas and Mira")
OF_DOCUMENTS = {
    "answer": (f"ask?q={WHEN}", "light"),
    "block": (f"block?q={DINNER}&tokens=300&why=s12:9", "dark"),
    "trace": (f"why?q={WHEN}", "light"),
}
EVERY_PAGE = {
    "answer": f"ask?q={WHEN}",
    "quotation": f"ask?q={quote('How many pieces did Tomas sell at the craft fair?')}",
    "abstention": f"ask?q={quote('How old is Bob?')}",
    "block": f"block?q={DINNER}&tokens=800",
    "why-not": f"block?q={DINNER}&tokens=300&why=s12:9",
    "empty-block": "block?q=thanks!&why=s1:4",
    "find": "find?q=puppy&why=s11:6",
    "turn": "turn?id=s1:4",
    "people": "people?name=Tomas",
    "timeline": "timeline",
    "trace": f"why?q={WHEN}",
    "compare": f"compare?q={quote('Who has a boat?')}",
    "forget": "forget?kind=turn&value=s1:4",
    "health": "health",
    "import": "import",
    "corrections": "corrections",
}


def main() -> int:
    """Write the pictures; return 1 where one of the documents is too large."""
    with TemporaryDirectory() as folder, evimem.open(Path(folder) / "friends.evimem") as memory:
        memory.extend(load_example("friends"))
        memory.enrich()
        explorer = LocalExplorer(OneMemory(memory, "friends.evimem"), labels=Path(folder) / "labels.jsonl")
        server = uvicorn.Server(uvicorn.Config(explorer.app, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [explorer.socket]})
        thread.start()
        try:
            large = picture_all(explorer.url, Path(sys.argv[1])) if sys.argv[1:] else picture_documents(explorer.url)
        finally:
            server.should_exit = True
            thread.join()
    for name, size in large.items():
        sys.stderr.write(f"{name} has {size:,} bytes; expected at most {MAX_BYTES:,}\n")
    return 1 if large else 0


def picture_documents(url: str) -> dict[str, int]:
    """Write the pictures of the documents; return the sizes of those that are too large."""
    PICTURES.mkdir(exist_ok=True)
    browser = opened(url)
    sizes = {}
    for name, (page, scheme) in OF_DOCUMENTS.items():
        picture(browser, url, page, scheme, PICTURES / f"{name}.png", HIGH)
        sizes[name] = (PICTURES / f"{name}.png").stat().st_size
    browser.quit()
    return {name: size for name, size in sizes.items() if size > MAX_BYTES}


def picture_all(url: str, folder: Path) -> dict[str, int]:
    """Write every page as a whole, light and dark."""
    folder.mkdir(parents=True, exist_ok=True)
    browser = opened(url)
    for name, page in EVERY_PAGE.items():
        for scheme in ("light", "dark"):
            picture(browser, url, page, scheme, folder / f"{name}-{scheme}.png", None)
    browser.quit()
    return {}


def opened(url: str) -> webdriver.Chrome:
    """Return a browser that holds the cookie of an explorer."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for one in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(one)
    browser = webdriver.Chrome(options, Service("/usr/bin/chromedriver"))
    browser.get(url)
    return browser


def picture(browser: webdriver.Chrome, url: str, page: str, scheme: str, file: Path, high: int | None) -> None:
    """Write a picture of a page: its first pixels, or without a height all of it."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": WIDE, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "height": high or HIGH})
    browser.get(f"{url.partition('/?')[0]}/{page}")
    whole = browser.execute_script("document.activeElement.blur(); return document.documentElement.scrollHeight")
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "height": high or whole})
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    file.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    sys.exit(main())
