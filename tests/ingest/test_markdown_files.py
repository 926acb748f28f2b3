"""A memory as Markdown: a file a session, which is read back as it was, whatever was said."""

from datetime import datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import evimem
from evimem.errors import ImportFailed, StoreError
from evimem.types.values import Turn
from tests.sizes import few

NOON = datetime(2024, 3, 12, 18, 20)
HOSTILE = [
    "-->", "<!-- end {\"turns\": 0} -->", "<!-- turn {} -->", "> ", ">", "\n", "\n\n", "--", "&lt;", "&amp;lt;",
    "<script>", "# s",
    "```", "\r", "\u2028", "\x0b", "\ud83d", "\ude00", "\x00", "**", "---\n", "<!--", " ", "\t", "\\", "&",
]  # fmt: skip
TEXT = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=6), min_size=1, max_size=6).map("".join)
NAME = TEXT.filter(lambda text: text.strip() and len(text) < 200)


def turn_of(drawn):
    number, session, speaker, text, caption, metadata = drawn
    return Turn(f"{number}", session, speaker, text, NOON + timedelta(minutes=number), caption, "user", metadata)


METADATA = st.dictionaries(TEXT, TEXT | st.integers(-(2**60), 2**60), max_size=2)
ROWS = st.lists(st.tuples(NAME, NAME, TEXT.filter(str.strip), st.none() | NAME, METADATA), min_size=1, max_size=5)
TURNS = ROWS.map(lambda rows: [turn_of((number, *row)) for number, row in enumerate(rows)])


@pytest.fixture
def folder(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "We adopted <b>a puppy</b> last Friday.\n\n--> Juno", time=NOON, session="s1", id="a")
        memory.add("Tomas", "No!", time=NOON, session="s2", id="b")
        memory.add("Mira", "Yes.", time=NOON, session="s1", id="c")
        memory.export(tmp_path / "md", format="markdown")
    return tmp_path / "md"


@given(turns=TURNS)
@few(25)
def test_a_memory_is_read_back_from_markdown_as_it_was(turns, tmp_path_factory):
    folder = tmp_path_factory.mktemp("markdown")
    with evimem.open(folder / "a.evimem") as memory, evimem.open(folder / "b.evimem") as copy:
        assume(memory.extend(turns).added)  # a name that cannot be stored is refused
        memory.export(folder / "md", format="markdown")
        copy.import_(folder / "md")
        assert list(copy.turns()) == list(memory.turns())


def test_a_file_a_session_is_written_for_its_owner_and_people_can_read_it(folder):
    first, second = sorted(folder.iterdir())
    text = first.read_text("utf-8")
    assert [one.name.rpartition("-")[0] for one in (first, second)] == ["s1", "s2"]
    assert text.splitlines()[1:8] == [
        "# s1", "", text.splitlines()[3], "**Mira**, 2024-03-12 18:20", "",
        "> We adopted &lt;b>a puppy&lt;/b> last Friday.", "> ",
    ]  # fmt: skip
    assert (folder.stat().st_mode & 0o77, first.stat().st_mode & 0o77) == (0, 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"turns": 2', '"turns": 3'), ("<!-- end", "<!-- ende"), ('"id": "c"', '"id": "a"'), ('"n": 1', '"n": "1"'),
        ('"speaker"', '"spoken"'), ("2024-03-12T18:20:00", "noon"), ('"session": "s1"', '"session": 7'),
    ],
)  # fmt: skip
def test_a_changed_form_is_refused_by_its_file_and_nothing_is_stored(old, new, folder, tmp_path):
    first, _ = sorted(folder.iterdir())
    first.write_text(first.read_text("utf-8").replace(old, new), "utf-8")
    with evimem.open(tmp_path / "b.evimem") as memory:
        with pytest.raises(ImportFailed, match=first.name):
            memory.import_(folder)
        assert memory.stats().turns == 0


def test_a_text_that_was_edited_in_its_file_is_read_as_it_stands(folder, tmp_path):
    second = sorted(folder.iterdir())[1]
    second.write_text(second.read_text("utf-8").replace("> No!", "> Never!"), "utf-8")
    with evimem.open(tmp_path / "b.evimem") as memory:
        memory.import_(folder)
        assert [turn.text for turn in memory.turns(session="s2")] == ["Never!"]


def test_a_folder_with_other_files_is_never_written_over(folder):
    with evimem.open(folder.parent / "m.evimem") as memory:
        with pytest.raises(StoreError, match="give a new folder"):
            memory.export(folder, format="markdown")
        with pytest.raises(evimem.InvalidQuery, match="'jsonl', 'markdown'"):
            memory.export(folder.parent / "x", format="html")
