"""Rules of the house that floors do not show: layers apart, async at the edge, small classes, word lists as data."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import evimem

from .house import House, entry, tree

ROOT = Path(evimem.__file__).parent
HOUSE = House(ROOT, {})
PATHS = sorted(ROOT.rglob("*.py"))
LAYERS = ("raw", "index", "edges")
MOST_LINES = 150
LARGER = {  # a class over 150 lines, and why it may be
    "StoreHandle": "the layers, the counters of commits, and the caches that follow from both",
    "RawLog": "one short method for each way to find and to read turns",
    "Memory": "one short method for each public verb, with its whole documentation",
    "AsyncMemory": "one short method for each verb of Memory, and what an event loop needs",
    "Core": "one flow for each verb of both doors, and the facts that are read when they are first needed",
    "MemoryPool": "two ways to open, one to erase, and what a fork and an interrupt need, documented",
    "Leases": "all that decides who has a place: granting, lending, evicting and ending depend on each other",
    "Corpus": "the columns, and what keeps their links, postings and counts in step",
    "Segments": "one format, written and read in one place",
    "Jobs": "one method for each thing that is asked of the queue",
    "Connection": "one method for each way to use SQLite safely",
    "PostgresConnection": "the same methods for a server",
    "ConnectionPool": "one queue: who waits, who has a connection, and a server that takes no more belong together",
    "Tables": "what an engine is asked for, and what all engines do alike",
    "SessionAligner": "one short method for each rule by which a list continues a session",
    "Remembering": "the steps of one call, which share what was decided and what is stored",
    "OpenAI": "every setting is an argument of its constructor",
}
FRAMEWORKS = {
    "mcp", "uvicorn", "agents", "langchain_core", "langgraph", "pydantic_ai", "llama_index", "opentelemetry",
    "google", "agent_framework", "starlette", "jinja2", "httpx2",
}  # fmt: skip
FEW_WORDS = 8  # words in one literal: more of them are a list, and lists are data of a language
CODE_WORDS = {  # literals of many words that are code, not knowledge of a language, and what they are
    ("arguments.py", "demo"): "names of commands",
    ("evidence.py", "sufficiency"): "the parts of a loop that can be switched off",
    ("chat_messages.py", "arguments"): "keys of messages",
    ("chat_messages.py", "role"): "keys of messages",
    ("check.py", "turn"): "tables",
    ("erase.py", "edge"): "tables",
    ("evidence.py", "time"): "the forms of an answer",
    ("find_times.py", "fr"): "codes of languages",
    ("readers.py", "date"): "kinds of meaning",
    ("forms.py", "figures"): "names of slots",
    ("page.py", "answer"): "styles of printed text",
    ("results.py", "added"): "outcomes of a turn",
    ("terms.py", "ement"): "suffixes that the Porter algorithm removes",
    ("values.py", "entity"): "kinds of gap",
    ("observer.py", "add"): "names of calls",
    ("values.py", "minute"): "granularities of a time span",
    ("tagging.py", "at"): "endings of stems that lost a mute e",
}


def words_in_literal(node: ast.AST) -> list[str]:
    """The words of a set, tuple or list of strings, or of a string that is split at once."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
        text = node.func.value
        return text.value.split() if isinstance(text, ast.Constant) and isinstance(text.value, str) else []
    if isinstance(node, (ast.Set, ast.Tuple, ast.List)):
        found = [one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        return found if len(found) == len(node.elts) else []
    return []


def classes() -> list[tuple[str, str, int]]:
    """Every class of the package: the file, its name, its lines."""
    found = []
    for path in PATHS:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                found.append((path.name, node.name, (node.end_lineno or 0) - node.lineno + 1))
    return found


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_does_not_import_another(layer: str) -> None:
    others = {*LAYERS} - {layer}
    assert [str(one) for one in HOUSE.imports if entry(one.importer) == layer and entry(one.imported) in others] == []


def test_three_modules_import_the_sqlite_library() -> None:
    users = [path.name for path in PATHS if "import apsw" in path.read_text(encoding="utf-8")]
    assert users == ["connection.py", "encryption.py", "still_view.py"]


def imported(path: Path) -> set[str]:
    """The packages that a module imports, wherever the import stands."""
    nodes = [node for node in ast.walk(tree(path)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.partition(".")[0] for name in names}


def test_the_protocol_of_a_framework_is_spoken_by_one_module_each() -> None:
    assert [path.name for path in PATHS if "mcp" in imported(path)] == ["mcp_server.py"]
    adapters = {path.relative_to(ROOT).parts[0] for path in PATHS if imported(path) & FRAMEWORKS}
    assert adapters <= {"adapters", "pages", "server"}


def test_async_lives_in_the_doors_and_at_the_far_end() -> None:
    def is_async(path: Path) -> bool:
        return any(isinstance(node, ast.AsyncFunctionDef) for node in ast.walk(tree(path)))

    found = {path.relative_to(ROOT).parts[0] for path in PATHS if is_async(path)}
    assert found <= {"flow.py", "api", "protocols.py", "openai", "testing.py", "adapters", "pages", "server"}


def test_only_the_command_line_prints_and_reads_the_environment() -> None:
    def offends(path: Path) -> bool:
        names = {node.id for node in ast.walk(tree(path)) if isinstance(node, ast.Name)}
        attributes = {node.attr for node in ast.walk(tree(path)) if isinstance(node, ast.Attribute)}
        return "print" in names or bool(attributes & {"environ", "getenv"})

    allowed = {"cli", "__main__.py", "testing.py"}
    assert [path for path in PATHS if offends(path) and path.relative_to(ROOT).parts[0] not in allowed] == []


def test_nothing_is_unpickled() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in PATHS)
    assert [word for word in ("pickle", "joblib", "allow_pickle", "eval(", "exec(") if f"import {word}" in text] == []
    assert "allow_pickle=True" not in text


def test_no_class_is_long_without_a_reason() -> None:
    long = {name for _, name, lines in classes() if lines > MOST_LINES}
    assert long - set(LARGER) == set()
    assert set(LARGER) - long == set(), "it is short now: take it out of the list"


def test_word_lists_are_data_of_a_language() -> None:
    found = []
    for path in PATHS:
        for node in ast.walk(tree(path)):
            words = words_in_literal(node)
            plain = [word for word in words if word.isalpha() and word.islower()]
            if len(plain) >= FEW_WORDS and (path.name, plain[0]) not in CODE_WORDS:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno} {' '.join(plain[:6])} ...")  # type: ignore[attr-defined]
    assert found == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('frozenset("one two three".split())', 3), ('{"one", "two"}', 2), ('("one", two)', 0), ("line.split()", 0),
    ],
)  # fmt: skip
def test_a_list_of_words_is_seen_however_it_is_written(text: str, words: int) -> None:
    assert max(len(words_in_literal(node)) for node in ast.walk(ast.parse(text))) == words


def test_public_names_are_those_of_the_package_and_documented() -> None:
    assert evimem.__all__ == sorted(evimem.__all__)
    assert {name for name in vars(evimem) if name[0].isupper()} <= set(evimem.__all__)
    for name in evimem.__all__:
        assert getattr(evimem, name).__doc__, name


def test_importing_loads_no_model_no_extra_and_no_network() -> None:
    heavy = ("openai", "spacy", "dateparser", "hnswlib", "http.client", "rank_bm25", *FRAMEWORKS)
    code = f"import sys; from evimem import *; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_module_opens_with_what_it_is() -> None:
    assert [path for path in PATHS if not ast.get_docstring(tree(path))] == []


def test_a_bare_import_brings_nothing_heavy_and_no_name_hides_behind_a_module() -> None:
    modules = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in PATHS}
    assert not modules & set(evimem.__all__)
    done = subprocess.run(
        [sys.executable, "-c", "import sys, evimem; print(*{'numpy', 'asyncio', 'apsw'} & set(sys.modules))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == []
