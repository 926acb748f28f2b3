"""How large the package is, how plainly it reads and how far its calls walk: python -m benchmarks.house [--files].

Counted without `evimem/server` and `evimem/pages` where a row does not say "whole". A statement is no import and no
docstring; prose is docstrings and comments. `--files` lists the files of each walk.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tempfile
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import evimem
from evimem.loaders.examples import load_example
from evimem.testing import ScriptedModel

from .recording import add_result, record
from .scoring.result_file import Cell, ResultTable
from .walks import ROOT, Walk, turn_walk, walk

NEW_ROOMS = ("server", "pages")
PARTICIPLE = re.compile(
    r"_?[a-z]{2,}(ed|told|said|held|kept|made|found|read|known|taken|given|shown|written)"  # as shape.py counts them
)
VAGUE = {"nobody", "others", "whoever"}
QUESTION = "When did Mira start playing the cello?"
VERDICT = """{"tier": "exact", "confidence": 0.9, "gaps": [], "next_query": "", "reason": "", "requirements": [
{"id": "r1", "status": "supported", "evidence": ["e1"], "why": ""}]}"""
ANSWER = '{"answer": "In March.", "citations": [{"id": "e1", "quote": ""}]}'
GOALS = {
    "statements": 17_000, "constants": 600, "one-word number constants": 0, "bare participles": 30,
    "what per 1,000 words": 1.0, "nobody, others, whoever per 1,000 words": 0.6, "files, ask offline": 42,
    "files, ask with a model": 45, "files, block": 34, "files, add": 30, "files, search": 30,
    "frames between Memory.ask and the loop": 5, "calls up an ask": 15,
}  # fmt: skip


def package_files(root: Path = ROOT) -> list[Path]:
    """Return the modules that are counted, sorted by path."""
    return [path for path in sorted(root.rglob("*.py")) if path.relative_to(root).parts[0] not in NEW_ROOMS]


def count(texts: Mapping[Path, str]) -> dict[str, float]:
    """Count statements, constants, function names and words of prose over the source texts of modules."""
    trees = {path: ast.parse(text) for path, text in texts.items()}
    words = [word for path, text in texts.items() for word in _prose(trees[path], text)]
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    constants = [one for tree in trees.values() for one in module_constants(tree)]
    per_thousand = 1000 / max(1, len(words))
    return {
        "statements": sum(map(_is_statement, nodes)),
        "constants": len(constants),
        "one-word number constants": sum("_" not in name.strip("_") and _is_number(value) for name, value in constants),
        "bare participles": sum(is_participle(node) for node in nodes),
        "what per 1,000 words": round(words.count("what") * per_thousand, 1),
        "nobody, others, whoever per 1,000 words": round(sum(word in VAGUE for word in words) * per_thousand, 1),
    }


def module_constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the name and value of each module constant: a name in capitals that is assigned at the top of a module."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and target.id.lstrip("_").isupper():
                    yield target.id, node.value


def is_participle(node: ast.AST) -> bool:
    """Say whether a node defines a function that is named by a bare participle, as `joined`."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and bool(PARTICIPLE.fullmatch(node.name))


def _is_statement(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return isinstance(node, ast.stmt) and not isinstance(node, ast.Import | ast.ImportFrom) and not is_text


def _is_number(node: ast.expr | None) -> bool:
    return node is not None and all(
        isinstance(part, ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop)
        or (isinstance(part, ast.Constant) and isinstance(part.value, int | float))
        for part in ast.walk(node)
    )


def _prose(tree: ast.Module, text: str) -> list[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    parts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    parts += [token.string for token in tokens if token.type == tokenize.COMMENT]
    return re.findall(r"[A-Za-z']+", " ".join(parts).lower())


def call_walks(folder: Path) -> dict[str, Walk]:
    """Return the walk of each kind of call, made for the second time on a memory in use."""
    with evimem.open(folder / "m.evimem") as memory:
        memory.extend(load_example("friends"))
        judged = evimem.open(
            folder / "judged.evimem",
            llm=ScriptedModel(then=lambda request: VERDICT if '"tier"' in request.text else ANSWER),
        )
        with judged:
            judged.extend(load_example("friends"))
            calls: dict[str, Callable[[], Any]] = {
                "ask offline": lambda: memory.ask(QUESTION),
                "ask with a model": lambda: judged.ask(QUESTION),
                "block": lambda: memory.block(QUESTION),
                "search": lambda: memory.search(QUESTION),
            }
            found = {}
            for name, call in calls.items():
                call()
                found[name] = walk(call)
    return {**found, "add": turn_walk()}


@dataclass
class Stacks:
    """The frames that one `ask` enters: how deep the loop lies, and calls from a lower floor to a higher one."""

    floors: Mapping[str, int]
    frames_to_loop: int = 0
    calls_up: int = 0

    def measure(self, act: Callable[[], Any]) -> None:
        """Do something in this thread and count its frames; a generator that is resumed is entered once."""
        seen: set[FrameType] = set()  # holds the frames, so that none gets the identity of an earlier one

        def note(frame: FrameType, event: str, argument: Any) -> None:
            if event != "call" or frame in seen or not _is_ours(frame):
                return
            seen.add(frame)
            above = list(_callers(frame))
            self.calls_up += bool(above) and self._floor(frame) > self._floor(above[0])
            if not self.frames_to_loop and frame.f_code.co_name == "find":
                self.frames_to_loop = len(above) - 1  # the outermost frame is that of `Memory.ask`

        sys.setprofile(note)
        try:
            act()
        finally:
            sys.setprofile(None)

    def _floor(self, frame: FrameType) -> int:
        return self.floors[_entry(frame)]


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(str(ROOT)) and frame.f_code.co_name != "<module>"


def _callers(frame: FrameType) -> Iterator[FrameType]:
    above = frame.f_back
    while above is not None:
        if _is_ours(above):
            yield above
        above = above.f_back


def _entry(frame: FrameType) -> str:
    return Path(frame.f_code.co_filename).relative_to(ROOT).parts[0].removesuffix(".py")


def floor_table() -> dict[str, int]:
    """Read the floor of each entry of the package from ARCHITECTURE.md."""
    page = (ROOT.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|\s*(\d+)\s*\|([^|]*)\|", page, re.MULTILINE)
    return {name: int(number) for number, entries in rows for name in re.findall(r"`(\w+)/?`", entries)}


def measure_walks(*, files: bool) -> dict[str, float]:
    """Return the files of each walk, and the frames and calls up of an `ask`."""
    with tempfile.TemporaryDirectory() as folder:
        walks = call_walks(Path(folder))
        stacks = Stacks(floor_table())
        with evimem.open(Path(folder) / "m.evimem") as memory:
            memory.ask(QUESTION)
            stacks.measure(lambda: memory.ask(QUESTION))
    for name, one in walks.items() if files else ():
        print(name, *one.files, sep="\n  ")
    found: dict[str, float] = {f"files, {name}": len(one.files) for name, one in walks.items()}
    found["frames between Memory.ask and the loop"] = stacks.frames_to_loop
    return {**found, "calls up an ask": stacks.calls_up}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="list the files of each walk")
    add_result(parser)
    options = parser.parse_args()
    now = count({path: path.read_text(encoding="utf-8") for path in package_files()})
    whole = count({path: path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py"))})
    now |= measure_walks(files=options.files)
    rows: list[tuple[Cell, ...]] = [(name, now[name], goal) for name, goal in GOALS.items()]
    rows += [(f"{name}, whole", whole[name], None) for name in ("statements", "constants")]
    record("house", options, [ResultTable("house", "The package's size and words", ("", "now", "goal"), tuple(rows))])


if __name__ == "__main__":
    main()
