"""Memories of many users are built by processes: each turn once, whatever ends a worker, or the build itself."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.cli.arguments import Exit, run_command_line
from evimem.extract.rule_extractor import RuleExtractor
from evimem.loaders.examples import load_example
from evimem.loaders.formats import read_turns

HERE = {**os.environ, "PYTHONPATH": str(Path(evimem.__file__).parents[1])}
USERS = [f"user {number}" for number in range(12)]


class Deadly(RuleExtractor):
    """Ends its process at one turn, and raises no error that could be caught."""

    def extract(self, turn: evimem.Turn, context: Sequence[evimem.Turn] = ()) -> Any:
        if "die now" in turn.text:
            os._exit(9)
        return super().extract(turn, context)


def dataset(path: Path, users: Sequence[str] = tuple(USERS), turns: int = 8) -> Path:
    """Turns of users in turn, as they came to a server."""
    said = load_example("friends")[:turns]
    rows = [
        {"user": user, "speaker": one.speaker, "text": f"{one.text} {user}", "time": one.time.isoformat()}
        for one in said
        for user in users
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def held(place: Any, users: Sequence[str] = tuple(USERS)) -> dict[str, list[Any]]:
    """What each user's memory holds: its turns and their facts."""
    found: dict[str, list[Any]] = {}
    with evimem.MemoryPool(place) as pool:
        for user in users:
            with pool.open(user) as memory:
                turns = list(memory.turns())
                assert memory.health().pending == {}, "all is derived"
                found[user] = [*turns, *memory.facts(turns=[turn.id for turn in turns])]
    return found


def test_each_user_has_the_memory_that_one_process_would_have_made(tmp_path: Path) -> None:
    told: list[int] = []
    report = evimem.build(dataset(tmp_path / "chats.jsonl"), tmp_path / "users", workers=2, progress=told.append)
    assert (report.users, report.turns, report.added, report.refused, report.set_aside) == (12, 96, 96, 0, {})
    assert told == [8] * 12
    with evimem.MemoryPool(tmp_path / "users") as pool:
        assert pool.count() == 12
    alone = tmp_path / "alone.evimem"
    with evimem.open(alone) as memory:
        memory.extend(read_turns(lines_of_user(tmp_path, "user 3")))
        memory.enrich()
        turns = list(memory.turns())
        assert held(tmp_path / "users")["user 3"] == [*turns, *memory.facts(turns=[turn.id for turn in turns])]
    assert [one.name for one in (tmp_path / "users").iterdir() if len(one.name) > 2] == ["build.manifest"]


def lines_of_user(folder: Path, user: str) -> Path:
    rows = [json.loads(line) for line in (folder / "chats.jsonl").read_text().splitlines()]
    path = folder / "user.jsonl"
    own = [{name: value for name, value in row.items() if name != "user"} for row in rows if row["user"] == user]
    path.write_text("".join(json.dumps(row) + "\n" for row in own))
    return path


def test_a_build_that_is_repeated_does_only_what_is_new(tmp_path: Path) -> None:
    chats, users = dataset(tmp_path / "chats.jsonl"), tmp_path / "users"
    evimem.build(chats, users, workers=1)
    files = {file: file.stat().st_mtime_ns for file in users.rglob("*.evimem")}
    again = evimem.build(chats, users, workers=1)
    assert (again.users, again.done, again.added) == (0, 12, 0)
    assert {file: file.stat().st_mtime_ns for file in users.rglob("*.evimem")} == files
    with chats.open("a") as file:
        file.write('{"user": "user 3", "speaker": "Mira", "text": "I moved.", "time": "2031-01-01"}\n')
    more = evimem.build(chats, users, workers=1)
    assert (more.users, more.done, more.added, more.existing) == (1, 11, 1, 8)


@pytest.mark.parametrize("place", ["a folder", "a server"])
def test_a_build_that_is_killed_goes_on_without_loss_or_doubles(postgres: str, tmp_path: Path, place: str) -> None:
    users = [f"{tmp_path} {number}" for number in range(12)]
    chats, manifest = dataset(tmp_path / "chats.jsonl", users), tmp_path / "done"
    target: Any = tmp_path / "users" if place == "a folder" else postgres
    words = ("build", str(chats), str(target), "--workers", "2", "--manifest", str(manifest))
    chance = random.Random(4)
    for _ in range(2):
        before = manifest.read_bytes().count(b"digest") if manifest.exists() else 0
        process = subprocess.Popen([sys.executable, "-m", "evimem", *words], start_new_session=True, env=HERE)
        while process.poll() is None and (not manifest.exists() or manifest.read_bytes().count(b"digest") <= before):
            time.sleep(0.01)
        time.sleep(chance.random() * 0.1)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    with manifest.open("ab") as file:
        file.write(b'{"user": "cut sho')
    assert run_command_line(list(words)) == Exit.OK
    whole = evimem.build(chats, tmp_path / "whole", workers=2)
    assert whole.added == 96
    assert held(target, users) == held(tmp_path / "whole", users)


def test_the_workers_of_a_build_that_is_killed_end_with_it(tmp_path: Path) -> None:
    words = ("build", str(dataset(tmp_path / "chats.jsonl")), str(tmp_path / "users"), "--workers", "2")
    build = [sys.executable, "-m", "evimem", *words]
    with subprocess.Popen(build, stdout=subprocess.PIPE, start_new_session=True, env=HERE) as process:
        while process.poll() is None and not list((tmp_path / "users").rglob("*.evimem")):
            time.sleep(0.01)
        process.kill()
        process.communicate(timeout=60)  # to the end of its output: as soon as no worker holds it
    assert process.returncode == -signal.SIGKILL


def test_a_user_who_ends_workers_is_set_aside_and_the_others_are_built(tmp_path: Path) -> None:
    chats = dataset(tmp_path / "chats.jsonl", USERS[:6])
    with chats.open("a") as file:
        file.write('{"user": "user 2", "speaker": "Mira", "text": "die now", "time": "2031-01-01"}\n')
    report = evimem.build(chats, tmp_path / "users", workers=2, extractor=Deadly())
    assert list(report.set_aside) == ["user 2"]
    assert "3 worker processes ended" in report.set_aside["user 2"]
    assert report.users == 5
    mended = evimem.build(chats, tmp_path / "users", workers=2)
    assert (mended.users, mended.done, mended.set_aside) == (1, 5, {})


def test_lines_without_a_user_or_a_turn_are_refused_and_the_rest_is_stored(tmp_path: Path) -> None:
    chats = dataset(tmp_path / "chats.jsonl", USERS[:1])
    with chats.open("a") as file:
        file.write('{"speaker": "Mira", "text": "Whose?", "time": "2031-01-01"}\nno JSON\n')
        file.write('{"user": "user 0", "text": "Who says so?", "time": "2031-01-01"}\n')
        file.write('{"user": 7, "speaker": "Mira", "text": "A number.", "time": "2031-01-01"}\n')
    report = evimem.build(chats, tmp_path / "users", workers=1)
    assert (report.users, report.added, report.refused) == (2, 9, 3)
    assert [why.partition(":")[0] for why in report.refusals[:2]] == ["chats.jsonl line 9", "chats.jsonl line 10"]
    assert "no speaker" in report.refusals[2]


def test_what_no_user_could_be_built_with_ends_the_build(tmp_path: Path) -> None:
    chats = dataset(tmp_path / "chats.jsonl", USERS[:2], 1)
    with pytest.raises(evimem.InvalidQuery, match="timezone"):
        evimem.build(chats, tmp_path / "users", workers=1, timezone="Nowhere/At_All")
    with pytest.raises(evimem.InvalidQuery, match="colour"):
        evimem.build(chats, tmp_path / "users", colour="red")
    with pytest.raises(evimem.ImportFailed):
        evimem.build(tmp_path / "nothing", tmp_path / "users")


def test_an_executor_of_the_caller_runs_it_and_stays_open(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        report = evimem.build(dataset(tmp_path / "chats.jsonl", USERS[:3]), tmp_path / "users", executor=threads)
        assert report.users == 3
        assert threads.submit(int).result() == 0


def test_two_builds_do_not_share_a_manifest(tmp_path: Path) -> None:
    from evimem.ingest.partitions import lock_build  # noqa: PLC0415

    chats = dataset(tmp_path / "chats.jsonl", USERS[:1])
    with lock_build(tmp_path / "done"), pytest.raises(evimem.StoreBusy, match="another build"):
        evimem.build(chats, tmp_path / "users", manifest=tmp_path / "done")


def test_a_script_that_forgets_its_guard_is_told_so(tmp_path: Path) -> None:
    chats, script = dataset(tmp_path / "chats.jsonl", USERS[:1]), tmp_path / "script.py"
    script.write_text(f"import evimem\nevimem.build({str(chats)!r}, {str(tmp_path / 'users')!r}, workers=1)\n")
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, env=HERE)
    assert ran.returncode == 1
    assert "if __name__ == '__main__':" in ran.stderr.splitlines()[-1]
