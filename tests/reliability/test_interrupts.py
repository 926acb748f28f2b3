"""KeyboardInterrupt, a signal handler's exception or a cancellation at any place of any call leaves all in order."""

import asyncio
import gc
import inspect
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest

import evimem
from evimem import AsyncMemory, Memory, MemoryPool, ModelError, Trace, UnknownTurn
from evimem.db.connection import Connection
from evimem.flow import Effect, Embed, Flow, run
from evimem.index.corpus import TailPostings
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete
from tests.sizes import REDUCED, sizes
from tests.statements.conftest import partial as insufficient
from tests.statements.conftest import verdict

from .support.interrupts import CancelledAt, handlers, interrupted, places
from .support.residue import open_handles
from .support.world import EMBEDDER, EXTRACTOR, open_memory, said, small_thresholds

STEM = str(Path(evimem.__file__).parent)
# Where locks, transactions and leases are held. The rest of the package is gone through nightly.
NEAR = (*(f"{STEM}/{part}" for part in ("db/", "api/", "flow.py", "store/sqlite.py")), "contextlib.py")
LENDING = (*(f"{STEM}/api/{part}.py" for part in ("pool", "leases")), f"{STEM}/db/safe_context.py")
EVERYWHERE = (STEM, "contextlib.py", "threading.py")
STORED = 12
PATIENCE = 20.0
# Loops over `ask` and over `complete_jobs`, with 50 questions or a batch service; and of encrypted memories alone.
LEFT_OUT = {"calibrate", "enrich_batch", "rekey"}

Call = Callable[[Memory, Path, int], object]
Test = TypeVar("Test", bound=Callable[..., None])
CALLS: dict[str, Call] = {
    "add": lambda memory, aside, n: memory.add("Mira", f"I have a puppy {n}.", time="2024-03-12T18:20"),
    "extend": lambda memory, aside, n: memory.extend([said(1000 + 3 * n + one) for one in range(3)]),
    "extend and replace": lambda memory, aside, n: memory.extend(
        [replace(said(500), text=f"I saw {n}.")], replace=True
    ),
    "update": lambda memory, aside, n: memory.update(newest(memory), f"I have a puppy {n}."),
    "remember": lambda memory, aside, n: memory.remember(messages(n), session="chat", time="2024-03-12T18:20"),
    "search": lambda memory, aside, n: memory.search("puppy harbour"),
    "search_facts": lambda memory, aside, n: memory.search_facts("puppy harbour"),
    "search by metadata": lambda memory, aside, n: memory.search("puppy", where={"a": {"$ne": n}}),
    "block": lambda memory, aside, n: memory.block("What does Mira say?"),
    "profile": lambda memory, aside, n: memory.profile(speaker="Mira"),
    "ask": lambda memory, aside, n: memory.ask("What does Mira say?"),
    "ask in a stream": lambda memory, aside, n: list(memory.ask("What does Tomas say?", stream=True)),
    "forget": lambda memory, aside, n: memory.forget(turns=[newest(memory)]),
    "enrich": lambda memory, aside, n: memory.enrich(),
    "estimate": lambda memory, aside, n: memory.estimate((1.0, 1.0)),
    "calibration": lambda memory, aside, n: memory.calibration(),
    "rebuild": lambda memory, aside, n: memory.rebuild(),
    "reembed": lambda memory, aside, n: memory.reembed(EMBEDDER),
    "turn": lambda memory, aside, n: memory.turn("t3"),
    "context": lambda memory, aside, n: memory.context("t3"),
    "neighbours": lambda memory, aside, n: memory.neighbours("t3"),
    "facts": lambda memory, aside, n: memory.facts(["t3", "t4"]),
    "turns": lambda memory, aside, n: list(memory.turns()),
    "now": lambda memory, aside, n: memory.now(),
    "keep_trace": lambda memory, aside, n: memory.keep_trace(memory.ask("What does Ines say?").trace),
    "trace": lambda memory, aside, n: memory.trace(),
    "health": lambda memory, aside, n: memory.health(),
    "check": lambda memory, aside, n: memory.check(repair=True),
    "stats": lambda memory, aside, n: memory.stats(),
    "backup": lambda memory, aside, n: memory.backup(aside / f"backup{n}"),
    "export": lambda memory, aside, n: memory.export(aside / f"export{n}"),
    "import_": lambda memory, aside, n: memory.import_(aside / "given"),
    "close": lambda memory, aside, n: memory.close(),
}


def may_raise_in_open(test: Test) -> Test:
    """Allow a warning: a handler may raise inside `open()`, when the file has no name yet: the collector closes it."""
    unclosed = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
    ignored = pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")
    marked: Test = unclosed(ignored(test))
    return marked


def messages(number: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"I saw ship {number}."}, {"role": "assistant", "content": f"Number {number}!"}]


def newest(memory: Memory) -> str:
    memory.extend([said(500)])
    return "t500"


def public(kind: type) -> set[str]:
    return {name for name, value in vars(kind).items() if inspect.isfunction(value) and not name.startswith("_")}


def test_every_public_call_is_interrupted_here():
    assert public(Memory) == {name.partition(" ")[0] for name in CALLS} | LEFT_OUT


def assert_in_order(memory: Memory, number: int) -> None:
    """Use a memory from another thread, which a lock that was left taken would hold up for ever, and from this one."""
    fresh = said(100_000 + number)

    def use() -> None:
        assert memory.extend([fresh], strict=True).statuses[0].outcome in {"added", "readded"}
        assert fresh.id in {hit.turn.id for hit in memory.search(fresh.text, k=5)}
        if number % 4 == 0:
            assert memory.ask(f"What does {fresh.speaker} say?").trace is not None
        assert memory.forget(turns=[fresh.id]).turns == 1

    with ThreadPoolExecutor(1) as other:
        other.submit(use).result(PATIENCE)
    kept = {turn.id: turn.text for turn in memory.turns()}
    assert {turn.id: turn.text for turn in map(said, range(STORED))}.items() <= kept.items(), "acknowledged turns lost"
    assert memory._core.store.db.read_value("PRAGMA query_only") == 0


@may_raise_in_open
@pytest.mark.parametrize(
    "files", [pytest.param(NEAR, id="near"), pytest.param(EVERYWHERE, id="everywhere", marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize("points", sizes(1, nightly=1_000_000, reduced=1))
def test_after_a_signal_at_any_place_of_any_call_the_memory_works(disk, points, files, tell):
    raised = tried = 0
    with handlers(), small_thresholds():
        for name, call in CALLS.items():
            path = disk / f"{name}.evimem"
            memory = opened(path, disk)
            act = partial(again, call, memory, disk, count())
            total = places(act, files)
            for place in range(1 + 37 * tried % max(1, total // points), total + 2, max(1, total // points)):
                if memory._core.store.db._closed:
                    memory = opened(path, disk)
                    act = partial(again, call, memory, disk, count())
                error = interrupted(act, files, place, signal.SIGINT if place % 2 else signal.SIGUSR1)
                raised, tried = raised + (error is not None), tried + 1
                if memory._core.store.db._closed:
                    continue
                try:
                    assert_in_order(memory, tried)
                except (AssertionError, evimem.EvimemError, TimeoutError) as problem:
                    raise AssertionError(f"{name} at place {place} of {total}: {problem!r}") from error
            if memory._core.store.db._closed:
                memory = opened(path, disk)
            memory.enrich()  # what an interrupted reembed() or rebuild() left in the queue
            assert memory.check().problems == (), name
            memory.close()
    assert raised > tried / 2
    tell(f"{len(CALLS)} calls, {raised} signals of {tried} raised: 0 acknowledged turns lost, 0 stuck")


def test_after_a_signal_at_any_place_of_closing_a_memory_is_open_or_closed(disk):
    """Found by forty signals in each call: the handle thought it open, and was of no use."""
    files = (f"{STEM}/db/connection.py", f"{STEM}/store/handle.py")
    opened(disk / "m.evimem", disk).close()
    with handlers():
        for place in count(1):
            memory = open_memory(disk / "m.evimem")
            error = interrupted(memory.close, files, place, signal.SIGINT)
            with suppress(evimem.StoreClosed):
                assert memory.stats().turns == STORED
            memory.close()
            with pytest.raises(evimem.StoreClosed):
                memory.stats()
            if error is None:
                break
    assert place > 10


@may_raise_in_open
@pytest.mark.parametrize(("call", "most"), [("backup", 0), ("export", 0), ("import_", 2)])
def test_after_a_signal_at_any_place_of_copying_no_file_stays_open(disk, call, most):
    """Found by a signal at every place of each call: a file was open for as long as the traceback was kept.

    The two places are those where a descriptor is a number that nobody has yet, or has no longer.
    """
    files = (f"{STEM}/db/atomic_files.py", f"{STEM}/store/keeper.py")
    folder = disk / "aside"
    folder.mkdir()
    memory = opened(disk / "m.evimem", folder)
    act = partial(again, CALLS[call], memory, folder, count())
    kept = list[BaseException]()
    with handlers():
        for place in count(1):
            error = interrupted(act, files, place, signal.SIGINT)
            left_open = [one for one in open_handles().values() if one.startswith(str(folder.resolve()))]
            assert len(left_open) <= most, f"at place {place}: {error!r}"
            assert [one.name for one in folder.glob("*.tmp*")] == [], f"at place {place}: {error!r}"
            for copied in {*folder.iterdir()} - {folder / "given"}:
                copied.unlink()  # each file of a folder is some more places, where what was left is looked for
            if error is None:
                break
            kept.append(error)
    memory.close()
    assert len(kept) > 20


def again(call: Call, memory: Memory, aside: Path, numbers: Iterator[int]) -> None:
    call(memory, aside, next(numbers))


def opened(path: Path, aside: Path) -> Memory:
    memory = open_memory(path)
    memory.extend([said(number) for number in range(STORED)])
    memory.keep_trace(memory.ask("What does Mira say?").trace)
    memory.export(aside / "given")
    return memory


@may_raise_in_open
@pytest.mark.parametrize("points", sizes(4, nightly=1_000_000, reduced=2))
def test_after_a_signal_at_any_place_the_pool_has_every_place_again(disk, points, tell):
    raised = tried = 0
    calls: list[tuple[Callable[[MemoryPool], None], tuple[str, ...], int]] = [
        (lend, LENDING, 60 if REDUCED else 1_000_000),
        (visit, NEAR, points),
        (erase, NEAR, points),
    ]
    with handlers(), MemoryPool(disk, capacity=1, wait_seconds=0.0, embedder=EMBEDDER, extractor=EXTRACTOR) as pool:
        for call, files, most in calls:
            act = partial(call, pool)
            act()
            lend(pool, "bo")  # as before each signal: what is lent must be opened, and this be closed for it
            total = places(act, files)
            for place in range(1, total + 2, max(1, total // most)):
                error = interrupted(act, files, place, signal.SIGINT)
                raised, tried = raised + (error is not None), tried + 1
                with ThreadPoolExecutor(1) as other:
                    check_places(pool, other, "bo", f"{call.__name__} at place {place} of {total}", error)
    assert raised > tried / 2
    error = None  # its traceback holds the frames, and they the file
    gc.collect()  # here, where the warning is expected, and not in a later test
    tell(f"{raised} signals of {tried} raised: 0 leases lost")


@may_raise_in_open
@pytest.mark.parametrize("points", sizes(40, nightly=1_000_000, reduced=8))
def test_after_a_signal_at_any_place_of_a_question_the_pool_has_the_place_that_was_lent(disk, points, tell):
    def reply(request: Complete) -> str:
        other.submit(lend, pool, "bo").result(PATIENCE)  # which closes the file of the block that asks
        return insufficient("harbour") if len(model.requests) % 3 == 1 else verdict()

    raised = tried = 0
    model = ScriptedModel(then=reply)
    options = {"wait_seconds": PATIENCE, "embedder": EMBEDDER, "extractor": EXTRACTOR, "llm": model}
    with handlers(), ThreadPoolExecutor(1) as other, MemoryPool(disk, capacity=1, **options) as pool:
        act = partial(question, pool)
        act()
        total = places(act, LENDING)
        for place in range(1, total + 2, max(1, total // points)):
            model.requests.clear()
            error = interrupted(act, LENDING, place, signal.SIGINT)
            raised, tried = raised + (error is not None), tried + 1
            check_places(pool, other, "cy", f"at place {place} of {total}", error)
    assert raised > tried / 2
    error = None
    gc.collect()
    tell(f"{raised} signals of {tried} raised at {total} places: 0 leases lost")


def check_places(
    pool: MemoryPool, other: ThreadPoolExecutor, user: str, where: str, error: BaseException | None
) -> None:
    """Check from another thread that all places of a pool are free: a lock left taken, or a lease, would leave none."""
    try:
        other.submit(lend, pool, user).result(PATIENCE)
    except (evimem.EvimemError, TimeoutError) as problem:
        raise AssertionError(f"{where}: {problem!r}") from error
    assert pool._leases.idle
    assert not pool._leases.closing


def question(pool: MemoryPool) -> None:
    with pool.open("ana") as memory:
        memory.extend([said(0)])
        with suppress(ModelError):  # what the model says is no answer to each of the requests
            memory.ask("What does Mira say?")


def lend(pool: MemoryPool, user: str = "ana") -> None:
    with pool.open(user):
        pass


def visit(pool: MemoryPool, user: str = "ana") -> None:
    with pool.open(user) as memory:
        memory.extend([said(0)])


def erase(pool: MemoryPool) -> None:
    visit(pool)
    pool.erase("ana")


async def traced(memory: AsyncMemory) -> Trace:
    await memory.keep_trace(Trace("where?", "iris"))
    return await memory.trace()


async def into(write: Callable[[Path], Any], memory: AsyncMemory) -> None:
    path = memory._core.store.path.with_name("beside")
    path.unlink(missing_ok=True)
    with suppress(evimem.StoreError):  # the file of a call that was cancelled, and finished all the same
        await write(path)


async def exported(memory: AsyncMemory) -> None:
    path = memory._core.store.path.with_name("exported")
    await memory.export(path)
    await memory.import_(path)


NOT_CANCELLED = {"calibrate", "enrich_batch", "rekey", "close", "end_worker"}
ASYNC_CALLS: dict[str, Callable[[AsyncMemory], Any]] = {
    "add": lambda memory: memory.add("Mira", "I saw a boat.", time="2024-03-12T18:20"),
    "update": lambda memory: memory.update("t3", "I have a kitten."),
    "search with filters": lambda memory: memory.search("puppy", where={"a": {"$ne": 1}}),
    "estimate": lambda memory: memory.estimate((1.0, 1.0)),
    "calibration": lambda memory: memory.calibration(),
    "reembed": lambda memory: memory.reembed(EMBEDDER),
    "turn": lambda memory: memory.turn("t4"),
    "context": lambda memory: memory.context("t4"),
    "neighbours": lambda memory: memory.neighbours("t4"),
    "facts": lambda memory: memory.facts(["t4"]),
    "turns": lambda memory: memory.turns(limit=3),
    "now": lambda memory: memory.now(),
    "keep_trace": lambda memory: memory.keep_trace(Trace("where?", "iris")),
    "trace": traced,
    "health": lambda memory: memory.health(),
    "stats": lambda memory: memory.stats(),
    "backup": lambda memory: into(memory.backup, memory),
    "export": lambda memory: into(memory.export, memory),
    "import_": exported,
    "extend": lambda memory: memory.extend([said(200), said(201)]),
    "extend and replace": lambda memory: memory.extend([replace(said(200), text="I saw a ship.")], replace=True),
    "remember": lambda memory: memory.remember(messages(1), session="chat", time="2024-03-12T18:20"),
    "search": lambda memory: memory.search("puppy"),
    "search_facts": lambda memory: memory.search_facts("puppy", about="Mira"),
    "block": lambda memory: memory.block("What does Mira say?"),
    "profile": lambda memory: memory.profile(speaker="Mira"),
    "ask": lambda memory: memory.ask("What does Mira say?"),
    "ask in a stream": lambda memory: drained(memory.ask("What does Mira say?", stream=True)),
    "forget": lambda memory: memory.forget(session="s28"),
    "enrich": lambda memory: memory.enrich(),
    "rebuild": lambda memory: memory.rebuild(),
    "check": lambda memory: memory.check(),
}


def test_every_call_of_the_async_door_is_cancelled_here():
    assert public(AsyncMemory) == {name.partition(" ")[0] for name in ASYNC_CALLS} | NOT_CANCELLED


async def drained(stream: Any) -> list[Any]:
    return [one async for one in stream]


@pytest.mark.parametrize("name", ASYNC_CALLS)
def test_cancelled_at_any_await_the_memory_works(disk, name):
    async def run(memory: AsyncMemory) -> None:
        for suspension in count(1):
            work = CancelledAt(ASYNC_CALLS[name](memory), suspension)
            with suppress(asyncio.CancelledError):
                await work
            task = asyncio.current_task()
            assert task is not None
            if hasattr(task, "uncancel"):
                task.uncancel()
            fresh = said(300 + suspension)
            await memory.extend([fresh], strict=True)
            assert fresh.id in {hit.turn.id for hit in await memory.search(fresh.text, k=5)}
            assert (await memory.forget(turns=[fresh.id])).turns == 1
            if work.suspensions < suspension:
                return

    with small_thresholds(), open_memory(disk / "m.evimem") as memory:
        memory.extend([said(number) for number in range(STORED)])
        door = AsyncMemory(memory._core)
        asyncio.run(run(door))
        door.end_worker()
        assert {f"t{number}" for number in range(STORED)} <= {turn.id for turn in memory.turns()}
        memory.enrich()
        assert memory.check().problems == ()


def test_cancelled_at_any_await_a_pool_gives_its_place_back(disk):
    async def use(pool: MemoryPool) -> None:
        async with pool.open_async("ana") as memory:
            await memory.extend([said(0)])
            await memory.ask("What does Mira say?")

    async def run(pool: MemoryPool) -> int:
        for suspension in count(1):
            work = CancelledAt(use(pool), suspension)
            await asyncio.gather(asyncio.ensure_future(wrapped(work)), return_exceptions=True)
            async with pool.open_async("bo") as memory:  # the only place there is
                await memory.extend([said(suspension)], strict=True)
            if work.suspensions < suspension:
                return suspension
        raise AssertionError

    with MemoryPool(disk, capacity=1, wait_seconds=PATIENCE, embedder=EMBEDDER, extractor=EXTRACTOR) as pool:
        assert asyncio.run(run(pool)) > 4
        assert pool.erase("ana").status == "erased"
        assert pool._leases.idle


async def wrapped(work: CancelledAt[None]) -> None:
    await work


def write(db: Connection, number: int) -> None:
    with db.writing():
        db.execute("INSERT INTO one VALUES (?)", (number,))


def read(db: Connection, number: int) -> None:
    with db.reading():
        db.rows("SELECT number FROM one")


def read_within_a_write(db: Connection, number: int) -> None:
    with db.writing(), db.reading():
        db.execute("INSERT INTO one VALUES (?)", (number,))


def fail(db: Connection, number: int) -> None:
    with suppress(UnknownTurn), db.writing():
        db.execute("INSERT INTO one VALUES (?)", (number,))
        raise UnknownTurn("t1")


def look_about(db: Connection, number: int) -> None:
    db.read_value("SELECT count(*) FROM one")
    db.checkpoint()


@pytest.fixture
def db(disk):
    db = Connection(disk / "any.db")
    db.execute("CREATE TABLE one (number INTEGER PRIMARY KEY)")
    yield db
    db.close()


@pytest.mark.parametrize("act", [write, read, read_within_a_write, fail, look_about])
def test_after_a_signal_at_any_place_a_connection_has_no_lock_no_transaction_and_may_write(db, act):
    with handlers(), ThreadPoolExecutor(1) as other:
        files = (*NEAR, __file__)
        total = places(partial(act, db, 0), files)
        kept: list[object] = []  # the exceptions with their tracebacks, as a debugger or an interpreter keeps them
        for place in range(1, total + 2):
            kept.append(interrupted(partial(act, db, 10 * place), files, place, signal.SIGINT))
            assert other.submit(db._lock.acquire, timeout=1.0).result(), f"the lock stays taken after place {place}"
            other.submit(db._lock.release).result()
            other.submit(write, db, 10 * place + 1).result(PATIENCE)
            with db.writing():
                db.execute("INSERT INTO one VALUES (?)", (10 * place + 2,))
            acknowledged = {10 * one + extra for one in range(1, place + 1) for extra in (1, 2)}
            assert acknowledged <= {number for (number,) in db.rows("SELECT number FROM one")}
        assert sum(error is not None for error in kept) > total / 2


def test_half_an_update_of_what_is_held_in_memory_is_read_again(disk, monkeypatch):
    def interrupt(*values: object) -> None:
        raise KeyboardInterrupt

    with open_memory(disk / "m.evimem") as memory:
        memory.extend([said(number) for number in range(STORED)])
        memory.search("puppy")
        memory.extend([said(STORED)])
        with monkeypatch.context() as patched:
            patched.setattr(TailPostings, "add", interrupt)  # the turn's place in its session is noted, its terms not
            with pytest.raises(KeyboardInterrupt):
                memory.search("puppy")
        found = memory.search("puppy harbour", k=STORED)
        with open_memory(disk / "m.evimem") as other:
            assert found == other.search("puppy harbour", k=STORED)


def test_a_flow_is_closed_when_what_performs_its_effects_is_interrupted():
    closed: list[str] = []

    def flow() -> Flow[None]:
        try:
            yield Embed(("any",))
        finally:
            closed.append("closed")

    def interrupt(effect: Effect) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as kept:
        run(flow(), interrupt)
    assert closed == ["closed"]
    assert kept.traceback  # which would keep a flow that was left open


@pytest.mark.parametrize("left", ["in a transaction", "with query_only on"])
def test_a_connection_left_in_a_state_of_its_own_is_brought_back_before_use(db, left):
    if left == "in a transaction":
        db._db.execute("BEGIN IMMEDIATE")
    else:
        db._query_only = True
        db._db.execute("PRAGMA query_only=ON")
    with db.writing():
        db.execute("INSERT INTO one VALUES (1)")
    with db.reading():
        assert db.rows("SELECT number FROM one") == [(1,)]
