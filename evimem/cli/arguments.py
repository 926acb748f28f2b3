"""The command line from signatures: a command is a function; its arguments and docstring make the options and help.

A function is read as text, and imported when its command runs: what a command needs takes a second to import, and
neither help nor a server that has to greet its client soon should wait for it.
"""

from __future__ import annotations

import argparse
import ast
import json
import keyword
import os
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import evimem

from ..errors import (
    DimensionMismatch,
    EmbedderError,
    EmbedderMismatch,
    EvimemError,
    InvalidQuery,
    MissingExtra,
    ModelError,
    StoreError,
)
from .page import visible

if TYPE_CHECKING:
    from pathlib import Path

    from ..types.public_value import AnyPath

MODEL_OPTIONS = (
    "model", "answer_model", "judge_model", "extract_model", "base_url", "key_from", "price", "price_of", "deadline",
    "concurrency", "on_model_error",
)  # fmt: skip

Settings: TypeAlias = dict[str, Any]  # of `evimem.open`: the model, and what to do where it fails

_OF_A_MODEL = ("llm", "on_model_error")  # of `open`: the options of a chat model say them

_GIVEN = frozenset(("self", "memory", "screen", "settings"))  # arguments that are no words of a command line

_DOORS = "evimem.doors"


class Exit(IntEnum):
    """The exit codes, stable between versions."""

    OK = 0
    FAILED = 1
    USAGE = 2
    ABSTAINED = 3
    INPUT = 4
    STORE = 5
    MODEL = 6
    INTERRUPTED = 130


MEANINGS = {
    Exit.OK: "done",
    Exit.FAILED: "an unexpected error; please report it with the traceback",
    Exit.USAGE: "the command line is wrong; see --help",
    Exit.ABSTAINED: "ask abstained: the memory has no sufficient evidence",
    Exit.INPUT: "a file, id or value does not exist or is not valid, or turns were refused",
    Exit.STORE: "the memory cannot be used, or doctor found a problem",
    Exit.MODEL: "a chat model or an embedder failed or is not installed",
    Exit.INTERRUPTED: "interrupted by Ctrl-C; finished work is kept, the same command continues",
}


def code_of(error: EvimemError) -> Exit:
    """Return the exit code that an error leads to."""
    if isinstance(error, (StoreError, EmbedderMismatch, DimensionMismatch)):
        return Exit.STORE
    if isinstance(error, (ModelError, EmbedderError, MissingExtra)):
        return Exit.MODEL
    return Exit.INPUT


def add_model(parser: argparse.ArgumentParser, *, asks: bool = False) -> None:
    """Add the options of a chat model; where it `asks`, what to do when that fails on a question."""
    group = parser.add_argument_group("chat model", "optional; without --llm nothing leaves this machine")
    add = group.add_argument
    add("--llm", action="store_true", help="use a chat model behind an OpenAI-compatible endpoint")
    add("--model", metavar="NAME", help="the model, such as gpt-4o-mini; required with --llm")
    add("--answer-model", metavar="NAME", help="use another model for answering")
    add("--judge-model", metavar="NAME", help="use another model for judging the evidence")
    add("--extract-model", metavar="NAME", help="use another model for extracting facts, in `enrich`")
    add("--deadline", type=float, metavar="SECONDS", help="the longest that a request may take (60)")
    add("--concurrency", type=int, metavar="N", help="requests at the same time (8)")
    priced = "dollars per million input and output tokens of --model"
    add("--price", nargs=2, type=float, metavar=("IN", "OUT"), help=priced)
    others = "those of another model; may be given again"
    add("--price-of", nargs=3, action="append", metavar=("NAME", "IN", "OUT"), help=others)
    add("--base-url", metavar="URL", help="the endpoint, such as http://localhost:8000/v1")
    key = "the environment variable that holds the API key (default: OPENAI_API_KEY)"
    add("--key-from", metavar="VARIABLE", help=key)
    if asks:
        fails = "where the model fails: exit with an error (raise, the default), or answer without it (offline)"
        add("--on-model-error", choices=("raise", "offline"), help=fails)


def existing(path: AnyPath, user: str | None = None, **settings: Any) -> evimem.Memory:
    """Open an existing memory. Raise InvalidQuery if there is none: a command that reads must not create one."""
    from ..doors.open import has_memory  # noqa: PLC0415 - most of the package, which not every command needs

    if not has_memory(path, user):
        where = shown_path(path)
        who = "" if user is None else f" of {user!r}"
        raise InvalidQuery(f"there is no memory{who} at {where!r}; `evimem ingest {where} FILE` creates one")
    return evimem.open(path, user=user, **settings)


def shown_path(path: AnyPath) -> str:
    """Return what a memory is called: a file by its path, a server without role, password and parameters."""
    if not isinstance(path, str):
        return str(path)
    return f"postgresql://{path.partition('://')[2].rpartition('@')[2].partition('?')[0]}"


def model_settings(options: argparse.Namespace) -> Settings:
    """Return what the options of a chat model say about opening a memory."""
    return {"llm": model(options), "on_model_error": getattr(options, "on_model_error", None) or "raise"}


def model(options: argparse.Namespace) -> evimem.OpenAI | None:
    """Return the chat model that the options name, if any."""
    if not getattr(options, "llm", False):
        return None
    return evimem.OpenAI(
        model=options.model,
        judge_model=options.judge_model,
        answer_model=options.answer_model,
        extract_model=options.extract_model,
        base_url=options.base_url,
        prices=prices(options),
        api_key=os.environ.get(options.key_from) if options.key_from else None,
        **{name: value for name in ("deadline", "concurrency") if (value := getattr(options, name)) is not None},
    )


def prices(options: argparse.Namespace) -> dict[str, tuple[float, float]]:
    """Return dollars per million input and output tokens by the name of a model. Raise ValueError for other words."""
    given = getattr(options, "price_of", None) or ()
    found = {name: (float(sent), float(received)) for name, sent, received in given}
    return found | ({options.model: tuple(options.price)} if getattr(options, "price", None) else {})


def misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options of the chat model; None if nothing is."""
    named = [name for name in MODEL_OPTIONS if getattr(options, name, None) is not None]
    try:
        prices(options)
    except ValueError as error:
        return f"--price-of: {error}; expected NAME IN OUT, such as gpt-4o 2.5 10"
    if (seconds := getattr(options, "deadline", None)) is not None and not seconds > 0:
        return f"--deadline is {seconds:g}; expected seconds above 0"
    if (places := getattr(options, "concurrency", None)) is not None and places < 1:
        return f"--concurrency is {places}; expected at least 1"
    if getattr(options, "llm", False):
        return None if options.model else "--llm needs --model NAME"
    return f"--{named[0].replace('_', '-')} needs --llm; add it, or leave the option out" if named else None


class Command(NamedTuple):
    """A command: the module of its function, and what it takes besides the arguments of that.

    Attributes:
        module: The module beside this one; the function is named as the command.
        like: A method of `Memory`, or `open`: its optional arguments are options too, given to the function by keyword.
        without: Those of them that are none.
        model: Whether it takes the options of a chat model; "asks", whether those of one that answers questions.
    """

    module: str
    like: str = ""
    without: tuple[str, ...] = ()
    model: bool | str = False


COMMANDS = {
    "demo": Command("ask"),
    "ingest": Command("state", like="open", without=_OF_A_MODEL),
    "ask": Command("ask", like="ask", model="asks"),
    "block": Command("ask", like="block"),
    "compare": Command("ask", like="ask", without=("loop", "stream"), model="asks"),
    "search": Command("ask", like="search"),
    "show": Command("ask"),
    "trace": Command("ask"),
    "stats": Command("state"),
    "doctor": Command("state"),
    "enrich": Command("state", like="enrich", model=True),
    "forget": Command("state", like="forget", without=("turns",)),
    "export": Command("state"),
    "import": Command("state", like="open", without=_OF_A_MODEL),
    "copy": Command("state"),
    "build": Command("state"),
    "calibrate": Command("state", like="calibrate", without=("keep",), model=True),
    "mcp": Command("serve", like="open", without=_OF_A_MODEL, model="asks"),
    "token": Command("serve"),
}
_EPILOG = "exit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in MEANINGS.items())


class Misused(Exception):
    """What is wrong with the words of a command line."""


class Parser(argparse.ArgumentParser):
    """A parser whose messages, which repeat arguments, never steer the terminal."""

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(visible(message), file)


def function_of(command: str) -> Callable[..., Any]:
    """Import the function of a command."""
    module = import_module(f".{COMMANDS[command].module}", __package__)
    function: Callable[..., Any] = getattr(module, _function_name(command))
    return function


def parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of these words. Where they begin with a command, it knows the options of that one only.

    It sets `command` and `parser`, the parser of the command, and `takes`, the names of what its function is given.
    """
    top = Parser(
        prog="evimem",
        description="A conversation memory that finds evidence, and abstains without it. PATH is a file or a server.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"evimem {evimem.__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    output = output_options()
    for name in words[:1] if set(words[:1]) & set(COMMANDS) else COMMANDS:
        text = _described(name)
        own = commands.add_parser(
            name,
            help=text.partition("\n")[0],
            description=text,
            parents=[output],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        own.set_defaults(command=name, parser=own)
        if name in words[:1]:
            _add_arguments(own, name)
    return top


def output_options() -> Parser:
    """Return the options that say how a result is printed."""
    shared = Parser(add_help=False)
    group = shared.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print one JSON value instead of text")
    group.add_argument("--plain", action="store_true", help="print plain text without colours, also on a terminal")
    return shared


def _add_arguments(parser: Parser, name: str) -> None:
    command, function = COMMANDS[name], _function(name)
    own = list(_arguments(_module(name), function))
    opens = function.args.args[0].arg == "memory"
    if opens:
        parser.add_argument("path", metavar="PATH", type=_place, help="the file of the memory, or a server's address")
        parser.add_argument("--user", metavar="ID", help="on a server: whose memory")
    left_out = {*command.without, *(one.name for one in own)}
    shared = [one for one in _shared(command.like) if one.is_option and one.name not in left_out]
    added = [one.name for one in (*own, *shared) if _add(parser, one)]
    if command.model:
        add_model(parser, asks=command.model == "asks")
    settings = [one.name for one in own if one.name == "settings"]
    parser.set_defaults(takes=frozenset(added + settings), opens=opens)


class _Argument(NamedTuple):
    """An argument of a function: `holder` is the module where its type is named."""

    holder: str
    name: str
    type: ast.expr | None
    default: ast.expr | None
    is_option: bool
    help: str


def _add(parser: Parser, one: _Argument) -> bool:
    """Add an argument to a parser; return False for one whose type no word can be."""
    how = _typed(one.type, one.holder)
    if how is None or one.name in _GIVEN:
        return False
    default = ast.literal_eval(one.default) if isinstance(one.default, ast.Constant) else None
    says = one.help + ("" if default in (None, True, False, "") else f" (default: {default})")
    says += "; may be repeated" if how.get("action") == "append" else ""
    how = {"help": says.replace("%", "%%"), "default": argparse.SUPPRESS, **how}
    if not one.is_option:
        parser.add_argument(
            one.name,
            **{**how, "metavar": one.name.upper(), "default": None},
            nargs=None if one.default is None else "?",
        )
        return True
    flag = "no_" if default is True else ""
    if flag:
        how["action"] = "store_false"
    dashes = "-" if len(one.name) == 1 else "--"
    spelled = f"{dashes}{flag}{one.name}".replace("_", "-")
    parser.add_argument(spelled, dest=one.name, required=one.default is None, **how)
    return True


def _path(text: str) -> Path:
    from pathlib import Path  # noqa: PLC0415 - no path stands in a call for help

    if text.startswith(("postgresql:", "postgres:")):
        raise argparse.ArgumentTypeError("here a file is expected, not a server (postgresql://...)")
    return Path(text)


def _place(text: str) -> Path | str:
    from ..types.public_value import is_server  # noqa: PLC0415 - as above

    return text if is_server(text) else _path(text)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r:.80} is no JSON ({error})") from error


_TYPES: dict[str, dict[str, Any]] = {
    "str": {},
    "int": {"type": int, "metavar": "N"},
    "float": {"type": float, "metavar": "NUMBER"},
    "bool": {"action": "store_true"},
    "Path": {"type": _path, "metavar": "PATH"},
    "PathLike": {"metavar": "PATH"},
    "AnyPath": {"type": _place, "metavar": "PATH"},
    "TimeInput": {"metavar": "TIME"},
    "Mapping": {"type": _json, "metavar": "JSON"},
    "Collection": {"action": "append", "metavar": "ID"},
}


def _typed(node: ast.expr | None, holder: str) -> dict[str, Any] | None:
    """Return how argparse reads a word as this type; None where no word can be one."""
    if isinstance(node, ast.BinOp):
        both = [one for one in (_typed(node.left, holder), _typed(node.right, holder)) if one is not None]
        return {key: value for one in both for key, value in one.items()} if both else None
    if isinstance(node, ast.Name):
        return _TYPES[node.id] if node.id in _TYPES else _typed(_literal(node.id, holder), holder)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        if node.value.id == "Literal":
            chosen = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return {"choices": [ast.literal_eval(one) for one in chosen]}
        return _TYPES.get(node.value.id)
    return None


def _literal(name: str, holder: str) -> ast.expr | None:
    """Return the `Literal` that a name stands for in a module, or in the one that it is imported from."""
    for node in _tree(holder).body:
        if isinstance(node, ast.ImportFrom) and name in [one.name for one in node.names]:
            source = ".".join((*holder.split(".")[: -node.level], node.module or ""))
            found = re.search(rf"^{name}(?:: TypeAlias)? = (Literal\[[^]]*\])", _text(source), re.MULTILINE)
            return ast.parse(found[1], mode="eval").body if found else None
    return None


def _arguments(holder: str, function: ast.FunctionDef) -> Iterator[_Argument]:
    says = _help_of(function)
    words, options = function.args.args, function.args.kwonlyargs
    defaults: list[ast.expr | None] = [*[None] * (len(words) - len(function.args.defaults)), *function.args.defaults]
    is_method = bool(words) and words[0].arg == "self"
    for one, default in zip(words, defaults, strict=True):
        is_option = is_method and default is not None
        yield _Argument(holder, one.arg, one.annotation, default, is_option, says.get(one.arg, ""))
    for one, default in zip(options, function.args.kw_defaults, strict=True):
        yield _Argument(holder, one.arg, one.annotation, default, is_option=True, help=says.get(one.arg, ""))


def _described(command: str) -> str:
    """Return what the docstring of a command says before its sections; the list of all has no time to parse them."""
    start = rf"^def {_function_name(command)}\("
    found = re.search(rf'{start}.*?"""(.*?)(?:\n    Args:\n|""")', _text(_module(command)), re.MULTILINE | re.DOTALL)
    return textwrap.dedent(f"    {found[1]}").strip() if found else ""


def _help_of(function: ast.FunctionDef) -> dict[str, str]:
    """Return the first sentence of what a docstring says of each argument."""
    section = _docstring(function).partition("\nArgs:\n")[2].partition("\n\n")[0]
    told = re.findall(r"^    (\w+): (.*(?:\n     .*)*)", section, re.MULTILINE)
    return {name: _sentence(" ".join(text.split())) for name, text in told}


def _docstring(function: ast.FunctionDef) -> str:
    first, _, rest = (ast.get_docstring(function, clean=False) or "").partition("\n")
    return f"{first}\n{textwrap.dedent(rest)}"


def _sentence(text: str) -> str:
    first = re.split(r"(?<=[.)])\s+(?=[A-Z])", text, maxsplit=1)[0].rstrip(".")
    return first if re.match("[A-Z]{2}", first) else f"{first[:1].lower()}{first[1:]}"


def _module(command: str) -> str:
    return f"{__package__}.{COMMANDS[command].module}"


def _function_name(command: str) -> str:
    return f"{command}_" if keyword.iskeyword(command) else command


def _function(command: str) -> ast.FunctionDef:
    return _defined(_tree(_module(command)).body, _function_name(command))


def _shared(like: str) -> Iterator[_Argument]:
    if like == "open":
        yield from _arguments(f"{_DOORS}.open", _defined(_tree(f"{_DOORS}.open").body, like))
    elif like:
        body = _tree(f"{_DOORS}.memory").body
        (memory,) = (node for node in body if isinstance(node, ast.ClassDef) and node.name == "Memory")
        yield from _arguments(f"{_DOORS}.memory", _defined(memory.body, like))


def _defined(body: Sequence[ast.stmt], name: str) -> ast.FunctionDef:
    # The last of its name: those before it are overloads.
    return [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name][-1]


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_text(module))


def _text(module: str) -> str:
    # By its path: to look a module up by its name imports the packages that it is in.
    path = os.path.join(os.path.dirname(evimem.__file__), *module.split(".")[1:])
    text: bytes = evimem.__loader__.get_data(f"{path}.py")
    return text.decode()
