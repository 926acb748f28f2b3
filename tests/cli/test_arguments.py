"""The options of a command are the arguments of its function and of a method of `Memory`, and cost no import."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.cli import arguments
from evimem.cli.arguments import COMMANDS, parser

LIKE = {name: command for name, command in COMMANDS.items() if command.like}


def parsed(*words: str) -> dict[str, Any]:
    return vars(parser(words).parse_args(words))


@pytest.mark.parametrize("name", LIKE)
def test_an_option_is_an_argument_that_the_method_takes(name: str) -> None:
    own = set(inspect.signature(arguments.function_of(name)).parameters)
    takes = parser([name]).parse_args([name, "m", *_words(name)]).takes
    method = set(
        inspect.signature(getattr(evimem if LIKE[name].like == "open" else evimem.Memory, LIKE[name].like)).parameters
    )
    assert takes - own <= method
    assert takes - own, "nothing of it is taken"


def _words(name: str) -> list[str]:
    return [] if name in {"enrich", "forget", "mcp"} else ["words"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_of_a_command_is_explained(name: str) -> None:
    (commands,) = (action for action in parser([name])._actions if isinstance(action.choices, dict))
    assert [action.dest for action in commands.choices[name]._actions if not action.help] == []


def function(text: str) -> ast.FunctionDef:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    return node


@pytest.mark.parametrize(
    ("argument", "words", "value"),
    [
        ("a: str | None = None", ["--a-b", "x"], "x"),
        ("a: int = 3", ["--a-b", "5"], 5),
        ("a: float | None = None", ["--a-b", "0.5"], 0.5),
        ("a: bool = False", ["--a-b"], True),
        ("a: bool = True", ["--no-a-b"], False),
        ("a: Mapping[str, Any] | None = None", ["--a-b", '{"k": 1}'], {"k": 1}),
        ("a: Collection[str] = ()", ["--a-b", "x", "--a-b", "y"], ["x", "y"]),
        ("a: str | Loop = 'iris'", ["--a-b", "memr3"], "memr3"),
        ("a: Path | None = None", ["--a-b", "f"], Path("f")),
        ("a: Literal['dmy', 'mdy'] | None = None", ["--a-b", "mdy"], "mdy"),
    ],
)
def test_a_word_becomes_a_value_of_the_type_that_is_named(argument: str, words: list[str], value: object) -> None:
    node = function(f"def f(*, {argument.replace('a:', 'a_b:', 1)}): pass")
    own = arguments.Parser()
    (one,) = arguments._arguments("evimem.doors.memory", node)
    assert arguments._add(own, one)
    assert own.parse_args(words).a_b == value
    assert vars(own.parse_args([])) == {}, "what is not given is left to the function"


@pytest.mark.parametrize(
    "type", ["Progress | None", "OnEvent", "Callable[[str], int] | None", "Budget", "Iterable[Turn]"]
)
def test_what_no_word_can_be_is_no_option(type: str) -> None:
    (one,) = arguments._arguments("evimem.doors.memory", function(f"def f(*, a: {type} = None): pass"))
    assert not arguments._add(arguments.Parser(), one)


ENGINE = ("numpy", "apsw", "orjson", "evimem.doors", "evimem.loops", "evimem.times", "evimem.types")


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("ask", "--help"), ("block", "--help"), ("ask",)])
def test_help_and_mistakes_import_nothing_of_the_engine(words: tuple[str, ...]) -> None:
    code = f"import sys; from evimem.cli.main import run; run({words!r}); print(*{{*{ENGINE!r}}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""
