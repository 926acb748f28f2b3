"""The code blocks of a page, and one way to run each language: as a reader would, in one folder, in order.

A comment before a block says what differs: `<!-- not run: REASON -->`, `<!-- needs: MODULE -->` (left out where that
is not installed), `<!-- file: NAME -->` (the block is that file).
"""

from __future__ import annotations

import asyncio
import doctest
import importlib
import importlib.util
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evimem.__main__ import main
from evimem.cli.arguments import make_parser

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r"(?P<marks>(?:^<!--[^\n]*-->\n+)*)^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
MARK = re.compile(r"<!-- (not run|needs|file|test)(?:: (.*?))? -->")
INSTALLS = re.compile(r"^\s*(pip|pipx|uv|uvx|python -m venv|python -m pip)\b")
SERVES = {"serve", "mcp", "explore"}  # they run until they are stopped: their words are parsed
SPAWNS = {"build"}  # its workers begin as processes of the program that is named on the command line
WAITING = re.compile(r"\$\(|[|<>*]|&&")
SHELL = {"cat", "chmod", "cp", "curl", "export", "ls", "mkdir", "mv", "openssl", "python", "rm", "umask", "wc"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        page: The page's path from the root of the project.
        line: The line of the fence, from 1.
        language: The word after the fence; may be empty.
        text: What stands inside.
        marks: The marks before it: values by name.
    """

    page: str
    line: int
    language: str
    text: str
    marks: Mapping[str, str]


def blocks(path: Path) -> list[Block]:
    """Return the blocks of a page in order."""
    text = path.read_text(encoding="utf-8")
    return [
        Block(
            path.relative_to(ROOT).as_posix(),
            text.count("\n", 0, found.start("language")) + 1,
            found["language"],
            re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE),
            {name: value or "" for name, value in MARK.findall(found["marks"])},
        )
        for found in FENCE.finditer(text)
    ]


class Runner:
    """Runs the blocks of one page in the working directory, with the names that earlier blocks left.

    Args:
        rewrite: Called with the text of each block: puts a server of the test in the place of an address.
        run_sql: Called with the text of a block of SQL, by a superuser; returns the last row.
        extras: The extras of the package.
    """

    def __init__(self, rewrite: Callable[[str], str], run_sql: Callable[[str], Any], extras: set[str]) -> None:
        self.names: dict[str, Any] = {"__name__": "page"}
        self._rewrite = rewrite
        self._perform_sql = run_sql
        self._extras = extras

    def run(self, block: Block) -> None:
        """Run a block; raise AssertionError with its place where it does not do as it says."""
        place = f"{block.page}:{block.line}"
        text = self._rewrite(block.text)
        if file := block.marks.get("file"):
            Path(file).write_text(text, encoding="utf-8")
            return
        try:
            getattr(self, f"_run_{block.language or 'text'}")(text, place)
        except (Exception, SystemExit) as error:
            raise AssertionError(f"{place}: {type(error).__name__}: {error}") from error

    def _run_text(self, text: str, place: str) -> None:
        """Leave output as it is."""

    def _run_json(self, text: str, place: str) -> None:
        json.loads(text)

    def _run_jsonl(self, text: str, place: str) -> None:
        for line in text.splitlines():
            json.loads(line)

    def _run_toml(self, text: str, place: str) -> None:
        tomllib.loads(text)

    def _run_sql(self, text: str, place: str) -> None:
        self._perform_sql(text)

    def _run_python(self, text: str, place: str) -> None:
        if ">>>" in text:
            self._run_doctest(text, place)
            return
        exec(compile(text, place, "exec"), self.names)

    def _run_doctest(self, text: str, place: str) -> None:
        test = doctest.DocTestParser().get_doctest(text, self.names, place, place, 0)
        told = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        runner.run(test, out=told.write, clear_globs=False)
        self.names = test.globs
        assert not runner.failures, told.getvalue()

    def _run_sh(self, text: str, place: str) -> None:
        for line in lines_of(text):
            self._run_line(line, place)

    def _run_line(self, line: str, place: str) -> None:
        word = line.split(maxsplit=1)[0]
        if INSTALLS.match(line):
            named = {one for held in re.findall(r"evimem\[([\w,.-]+)\]", line) for one in held.split(",")}
            assert named <= self._extras, f"no such extras: {named - self._extras}"
        elif word == "evimem" and not WAITING.search(line) and line.split()[1] not in SPAWNS:
            words = [os.path.expandvars(word) for word in shlex.split(line, comments=True)[1:]]
            self._run_command(words)
        elif word in SHELL or word == "evimem":
            self._run_shell(line)
        else:
            raise AssertionError(f"the runner knows no {word!r}; mark the block as not run, with the reason")

    def _run_command(self, words: list[str]) -> None:
        if words[0] in SERVES:
            make_parser(words).parse_args(words)
            return
        told = io.StringIO()
        with redirect_stdout(told), redirect_stderr(told):
            code = main(words)
        assert code in {0, 3}, f"evimem {' '.join(words)} ended with {code}: {told.getvalue()}"

    def _run_shell(self, line: str) -> None:
        """Run a line by bash, and keep the variables that it exports."""
        named = re.match(r"export (\w+)=", line)
        command = f"{line}\nprintf '\\0%s' \"${named[1]}\"" if named else line
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, f"{line} ended with {done.returncode}: {done.stdout}{done.stderr}"
        if named:
            os.environ[named[1]] = done.stdout.rpartition("\0")[2]

    def close(self) -> None:
        """Close what the page left open."""
        for value in list(self.names.values()):
            if type(value).__module__.startswith("evimem.api") and callable(getattr(value, "close", None)):
                closed = value.close()
                if asyncio.iscoroutine(closed):
                    closed.close()


def extras() -> set[str]:
    """Return the names of the package's extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"])


def lines_of(text: str) -> Iterator[str]:
    """Yield the commands of a block, each on one line, without comments."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip()


def installed(module: str) -> bool:
    """Tell whether a module can be imported, and has the attribute after the dot."""
    name, _, attribute = module.partition(".")
    if importlib.util.find_spec(name) is None:
        return False
    return not attribute or hasattr(importlib.import_module(name), attribute)
