"""An import takes what an export wrote, and nothing else: any other file is refused by line, and leaves nothing."""

import json
import os
import tracemalloc
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import evimem
from evimem import ImportFailed, InvalidTurn, StoreError, Turn
from evimem.extract.rule_extractor import MAX_FACTS, MAX_PART, BoundedExtractor
from evimem.extract.statements import fact_id
from evimem.ingest import import_file
from evimem.ingest.import_file import MAX_LINE
from evimem.raw.validate import MAX_TEXT
from tests.sizes import REDUCED

from .support.children import killed_after
from .support.tables import differences, dump
from .support.world import NOON, SayingExtractor, open_memory, said

Lines = list[Any]
TEXTS = (
    "I adopted a puppy last Friday.",
    "My sister moved to Porto in 2021, and I sold the car.",
    "I might visit Norway in June!",
    "What about you?",
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The lines of an export with facts, events, a caption and metadata, as JSON values."""
    folder = tmp_path_factory.mktemp("exported")
    with evimem.open(folder / "m.evimem") as memory:
        for number, text in enumerate(TEXTS):
            time = NOON + timedelta(minutes=number)
            memory.add("Mira", text, time=time, session="s1", id=f"t{number}", metadata={"n": number})
        memory.add("Tomas", "Look.", time=NOON, session="s1", id="t9", caption="a photo of a red kite", role="user")
        memory.export(folder / "m.jsonl")
    return [json.loads(line) for line in (folder / "m.jsonl").read_bytes().splitlines()]


def facts_of(lines: Lines, number: int = 1) -> list[dict[str, Any]]:
    facts: list[dict[str, Any]] = lines[number]["facts"]
    return facts


def written(path: Path, lines: Lines) -> Path:
    path.write_bytes(b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def into(tmp_path_factory):
    """A memory that holds a turn, and that every refused import leaves as it was."""
    with open_memory(tmp_path_factory.mktemp("into") / "into.evimem") as memory:
        memory.extend([said(1)])
        memory.enrich()
        yield memory


@pytest.fixture
def unchanged(into):
    before = dump(into)
    yield into
    assert differences(dump(into), before) == [], "a refused import left something behind"


def nested(levels: int) -> bytes:
    return b'{"turn":' + b"[" * levels + b"]" * levels + b',"facts":[]}\n'


def renamed(fact: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a fact with other content and the id of that content, as a forger would write it."""
    fact = {**fact, **changes}
    parts = (
        fact["turn_id"],
        fact["extractor"],
        tuple(fact["span"]),
        *(fact[n] for n in ("subject", "predicate", "object")),
    )
    return {**fact, "id": fact_id(*parts)}


def change(lines: Lines, **changes: Any) -> None:
    """Change the first fact, and its id with it."""
    facts_of(lines)[0].update(renamed(facts_of(lines)[0], **changes))


def many(fact: dict[str, Any], count: int) -> list[dict[str, Any]]:
    return [renamed(fact, object=f"kite {number}") for number in range(count)]


CASES: dict[str, tuple[Callable[[Lines], object], str]] = {
    "a span outside the turn": (lambda x: change(x, span=[3, 999]), "line 2: fact 1.* span"),
    "a span that is empty": (lambda x: change(x, span=[3, 3]), "line 2: fact 1.* span"),
    "a span of one number": (lambda x: facts_of(x)[0].update(span=[3]), "line 2: the span of fact 1 is .*expected two"),
    "a huge span": (lambda x: facts_of(x)[0].update(span=[0, 10**15]), "line 2: the span of fact 1"),
    "a fact of another turn": (
        lambda x: change(x, turn_id="t2"),
        "line 2: fact 1: its turn_id is 't2'; expected .*'t0'",
    ),
    "a fact with a made-up id": (lambda x: facts_of(x)[0].update(id="f" * 32), "line 2: fact 1: its id .*expected"),
    "a fact with other words than its id": (lambda x: facts_of(x)[0].update(object="kite"), "line 2: fact 1: its id"),
    "one fact twice": (lambda x: facts_of(x).append(facts_of(x)[0]), "line 2: one fact twice"),
    "too many facts": (
        lambda x: facts_of(x).extend(many(facts_of(x)[0], MAX_FACTS)),
        f"line 2: facts is a list of .* at most {MAX_FACTS}",
    ),
    "an object of 3 MB": (
        lambda x: change(x, object="k" * 3_000_000),
        f"line 2: fact 1: its object has 3000000 characters; expected at most {MAX_PART}",
    ),
    "an extractor with a surrogate": (
        lambda x: change(x, extractor="\ud800"),
        "line 2: fact 1: its extractor",
    ),
    "an event of another kind": (lambda x: facts_of(x)[0].update(event=[]), "line 2: event of fact 1 is a list"),
    "an event that ends before it starts": (
        lambda x: facts_of(x)[0].update(event={**EVENT, "start": "2025-01-01T00:00"}),
        "line 2: fact 1: its event ends",
    ),
    "an event with offsets among naive times": (
        lambda x: facts_of(x)[0].update(event={**EVENT, "end": "2024-03-09T00:00+00:00"}),
        "line 2: fact 1: .*offset",
    ),
    "an event that is no time": (
        lambda x: facts_of(x)[0].update(event={**EVENT, "start": "soon"}),
        "line 2: start of the event of fact 1 is 'soon'; expected",
    ),
    "an event of no known granularity": (
        lambda x: facts_of(x)[0].update(event={**EVENT, "granularity": "fortnight"}),
        "line 2: fact 1: the granularity .*fortnight",
    ),
    "a fact that is a number": (lambda x: facts_of(x).append(7), "line 2: fact .* is 7; expected an object"),
    "facts that are null": (lambda x: x[1].update(facts=None), "line 2: facts is None; expected a list"),
    "no facts": (lambda x: x[1].pop("facts"), "line 2: the line has no facts"),
    "no turn": (lambda x: x[1].pop("turn"), "line 2: the line has no turn"),
    "a turn without an id": (lambda x: x[1]["turn"].pop("id"), "line 2: the turn has no id"),
    "a turn with an empty id": (lambda x: x[4].update(turn={**x[4]["turn"], "id": ""}, facts=[]), "line 5: turn ''"),
    "a turn without a time": (lambda x: x[1]["turn"].pop("time"), "line 2: the turn has no time"),
    "a time that is none": (lambda x: x[1]["turn"].update(time="yesterday"), "line 2: .*'yesterday'; expected"),
    "an aware time among naive ones": (
        lambda x: x[4]["turn"].update(time="2024-03-12T12:00:00+01:00"),
        "line 5: turn 't3' has a time with a UTC offset; expected one without",
    ),
    "a text that is a number": (lambda x: x[1]["turn"].update(text=7), "line 2: text of the turn is 7"),
    "a text of more than a mebibyte": (
        lambda x: x[1]["turn"].update(text=x[1]["turn"]["text"] + "k" * MAX_TEXT),
        "line 2: text of turn 't0'",
    ),
    "no text": (lambda x: x[4].update(turn={**x[4]["turn"], "text": ""}, facts=[]), "line 5: turn 't3' has neither"),
    "a role that is none": (lambda x: x[1]["turn"].update(role="admin"), "line 2: role is 'admin'"),
    "metadata of a mebibyte": (lambda x: x[1]["turn"].update(metadata={"k": "x" * MAX_TEXT}), "line 2: .*of metadata"),
    "metadata with infinity": (
        lambda x: x.__setitem__(1, json.dumps(x[1]).encode().replace(b'"n": 0', b'"n": 1e999') + b"\n"),
        "line 2: not JSON",
    ),
    "metadata with NaN": (lambda x: x[1]["turn"].update(metadata={"n": float("nan")}), "line 2: not JSON"),
    "metadata with a surrogate": (lambda x: x[1]["turn"].update(metadata={"n": "\ud800"}), "line 2: metadata of"),
    "an unknown field": (lambda x: x[1]["turn"].update(mood="good"), "line 2: the turn has the unknown field 'mood'"),
    "a fact that is replaced": (lambda x: facts_of(x)[0].update(replaced_by="x"), "unknown field 'replaced_by'"),
    "one id twice": (lambda x: x.__setitem__(2, deepcopy(x[1])), "line 3: turn 't0' for the second time"),
    "a line that is a list": (lambda x: x.__setitem__(2, [1, 2]), "line 3: the line is a list of 2 entries"),
    "a line that is not UTF-8": (lambda x: x.insert(2, b'{"turn": "\xff"}\n'), "line 3: not JSON"),
    "a line of deep lists": (lambda x: x.insert(2, nested(100_000)), "line 3: not JSON"),
    "a line that is too long": (lambda x: x.insert(2, b" " * (MAX_LINE + 9) + b"{}\n"), "line 3: longer than"),
    "no header": (lambda x: x.pop(0), "line 1: .*expected the header"),
    "a header of another format": (lambda x: x.__setitem__(0, {"evimem": 2}), "line 1: .*expected the header"),
    "no end": (lambda x: x.pop(), "line 6: the file is cut short after it, with 5 turns; expected a last line"),
    "a wrong end": (lambda x: x[-1].update(end=4), "line 7: an end of 4 after 5 turns"),
    "a line after the end": (lambda x: x.append({"end": 5}), "line 8: a line after the end"),
    "an empty file": (lambda x: x.clear(), "line 0: the file is cut short"),
}  # fmt: skip
EVENT = {"start": "2024-03-08T00:00:00", "end": "2024-03-09T00:00:00", "granularity": "day", "text": "last Friday"}


@pytest.mark.parametrize("case", CASES)
def test_a_malformed_export_is_refused_by_line_and_leaves_nothing(disk, exported, unchanged, case):
    lines = deepcopy(exported)
    damage, says = CASES[case]
    damage(lines)
    with pytest.raises(ImportFailed, match=says) as caught:
        unchanged.import_(written(disk / "m.jsonl", lines))
    assert "m.jsonl" in str(caught.value)
    assert len(str(caught.value)) < 500, "a message repeats what it was given"


@pytest.mark.parametrize(
    "words",
    [
        {"object": "Paris"},
        {"subject": "Nadia Corvin"},
        {"object": "7 puppies"},
        {"object": "Paris", "extractor": "another"},
    ],
    ids=str,
)
def test_a_fact_whose_words_stand_nowhere_is_left_out(disk, exported, words):
    """They may have been words of a turn before it that was forgotten: the rest of the export is good."""
    lines = deepcopy(exported)
    facts_of(lines)[0].update(renamed(facts_of(lines)[0], **{"extractor": "llm", **words}))
    with open_memory(disk / "into.evimem") as memory:
        assert memory.import_(written(disk / "m.jsonl", lines)).added == 5
        told = {fact.id for turn in memory.turns() for fact in memory.facts([turn.id])}
    wanted = {fact["id"] for number in range(1, 6) for fact in facts_of(lines, number)}
    assert told == wanted - {facts_of(lines)[0]["id"]}


def test_a_fact_whose_words_stand_in_the_turns_before_is_imported(disk, exported):
    """A model reads a turn with those before it: "she moved there" is a fact about the sister and the town."""
    lines = deepcopy(exported)
    fact = renamed(facts_of(lines)[0], subject="Mira's sister", object="Porto", extractor="llm", turn_id="t2")
    facts_of(lines, 3)[:] = [renamed(fact, span=[0, 5])]
    with open_memory(disk / "into.evimem") as memory:
        memory.import_(written(disk / "m.jsonl", lines))
        assert [one.object for one in memory.facts(["t2"])] == ["Porto"]


def test_facts_of_the_callers_own_extractor_are_taken_at_their_word(disk, exported):
    lines = deepcopy(exported)
    change(lines, object="Paris", extractor=SayingExtractor.name)
    with open_memory(disk / "into.evimem") as memory:  # its extractor says so itself
        memory.import_(written(disk / "m.jsonl", lines))
        assert "Paris" in [one.object for one in memory.facts(["t0"])]


def test_a_bad_last_line_leaves_nothing_of_the_batches_before_it(disk, unchanged, monkeypatch):
    monkeypatch.setattr(import_file, "BATCH_TURNS", 8)
    with open_memory(disk / "from.evimem") as memory:
        memory.extend(said(number) for number in range(60))
        memory.export(disk / "m.jsonl")
    lines = (disk / "m.jsonl").read_bytes().splitlines(keepends=True)
    (disk / "m.jsonl").write_bytes(b"".join([*lines[:-2], lines[-2].replace(b'"text"', b'"txet"'), lines[-1]]))
    with pytest.raises(ImportFailed, match=f"line {len(lines) - 1}: "):
        unchanged.import_(disk / "m.jsonl")


def test_whatever_is_exported_is_imported_as_it_was(disk):
    class Verbose(SayingExtractor):
        """As many and as long facts as may be kept."""

        def extract(self, turn: Turn) -> tuple[evimem.Fact, ...]:
            (one, *_) = super().extract(turn)
            facts = [
                {"subject": "\U0001f469" * MAX_PART, "object": f"{number} \ud800"} for number in range(2 * MAX_FACTS)
            ]
            return tuple(_fact(turn, one.span, **fact) for fact in facts)

    whole = Turn(
        "t", "s", "Mira", "a\x01" * (MAX_TEXT // 4), NOON, "c" * (MAX_TEXT // 4), metadata={"k": "\x01" * 9_999}
    )
    with open_memory(disk / "from.evimem") as memory:
        memory._core.extractor = BoundedExtractor(Verbose())
        memory.extend([whole], strict=True)
        memory.export(disk / "m.jsonl")
        before = memory.facts(["t"])
    with open_memory(disk / "into.evimem") as memory:
        assert memory.import_(disk / "m.jsonl").added == 1
        assert memory.turn("t").text == whole.text
        assert memory.facts(["t"]) == before
        assert len(before) == MAX_FACTS


def _fact(turn: Turn, span: tuple[int, int], subject: str, object: str) -> evimem.Fact:
    identity = fact_id(turn.id, "says", span, subject, "is", object)
    return evimem.Fact(identity, turn.id, subject, "is", object, None, span, "state", "says")


def test_metadata_counts_in_the_size_of_a_turn(disk):
    with open_memory(disk / "m.evimem") as memory:
        with pytest.raises(InvalidTurn, match="of metadata"):
            memory.add("Mira", "Hello.", time=NOON, metadata={"k": "x" * MAX_TEXT})
        memory.add("Mira", "Hello.", time=NOON, metadata={"k": "x" * (MAX_TEXT - 100)})


def test_an_import_takes_room_for_a_batch_and_not_for_the_file(disk, monkeypatch):
    monkeypatch.setattr(import_file, "BATCH_TURNS", 4)
    with open_memory(disk / "from.evimem") as memory:
        memory.extend(Turn(f"t{n}", "s", "Mira", f"{n} " + "x" * 20_000, NOON) for n in range(140))
        memory.export(disk / "m.jsonl")
    size = (disk / "m.jsonl").stat().st_size
    with open_memory(disk / "into.evimem", segment=64) as memory:  # to seal 2,048 rows takes 1 MB, once in any file
        tracemalloc.start()
        try:
            memory.import_(disk / "m.jsonl")
            taken = tracemalloc.get_traced_memory()[1]
            assert taken < size, "the whole file is held"
        finally:
            tracemalloc.stop()
        assert memory.stats().turns == 140


def test_a_killed_import_leaves_whole_turns_and_repeating_it_completes_them(disk, monkeypatch):
    monkeypatch.setattr(import_file, "BATCH_TURNS", 8)
    with open_memory(disk / "from.evimem") as memory:
        memory.extend(said(number) for number in range(60))
        memory.export(disk / "m.jsonl")

    def work(send: Callable[[Any], None]) -> None:
        with open_memory(disk / "into.evimem") as memory:
            memory.import_(disk / "m.jsonl", progress=send)

    killed_after(0.0, work)
    with open_memory(disk / "into.evimem") as memory:
        there = memory.stats().turns
        assert 0 < there <= 60
        report = memory.import_(disk / "m.jsonl")
        assert (report.existing, report.added, report.refused) == (there, 60 - there, 0)
        assert memory.check().problems == ()


def test_a_file_that_changes_while_it_is_imported_is_refused(disk, monkeypatch):
    monkeypatch.setattr(import_file, "BATCH_TURNS", 8)
    with open_memory(disk / "from.evimem") as memory:
        memory.extend(said(number) for number in range(60))
        memory.export(disk / "m.jsonl")
    with (
        open_memory(disk / "into.evimem") as memory,
        pytest.raises(ImportFailed, match="was changed while it was read"),
    ):
        memory.import_(disk / "m.jsonl", progress=lambda turns: (disk / "m.jsonl").write_bytes(b"{}"))


@pytest.mark.parametrize("what", ["itself", "another memory", "text", "folder", "pipe", "nothing", "nul"])
def test_a_path_that_holds_no_export_is_refused_at_once(disk, unchanged, what):
    paths = {"itself": unchanged.stats().path, "nul": disk / "a\0b"}
    path = paths.get(what, disk / what)
    if what == "another memory":
        open_memory(path).close()
    elif what == "text":
        path.write_text("Dear diary")
    elif what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    with pytest.raises(ImportFailed):
        unchanged.import_(path)


def test_an_export_never_takes_the_place_of_what_is_no_file(disk, unchanged):
    os.mkfifo(disk / "pipe")
    (disk / "folder").mkdir()
    itself = unchanged.stats().path
    for path in (disk / "pipe", disk / "folder", disk / "a\0b", disk / "none" / "m.jsonl", itself):
        with pytest.raises(StoreError):
            unchanged.export(path)
    assert (disk / "pipe").is_fifo()


# Property: whatever becomes of an export, the import is refused or does what a whole export says.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value inside a JSON value."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def at(lines: Lines, path: tuple[Any, ...]) -> Any:
    for key in path:
        lines = lines[key]
    return lines


def rename(holder: Any, key: Any, name: str) -> None:
    if isinstance(holder, dict):
        holder[name] = holder.pop(key)
    else:
        holder.insert(key, deepcopy(holder[key]))


def cut(value: Any, share: float) -> Any:
    return value[: int(share * len(value))] if isinstance(value, (str, list)) else None


def mutated(data: st.DataObject, lines: Lines) -> Lines:
    """Return lines in which up to three values were dropped, replaced, nested, swapped, renamed, repeated or cut."""
    lines = deepcopy(lines)
    for _ in range(data.draw(st.integers(1, 3))):
        ways = list(places(lines))
        path, other = data.draw(st.sampled_from(ways)), data.draw(st.sampled_from(ways))
        holder, key, value = at(lines, path[:-1]), path[-1], at(lines, path)
        how: dict[str, Callable[[], object]] = {
            "drop": lambda holder=holder, key=key: holder.__delitem__(key),
            "replace": lambda holder=holder, key=key: holder.__setitem__(key, data.draw(JSON)),
            "nest": lambda holder=holder, key=key, value=value: holder.__setitem__(key, [value, {"": value}]),
            "swap": lambda holder=holder, key=key, other=other: holder.__setitem__(key, deepcopy(at(lines, other))),
            "rename": lambda holder=holder, key=key: rename(holder, key, data.draw(st.text(max_size=8))),
            "cut": lambda holder=holder, key=key, value=value: holder.__setitem__(
                key, cut(value, data.draw(st.floats(0, 1)))
            ),
        }
        how[data.draw(st.sampled_from(sorted(how)))]()
        if not lines:
            break
    return lines


@settings(max_examples=10 if REDUCED else 150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_mutated_export_is_refused_or_gives_facts_that_stand_in_their_turns(tmp_path_factory, exported, data):
    disk = tmp_path_factory.mktemp("mutated")
    content = b"".join(json.dumps(line).encode() + b"\n" for line in mutated(data, exported))
    if data.draw(st.integers(0, 9)) == 0:
        content = content[: data.draw(st.integers(0, len(content)))]
    (disk / "m.jsonl").write_bytes(content)
    with open_memory(disk / "into.evimem") as memory:
        before = dump(memory)
        try:
            memory.import_(disk / "m.jsonl")
        except ImportFailed:
            assert differences(dump(memory), before) == [], "a refused import left something behind"
        for turn in memory.turns():
            for fact in memory.facts([turn.id]):
                source = turn.caption if fact.kind == "image" else turn.text
                assert source is not None
                assert 0 <= fact.span[0] < fact.span[1] <= len(source), "a fact that stands nowhere was stored"
