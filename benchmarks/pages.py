"""Processor time and size of each page of the explorer over a memory: `python -m benchmarks.pages FILE`.

FILE is a memory whose facts are read, such as one that `python -m benchmarks.scaling` leaves; nothing in it is changed.
"""

from __future__ import annotations

import sys
from time import process_time

from starlette.testclient import TestClient

import evimem
from evimem.pages.explorer import build_explorer
from evimem.pages.sources import OneMemory
from evimem.pages.visitors import admit_holder_of

QUESTION = "What should I give Mira for her birthday?"
PAGES = (
    "ask", "ask?q={question}", "why?q={question}", "block?q={question}", "block?q={question}&why={turn}",
    "find?q={question}", "find?q={question}&why={turn}", "find?q={question}&speaker={speaker}", "timeline",
    "people", "people?name={speaker}", "turn?id={turn}", "turns", "turns?session={session}", "compare?q={question}",
    "forget?kind=session&value={session}", "health", "why", "corrections", "import",
)  # fmt: skip


def main() -> int:
    """Print a line a page: milliseconds of a processor at the second visit, kilobytes, its address."""
    with evimem.open(sys.argv[1]) as memory:
        (turn,) = memory.turns(limit=1, newest=True)
        named = {"question": QUESTION, "turn": turn.id, "speaker": turn.speaker, "session": turn.session}
        app = build_explorer(OneMemory(memory, "m"), admit_holder_of("t"), cookie="c")
        client = TestClient(app, base_url="http://127.0.0.1", cookies={"c": "t"})
        print(f"{memory.health().turns:,} turns")
        for page in PAGES:
            address = "/" + page.format(**named)
            client.get(address)
            began = process_time()
            answer = client.get(address)
            spent = (process_time() - began) * 1000
            print(f"{answer.status_code} {spent:6.0f} ms {len(answer.content) / 1000:7.1f} kB  {address}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
