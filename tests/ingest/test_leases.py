"""No turn is paid for twice: threads, handles and processes share the queue of one memory."""

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from datetime import datetime, timezone

import pytest

import evimem
from evimem.db.jobs import lease_reason
from evimem.testing import ScriptedModel
from tests.doubles import FakeClock

NOTHING = json.dumps({"facts": []})
TURNS = 30


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "m.evimem"
    with evimem.open(path) as memory:
        for number in range(TURNS):
            memory.add("Mira", f"We adopted puppy number {number}.", time="2024-03-12T18:20", id=f"t{number}")
        memory.enrich()  # what is counted below is read by a model
    return path


class SlowModel(ScriptedModel):
    """Waits until several callers are under way before it answers."""

    def __init__(self, callers):
        super().__init__(then=NOTHING)
        self.met = threading.Barrier(callers)
        self.first = threading.local()

    def complete(self, request):
        if not getattr(self.first, "over", False):
            self.first.over = True
            with suppress(threading.BrokenBarrierError):
                self.met.wait(5)
        return super().complete(request)


def test_two_handles_of_a_memory_never_ask_for_one_turn_twice(path):
    model = SlowModel(2)
    done = []

    def enrich():
        with evimem.open(path, llm=model) as memory:
            done.append(memory.enrich().done)

    threads = [threading.Thread(target=enrich) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(model.requests) == sum(done) == TURNS


def test_what_another_process_holds_is_left_to_it_and_taken_over_once_it_has_ended(path):
    script = (
        "import evimem, sys\n"
        "m = evimem.open(sys.argv[1], llm=evimem.testing.ScriptedModel())\n"
        "m._core.store.enqueue_missing('extract')\n"
        "print(len(m._core.store.lease('extract', 20, 900.0)), flush=True)\n"
        "sys.stdin.read(); import os; os._exit(9)\n"
    )
    command = [sys.executable, "-c", f"import evimem.testing\n{script}", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ}) as other:
        assert other.stdout.readline() == b"20\n"
        model = ScriptedModel(then=NOTHING)
        with evimem.open(path, llm=model) as memory:
            report = memory.enrich()
            assert (report.done, report.put_off, len(model.requests)) == (TURNS - 20, 20, TURNS - 20)
            other.stdin.close()
            other.wait()
            assert memory.enrich().done == 20


def test_a_process_that_ended_and_one_with_its_number_are_not_the_same(path):
    with evimem.open(path, llm=ScriptedModel(then=NOTHING)) as memory:
        store = memory._core.store
        store.enqueue_missing("extract")
        earlier = lease_reason().rpartition(" ")[0] + " 00000000"
        store.hold("extract", [f"t{number}" for number in range(TURNS)], earlier, 900.0)
        assert memory.enrich().done == TURNS


def of_no_use_twice():
    """Reply twice with nothing usable to one turn, and then with no facts, as to the others."""
    left = ["?", "?"]

    def reply(request):
        asked_for = request.prompt.rpartition("<turn")[2]
        return left.pop() if left and "number 7." in asked_for else NOTHING

    return ScriptedModel(then=reply)


def test_a_report_says_what_waits_until_when_and_why_and_retry_now_tries_it(path):
    clock = FakeClock(1_710_000_000.0)
    with evimem.open(path, llm=of_no_use_twice(), clock=clock) as memory:
        report = memory.enrich()
        assert (report.done, report.put_off) == (TURNS, 1)
        assert report.until == datetime.fromtimestamp(1_710_000_030.0, tz=timezone.utc)
        assert [reason.partition(":")[0] for reason in report.reasons] == ["ReplyError"]
        assert memory.enrich().done == 0
        again = memory.enrich(retry_now=True)
        assert (again.done, again.put_off, again.until) == (1, 0, None)


def test_no_more_requests_are_made_at_once_than_the_model_takes(path):
    class Narrow(ScriptedModel):
        concurrency, busy, peak = 2, 0, 0

        def complete(self, request):
            self.busy += 1
            self.peak = max(self.peak, self.busy)
            reply = super().complete(request)
            self.busy -= 1
            return reply

    model = Narrow(then=NOTHING)
    with evimem.open(path, llm=model) as memory:
        memory.enrich()
    assert model.peak <= 2


def test_turns_that_were_given_up_are_tried_again_when_asked(path):
    clock = FakeClock()
    with evimem.open(path, llm=ScriptedModel(["?"] * 6, then=NOTHING), clock=clock) as memory:
        memory._core.store.forget([f"t{number}" for number in range(1, TURNS)])
        for _ in range(3):
            memory.enrich()
            clock.advance(1_000)
        assert memory.health().failed == {"extract": 1}
        assert memory.enrich(retry_now=True).done == 1
        assert memory.health().failed == {}
