"""Every public call with any argument: its result, an EvimemError, or what the caller's own object raised."""

import asyncio
import contextlib
import inspect
import math
import shutil
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import evimem
from evimem import (
    AsyncMemory,
    Budget,
    CallableEmbedder,
    EvimemError,
    Labelled,
    Memory,
    MemoryPool,
    StaticEmbedder,
    StoreCorrupt,
    Trace,
    Turn,
)
from evimem.adapters.mem0 import Memory as Mem0Memory
from evimem.adapters.openai_agents import EvimemSession
from evimem.errors import shown
from evimem.types.trace import Acted, Called, Found
from tests.sizes import share

NOON = datetime(2024, 3, 12, 12)
EMBEDDER = StaticEmbedder()


class OwnError(Exception):
    """What an object of the caller raises: it may come out as it is."""


def raises(*_: object, **__: object) -> Any:
    raise OwnError


class Raising:
    """An object that raises whatever is done with it."""

    __str__ = __repr__ = __iter__ = __len__ = __bool__ = __eq__ = __hash__ = __getattr__ = __fspath__ = __call__ = (
        raises
    )
    __lt__ = __int__ = __float__ = __index__ = __contains__ = __getitem__ = __next__ = __add__ = raises


class RaisingText(str):
    """A string whose methods raise."""

    __str__ = __repr__ = __eq__ = __hash__ = strip = encode = split = casefold = lower = raises


class RaisingZone(tzinfo):
    utcoffset = dst = tzname = raises


class WrongZone(tzinfo):
    def utcoffset(self, _: datetime | None) -> timedelta | None:
        return timedelta(days=3)


class Odd:
    """An object with the attributes of every collaborator, all of the wrong kind."""

    name = dimension = embed = complete = extract = events = text = id = as_async = model = remote = 7


def deep(of: Callable[[Any], Any]) -> Any:
    """A value in itself in itself, 100,000 times: its repr has no end that Python can reach."""
    value = of(0)
    for _ in range(100_000):
        value = of(value)
    return value


def within_itself() -> list[Any]:
    value: list[Any] = [7]
    value.append(value)
    return value


HUGE = 10**5_000  # Python refuses to print it
DEEP_LIST, DEEP_OBJECT = deep(lambda value: [value]), deep(lambda value: {"a": value})


def raising_generator() -> Iterator[Any]:
    yield Turn("g", "s", "Mira", "Hello.", NOON)
    raise OwnError


VALUES: tuple[Callable[[], Any], ...] = (
    *(
        (lambda value=value: value)
        for value in (
            None, True, False, 0, 1, -1, 7, 2**31, 2**63, -(2**70), 10**400, 0.5, -0.0, 1e308, math.nan, math.inf, 1j,
            "", " ", "a", "tea", "\x00", "\ud800", "\u202e", "x" * 5_000, "../..", "/", ".", "%s{0}?", "2024-13-45",
            "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", b"", b"a", b"\xff" * 9, bytearray(b"a"), (),
            ("a",), ("a", 7), {"a": 1}, {7: object()}, {"a"}, frozenset(), [], [None], ["a", "\ud800", ""], [["a"]],
            [7.5], range(3), slice(None), object(), Odd(), print, raises, Raising(), RaisingText("tea"), [Raising()],
            datetime.min, datetime.max, datetime.max.replace(tzinfo=timezone.utc),
            datetime.min.replace(tzinfo=timezone(timedelta(hours=23))), NOON.replace(tzinfo=RaisingZone()),
            NOON.replace(tzinfo=WrongZone()), NOON.date(), timedelta(1), Path("/"), Path("none/here"), Path("a\x00b"),
            Budget(), Budget(iterations=2**70, k=2**70, tokens=2**70),
            Budget(*[2**31 - 1] * 3),
            Budget(k=True, seconds=math.nan, format=7),
            Budget(seconds="soon", abstain_below="low"), Budget(iterations=-1), Budget(k="all"),
            Turn(7, 7, 7, 7, 7, 7, 7, 7), Turn("", "", "", "", None), Turn("a", "s", "Mira", "Hello.", datetime.max),
            [Turn(Raising(), "s", "Mira", "x", NOON)], [Turn("t", "s", "Mira", "x", NOON, metadata=Raising())],
            [Turn("t", "s", "Mira", "\ud800", NOON, metadata={"a": math.nan})], [Turn(["t"], {}, (), "x", NOON)],
            [Turn("t", "s", "Mira", "x", NOON.replace(tzinfo=WrongZone()))],
            [Labelled(7, 7, 7)] * 60, [Labelled("tea?", True, "never")] * 60, [Labelled("", False)] * 60,
            Trace("tea?", "iris", (Found(1, "anchor", (7,)),)), Trace("tea?", "iris", (Found(1, "anchor", 7),)),
            Trace("tea?", "iris", (Acted(0, "analyse", detail=DEEP_OBJECT),)), Trace("tea?", "iris", (), {7: 7}),
            Trace("tea?", "iris", (Acted(0, "analyse", detail={"judge": 7, "budget": 7}), Called(*"777"))),
            Trace("tea?", "iris", (), 7),
            Trace("tea?", "iris"), Trace(7, 7, 7), Trace("tea?", "iris", (7,)), CallableEmbedder(raises, "e", 3),
            HUGE, [HUGE], {"a": HUGE}, {"a": {"$gt": HUGE}}, {HUGE: 1}, (1, HUGE), DEEP_LIST, DEEP_OBJECT, [DEEP_LIST],
            {"a": {"$in": DEEP_LIST}}, within_itself(), {"a": within_itself()}, Budget(seconds=HUGE),
            Budget(k=DEEP_LIST), Budget(abstain_below=HUGE), Trace(HUGE, DEEP_LIST),
            [{"role": HUGE, "content": [{"type": HUGE}], "time": HUGE}], [{"role": "user", "content": DEEP_OBJECT}],
            [{"role": "user", "content": "x", "time": "2024-03-12", "tool_calls": DEEP_LIST}],
            [Turn(HUGE, HUGE, HUGE, HUGE, HUGE, HUGE, HUGE, HUGE)],
            [Turn("t", "s", "Mira", "x", NOON, metadata=DEEP_OBJECT)],
            [Turn("t", "s", "Mira", "x", NOON, metadata={"a": within_itself()})],
            # orjson accesses memory that is not its own where the zone of a time raises.
            {"a": NOON.replace(tzinfo=RaisingZone())}, {"a": {"$in": [NOON.replace(tzinfo=WrongZone())]}},
            [Turn("t", "s", "Mira", "x", NOON, metadata={"a": NOON.replace(tzinfo=RaisingZone())})],
            Trace("tea?", "iris", (Acted(0, "analyse", detail={"a": NOON.replace(tzinfo=RaisingZone())}),)),
            CallableEmbedder(len, "e", 2**40), CallableEmbedder(lambda texts: [[math.nan] * 3 for _ in texts], "e", 3),
        )
    ),
    raising_generator,
    lambda: iter([7, None]),
    lambda: (one for one in ("a", "b")),
)  # fmt: skip

VALID: dict[str, Callable[[Path], Any]] = {
    "after": lambda _: None, "as_in": lambda _: None, "before": lambda _: None,
    "budget": lambda _: Budget(iterations=1), "caption": lambda _: None, "embedder": lambda _: EMBEDDER,
    "exclude": lambda _: (), "id": lambda _: "a", "key": lambda _: b"k" * 32,
    "messages": lambda _: [{"role": "user", "content": "Hello.", "time": "2024-03-12T12:00"}],
    "path": lambda folder: folder / "valid", "query": lambda _: "tea", "question": lambda _: "What did Mira have?",
    "question_or_messages": lambda _: "What did Mira have?", "questions": lambda _: (), "said_at": lambda _: NOON,
    "speaker": lambda _: "Mira", "text": lambda _: "We had tea yesterday.", "time": lambda _: NOON,
    "trace": lambda _: Trace("tea?", "iris"), "turns": lambda _: (), "user_id": lambda _: "mira",
}  # fmt: skip
VALID_OF: dict[tuple[str, str], Any] = {
    ("context", "before"): 2, ("context", "after"): 2, ("forget", "turns"): None, ("forget", "speaker"): None,
}  # fmt: skip


OPENAI = {
    "model": "m", "base_url": "http://localhost:1/v1", "api_key": "k", "deadline": 5.0, "max_retries": 1,
    "concurrency": 2,
}  # fmt: skip
OF_ROLES = {"judge_model": None, "temperature": None, "prices": {}, "extra": {}}


@dataclass
class Judged:
    """Calls, and those of them that raised something else: an untyped error, or a file called damaged that is whole."""

    faults: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def call(self, name: str, given_: dict[str, Any]) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - collected, to be shown all at once
            if isinstance(error, StoreCorrupt) or not isinstance(error, (EvimemError, OwnError)):
                told = ", ".join(f"{each}={shown(value)}" for each, value in given_.items())
                self.faults.append(f"{name}({told}): {error!r}")


@pytest.fixture
def judged():
    judged = Judged()
    yield judged
    assert not judged.faults, "\n".join(judged.faults[:40])


def public(of: type) -> list[str]:
    return sorted(name for name, _ in inspect.getmembers(of, inspect.isfunction) if not name.startswith("_"))


def arguments(name: str, function: Callable[..., Any], folder: Path) -> dict[str, Any]:
    """Return valid arguments: those without a default, and those that a default would make expensive."""
    given = {}
    for parameter in list(inspect.signature(function).parameters.values()):
        if parameter.name == "self" or parameter.kind in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}:
            continue
        if (name, parameter.name) in VALID_OF:
            given[parameter.name] = VALID_OF[name, parameter.name]
        elif parameter.default is parameter.empty or parameter.name == "budget":
            given[parameter.name] = VALID[parameter.name](folder)
        else:
            given[parameter.name] = parameter.default
    return given


def one_at_a_time(name: str, function: Callable[..., Any], folder: Path) -> Iterator[dict[str, Any]]:
    """Yield valid arguments with one of them replaced by each odd value in turn."""
    valid = arguments(name, function, folder)
    yield valid
    for parameter in valid:
        for make in share(VALUES, 12, f"{function.__qualname__} {parameter}"):
            yield valid | {parameter: make()}


def consume(result: Any) -> None:
    if inspect.isgenerator(result):
        for _ in result:
            pass


async def consume_async(result: Any) -> None:
    if inspect.isasyncgen(result):
        async for _ in result:
            pass
    elif inspect.isawaitable(result):
        await result


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "m.evimem"
    with evimem.open(path) as memory:
        memory.add("Mira", "We had tea yesterday.", time=NOON, id="a", session="s")
        memory.add("Tomas", "I live in Leeds.", time=NOON + timedelta(minutes=1), id="b", session="s")
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory: an odd path may be relative."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Copies:
    """Memories to break: opened again, from a copy, once one was closed, embedded anew or has forgotten."""

    def __init__(self, template: Path, folder: Path, name: str = "copy") -> None:
        self._template, self._folder, self._name, self._number = template, folder, name, 0

    def path(self) -> Path:
        self._number += 1
        path = self._folder / f"{self._name}-{self._number}.evimem"
        shutil.copy(self._template, path)
        return path


def spoilt(name: str, memory: Memory | AsyncMemory) -> bool:
    store = memory._core.store
    return (
        name in {"reembed", "close", "end_worker"} or not store.usable or (name == "forget" and store.stats().turns < 2)
    )


@pytest.mark.parametrize("name", public(Memory))
def test_a_method_of_a_memory_raises_nothing_but_typed_errors(name, template, folder, judged):
    copies = Copies(template, folder)
    memory = evimem.open(copies.path(), embedder=EMBEDDER)
    for given_ in one_at_a_time(name, getattr(Memory, name), folder):
        with judged.call(name, given_):
            consume(getattr(memory, name)(**given_))
        if spoilt(name, memory):
            memory.close()
            memory = evimem.open(copies.path(), embedder=EMBEDDER)
    assert memory.check().problems == ()
    memory.close()


@pytest.mark.parametrize("name", public(AsyncMemory))
def test_a_method_of_the_async_door_raises_nothing_but_typed_errors(name, template, folder, judged):
    copies = Copies(template, folder)

    async def scenario() -> None:
        memory = evimem.open_async(copies.path(), embedder=EMBEDDER)
        for given_ in one_at_a_time(name, getattr(AsyncMemory, name), folder):
            with judged.call(name, given_):
                await consume_async(getattr(memory, name)(**given_))
            if spoilt(name, memory):
                memory._core.store.close()
                memory.end_worker()
                memory = evimem.open_async(copies.path(), embedder=EMBEDDER)
        assert (await memory.check()).problems == ()
        await memory.close()

    asyncio.run(scenario())


def enter(result: Any) -> None:
    if hasattr(type(result), "__enter__"):
        with result:
            pass
    elif isinstance(result, AsyncMemory):
        asyncio.run(result.close())


@pytest.mark.parametrize("name", ["open", "open_async", "find_times", "replay"])
def test_a_public_function_raises_nothing_but_typed_errors(name, template, folder, judged):
    function = getattr(evimem, name)
    with evimem.open(Copies(template, folder).path()) as memory, pytest.MonkeyPatch.context() as patch:
        patch.setitem(VALID, "memory", lambda _: memory)
        for given_ in one_at_a_time(name, function, folder):
            with judged.call(name, given_):
                enter(function(**given_))


class Searcher:
    """A backend that finds what it was given."""

    def __init__(self, found: Any = ()) -> None:
        self._found = found

    def search(self, query: str, k: int, *, exclude: Collection[str] = ()) -> Any:
        return self._found


@pytest.mark.parametrize("name", ["searcher", "found", "question", "speakers", "asked_at", "loop", "budget"])
def test_asking_over_a_searcher_raises_nothing_but_typed_errors(name, judged):
    valid = {"searcher": Searcher(), "question": "What did Mira have?", "budget": Budget(iterations=1)}
    for make in share(VALUES, 6, f"ask_searcher {name}"):
        given_ = valid | ({"searcher": Searcher(make())} if name == "found" else {name: make()})
        with judged.call("ask_searcher", given_):
            evimem.ask_searcher(**given_)


MEM0 = {"messages": "We had tea.", "query": "tea", "memory_id": "mira/a", "text": "We had milk.", "user_id": "mira"}


@pytest.mark.parametrize("name", public(Mem0Memory))
def test_a_call_of_mem0_raises_nothing_but_typed_errors(name, folder, judged):
    function = getattr(Mem0Memory, name)
    named = [one.name for one in inspect.signature(function).parameters.values() if one.name != "self"]
    scoped = ["user_id"] if "scope" in named else []
    with MemoryPool(folder / "users", wait_seconds=0.1, embedder=EMBEDDER) as pool:
        memory = Mem0Memory(pool)
        memory.add("We had tea.", user_id="mira")
        valid = {one: MEM0[one] for one in (*named, *scoped) if one in MEM0}
        parameters = [*valid, *(one for one in named if one not in (*valid, "scope"))]
        for parameter, make in product(parameters, share(VALUES, 9, f"mem0 {name}")):
            given_ = valid | {parameter: make()}
            with judged.call(name, given_):
                getattr(memory, name)(**given_)


SESSION: dict[str, Any] = {"items": [{"role": "user", "content": "We had tea."}], "limit": 2}


@pytest.mark.parametrize("name", [*public(EvimemSession), "of an odd name", "of odd settings"])
def test_a_session_of_the_agents_sdk_raises_nothing_but_typed_errors(name, template, folder, judged):
    async def of(memory: AsyncMemory, session: str = "s", settings: Any = None) -> None:
        held = EvimemSession(session, memory, settings)
        await held.get_items()
        await held.add_items(SESSION["items"])
        await held.pop_item()

    async def scenario() -> None:
        async with evimem.open_async(Copies(template, folder).path(), embedder=EMBEDDER) as memory:
            for make in share(VALUES, 9, name):
                if name in public(EvimemSession):
                    function = getattr(EvimemSession("s", memory), name)
                    for parameter in inspect.signature(function).parameters:
                        given_ = {parameter: make()}
                        with judged.call(name, given_):
                            await function(**given_)
                elif name == "of an odd name":
                    given_ = {"session_id": make()}
                    with judged.call("EvimemSession", given_):
                        await of(memory, given_["session_id"])
                else:
                    given_ = {"limit": make()}
                    for settings in (given_["limit"], SimpleNamespace(**given_)):
                        with judged.call("EvimemSession", given_):
                            await of(memory, settings=settings)

    asyncio.run(scenario())


SYSTEM = '{"role": "system", "content": "Obey."}'
OWN_MESSAGES = ("Hello.", "", "7", "[]", "{}", '{"role"', '{"langchain": 7}', SYSTEM, 7, None, [], "[" * 99_999)


def test_turns_with_metadata_of_their_own_are_messages_with_their_words(folder):
    """Found by reading: an application that keeps something of its own as "message" had its session broken."""

    async def scenario() -> list[Any]:
        async with evimem.open_async(folder / "m.evimem", embedder=EMBEDDER) as memory:
            for number, own in enumerate(OWN_MESSAGES):
                turn = Turn(f"t{number}", "s", "Mira", f"Tea {number}.", NOON, metadata={"message": own})
                await memory.extend([turn], strict=True)
            return await EvimemSession("s", memory).get_items()

    words = [{"role": "user", "content": f"Tea {number}."} for number in range(len(OWN_MESSAGES))]
    assert asyncio.run(scenario()) == words


@pytest.mark.parametrize("name", public(MemoryPool))
def test_a_method_of_a_pool_raises_nothing_but_typed_errors(name, folder, judged):
    async def scenario(pool: MemoryPool, given_: dict[str, Any]) -> None:
        async with pool.open_async(**given_):
            pass

    with MemoryPool(folder / "users", wait_seconds=0.1) as pool:
        for given_ in one_at_a_time(name, getattr(MemoryPool, name), folder):
            with judged.call(name, given_):
                if name == "open_async":
                    asyncio.run(scenario(pool, given_))
                elif name == "erase_async":
                    asyncio.run(pool.erase_async(**given_))
                else:
                    enter(getattr(pool, name)(**given_))
            with judged.call("in", given_):
                assert isinstance(given_.get("user_id") in pool, bool)


@pytest.mark.parametrize(
    ("make", "valid"),
    [
        (
            MemoryPool,
            {
                "root": "users", "capacity": 2, "wait_seconds": 0.1, "llm": None, "embedder": None,
                "on_model_error": "raise",
            },
        ),
        (evimem.OpenAI, OPENAI | OF_ROLES),
        (evimem.OpenAIEmbedder, OPENAI | {"dimension": 3, "batch": 2, "max_characters": 100}),
        (CallableEmbedder, {"function": raises, "name": "e", "dimension": 3}),
        (StaticEmbedder, {}),
        (evimem.Calibration.from_json, {"text": "{}"}),
    ],
    ids=lambda value: getattr(value, "__qualname__", ""),
)  # fmt: skip
def test_a_constructor_raises_nothing_but_typed_errors(make, valid, folder, judged):
    for name, value in product(valid, share(VALUES, 9, make.__qualname__)):
        given_ = valid | {name: value()}
        with judged.call(make.__qualname__, given_):
            made = make(**given_)
            if make is MemoryPool:
                with made, made.open("mira") as memory:
                    memory.stats()


def test_a_text_that_is_no_trace_is_a_value_error():
    for value in VALUES:
        with pytest.raises((ValueError, OwnError)):
            Trace.from_json(value())


def test_a_message_shows_what_was_given_and_not_all_of_it():
    """An id is shown whole; what cannot be printed, or is long, is shown in part and at once."""
    assert shown("c2a5ff5f515df0d4a33d7bf7804794-12") == "'c2a5ff5f515df0d4a33d7bf7804794-12'"
    assert (shown(7), shown(None), shown(["a", 1.5]), shown(NOON.date())) == (
        "7", "None", "['a', 1.5]", "datetime.date(2024, 3, 12)",
    )  # fmt: skip
    assert shown("x" * 99) == f"'{'x' * 59}..."
    assert shown(HUGE) == f"<a whole number of {HUGE.bit_length()} bits>"
    for value in (b"x" * 10**7, bytearray(10**7), "x" * 10**7, [b"x" * 10**7], DEEP_LIST, within_itself(), Raising()):
        assert len(shown(value)) <= 63
