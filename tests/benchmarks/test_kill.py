"""A run that is killed loses no question that was answered, and asks none of these again."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evimem.testing import ModelServer

JUDGED = {"tier": "exact", "confidence": 0.95, "requirements": [], "gaps": [], "next_query": "", "reason": "said"}
ANSWERED = {"steps": [], "answerable": True, "answer": "seven", "citations": []}
KINDS = ("ripe", "green", "red", "small", "large", "sweet")


def write_locomo(path: Path) -> None:
    said = [{"speaker": "Ada", "dia_id": f"D1:{n}", "text": f"Yesterday I sold {n} pears."} for n in range(1, 9)]
    asked = [
        {"question": f"How many {kind} pears did Ada sell?", "answer": 7, "evidence": ["D1:7"], "category": 4}
        for kind in KINDS
    ]
    conversation = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said}
    path.write_text(json.dumps([{"sample_id": "conv-1", "conversation": conversation, "qa": asked}]))


def reply_to(body: Mapping[str, Any]) -> str:
    return json.dumps(ANSWERED if "citations" in str(body) else JUDGED)


@pytest.mark.nightly
def test_a_killed_run_goes_on_with_the_questions_that_are_left(tmp_path):
    data, kept = tmp_path / "locomo.json", tmp_path / "kept.jsonl"
    write_locomo(data)
    env = {**os.environ, "OPENAI_API_KEY": "sk-never-sent-there"}
    with ModelServer(
        then=lambda body: json.dumps(ANSWERED if "citations" in str(body) else JUDGED), delay=0.2
    ) as server:
        model = ("--llm", "--model", "m", "--base-url", server.url, "--concurrency", "1", "--json")
        words = [sys.executable, "-m", "benchmarks", "locomo", str(data), *model, "--checkpoint", str(kept)]
        running = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(server.received) < 6:  # two requests a question
            assert running.poll() is None
            time.sleep(0.01)
        running.kill()
        running.wait()
        before = len(server.received)
        answered = len(kept.read_text().splitlines())
        again = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    assert answered >= 2
    assert len(server.received) - before == 2 * (len(KINDS) - answered)
    tables = {one["name"]: one for one in json.loads(again.stdout)["tables"]}
    assert dict(tables["cost"]["rows"])["questions that failed"] == 0
