"""What a fresh process loads before its first block: what searches and quotes, and nothing that judges or extracts."""

import subprocess
import sys

import evimem

SCRIPT = """
import sys
import evimem
with evimem.open(sys.argv[1]) as memory:
    assert "kilometres" in memory.block(sys.argv[2]).text
print(*(name for name in sys.modules if name.startswith("evimem.") or "." not in name), sep="\\n")
"""
ROOMS = {"db", "api", "edges", "embedding", "errors", "flow", "index", "lang", "page", "protocols", "query", "raw"}
ROOMS |= {"store", "text", "times", "types"}
PARTS = {  # of other rooms
    "extract", "extract.labels", "extract.attribution", "extract.updates", "judging",
    "loaders", "loaders.chat_messages", "loaders.conversation", "loaders.json_values",

}  # fmt: skip
UNUSED = {"asyncio", "concurrent", "dateparser", "difflib", "openai", "socket", "sqlite3", "statistics", "zipfile"}


def test_a_first_block_loads_no_judge_no_loop_no_extraction_and_no_ingestion(tmp_path):
    path = tmp_path / "m.evimem"
    with evimem.open(path) as memory:
        memory.add("user", "Always give me distances in kilometres.", time="2024-03-12T10:00")
        memory.add("assistant", "Of course.", time="2024-03-12T10:01")
        memory.add("user", "I ran five miles with Juno.", time="2024-03-13T10:00")
    done = [sys.executable, "-c", SCRIPT, str(path), "How far did I run?"]
    loaded = set(subprocess.run(done, check=True, capture_output=True, text=True).stdout.split())
    own = {name.removeprefix("evimem.") for name in loaded if name.startswith("evimem.")}
    assert sorted(name for name in own - PARTS if name.partition(".")[0] not in ROOMS) == []
    assert sorted(loaded & UNUSED) == []
