"""The command line from signatures: a command is a function; its arguments and docstring make the options and help.

Only the module of the command that is named is imported, and nothing of the engine until it runs.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import json
import keyword
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias, get_args

import evimem

from ..db.postgres_address import show_address
from ..errors import EvimemError, InvalidQuery, code_of_error
from ..types import results, values
from ..types.public_value import AnyPath, is_server
from .page import Screen, escape_control_characters, write_note

Settings: TypeAlias = dict[str, Any]  # of `evimem.open`: the model, and the reaction to its failures


class Exit(IntEnum):
    """The exit codes, stable between versions, and their meanings."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Exit:
        member = int.__new__(cls, code)
        member._value_, member.meaning = code, meaning
        return member

    OK = 0, "done"
    FAILED = 1, "an unexpected error; please report it with the traceback"
    USAGE = 2, "the command line is wrong; see --help"
    ABSTAINED = 3, "ask found no sufficient evidence in the memory, and gave no answer"
    INPUT = 4, "a file, id or value does not exist or is not valid, or turns were refused"
    STORE = 5, "the memory cannot be used, or doctor found a problem"
    MODEL = 6, "a chat model or an embedder failed or is not installed"
    INTERRUPTED = 130, "interrupted by Ctrl-C; finished work is kept, the same command continues"


def exit_code_of(error: EvimemError) -> Exit:
    """Return the exit code that an error leads to."""
    code = code_of_error(error).exit
    return next(one for one in Exit if one == code)


# An address of whatever service, to the end of the message that repeats it: a password may hold a space.
_ADDRESS = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://|postgres(?:ql)?:).*", re.DOTALL)


class Misused(Exception):
    """An error in the words of a command line."""


class Command(NamedTuple):
    """A command: the module of its function, and its arguments besides those of the function.

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


# Of `open`, but no option: the options of a chat model say the first, the environment the key, and no command that
# takes them only reads.
_NO_OPTIONS = ("llm", "on_model_error", "key", "read_only")
COMMANDS = {
    "demo": Command("ask"),
    "ingest": Command("state", like="open", without=_NO_OPTIONS),
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
    "import": Command("state", like="open", without=_NO_OPTIONS),
    "reembed": Command("state"),
    "vacuum": Command("state"),
    "copy": Command("state"),
    "restore": Command("state"),
    "build": Command("state"),
    "calibrate": Command("state", like="calibrate", without=("keep",), model=True),
    "mcp": Command("serve", model="asks"),  # whose client waits to be greeted: it imports no method
    "serve": Command("serve", model="asks"),
    "token": Command("serve"),
    "explore": Command("serve", model="asks"),
}
_HELP = {  # of arguments that several commands have, where the docstring of theirs says nothing else
    "path": "the memory: a file, or a server's address (postgresql://...)",
    "user": "on a server, or in the folder of a pool: whose memory",
    "timezone": "where the user is, such as Europe/Madrid; the memory keeps it",
    "date_order": "how the user writes dates in figures: with dmy, 03/04/2024 is 3 April",
    "session": "only turns of this session",
    "speaker": "only turns of this speaker, spelled as stored",
    "role": "only turns of this role: user, assistant, system or tool",
    "where": 'only turns with this metadata, such as \'{"year": {"$gte": 2024}}\'',
    "asked_at": "when the question is asked, for words such as yesterday: a time, or now; by default the time of the "
    "newest turn",
    "exclude": "leave out the turn with this id",
}


def import_command(command: str) -> Callable[..., Any]:
    """Import the function of a command."""
    module = import_module(f".{COMMANDS[command].module}", __package__)
    function: Callable[..., Any] = getattr(module, f"{command}_" if keyword.iskeyword(command) else command)
    return function


def read_declaration(method: str) -> Callable[..., Any]:
    """Return a method of `Memory`, or `open`, as its signature and docstring alone.

    Its module is read as text: importing the engine takes longer than help may.
    """
    module = Path(evimem.__file__).parent / "api" / f"{'open' if method == 'open' else 'memory'}.py"
    nodes = ast.walk(ast.parse(module.read_text("utf-8")))
    *_, node = (one for one in nodes if isinstance(one, ast.FunctionDef) and one.name == method)  # after its overloads
    node.body, node.decorator_list = node.body[:1], []
    future = ast.ImportFrom("__future__", [ast.alias("annotations")], 0)
    names = {**vars(values), **vars(results), "time": time.time}
    exec(compile(ast.fix_missing_locations(ast.Module([future, node], [])), method, "exec"), names)
    function: Callable[..., Any] = names[method]
    return function


class Parser(argparse.ArgumentParser):
    """A parser whose messages, which repeat arguments, never steer the terminal."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{"formatter_class": _Formatter, **given})

    def error(self, message: str) -> NoReturn:
        """End the program with a message, without an address in it, which may hold a password, and all after it."""
        super().error(_ADDRESS.sub("an address (not shown)", message))

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(escape_control_characters(message), file)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)


def make_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of these words. Where they begin with a command, it knows the options of that one only.

    It sets `command` and `parser`, the parser of the command, and `takes`, the names of its function's arguments.
    """
    top = Parser(
        prog="evimem",
        description="A memory for conversations: it quotes what was said, and says so where it does not know.",
        epilog="`evimem COMMAND --help` explains a command. Try `evimem demo` first.\n\nexit codes:\n"
        + "\n".join(f"  {code:>3}  {code.meaning}" for code in Exit),
    )
    top.add_argument("--version", action="version", version=f"evimem {evimem.__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    output = output_options()
    for name in words[:1] if set(words[:1]) & set(COMMANDS) else COMMANDS:
        says = (inspect.getdoc(import_command(name)) or "").partition("\n\nArgs:\n")[0]
        own = commands.add_parser(name, help=says.partition("\n")[0], description=says, parents=[output])
        own.set_defaults(command=name, parser=own)
        if name in words[:1]:
            _add_arguments(own, name)
    return top


def output_options() -> Parser:
    """Return the options that say how a result is printed."""
    shared = Parser(add_help=False)
    group = shared.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print one JSON value instead of text")
    group.add_argument("--plain", action="store_true", help="print no colours, also on a terminal")
    return shared


def _add_arguments(parser: argparse.ArgumentParser, name: str) -> None:
    command, function = COMMANDS[name], import_command(name)
    own = inspect.signature(function).parameters
    opens = "memory" in own
    if opens:
        parser.add_argument("path", metavar="PATH", type=_parse_path_or_address, help=_HELP["path"])
        parser.add_argument("--user", metavar="ID", help=_HELP["user"])
    takes = {one.name for one in own.values() if add_argument(parser, one, function, _HELP | _argument_help(function))}
    if command.like:
        source = read_declaration(command.like)
        says, left_out = _argument_help(source) | _HELP | _argument_help(function), {*command.without, *own}
        for one in inspect.signature(source).parameters.values():
            optional = one.replace(kind=one.KEYWORD_ONLY)
            if one.default is not one.empty and one.name not in left_out:
                takes |= {one.name} if add_argument(parser, optional, source, says) else set()
    if command.model:
        add_model_options(parser, asks=command.model == "asks")
    parser.set_defaults(takes=takes | ({"settings"} & set(own)), opens=opens)


def add_argument(
    parser: argparse.ArgumentParser, one: inspect.Parameter, function: Callable[..., Any], told: Mapping[str, str]
) -> bool:
    """Add an argument of a function to a parser; return False for one that no word of a command line can be.

    Omitted arguments are left to the function.
    """
    how, default = _parse_type(str(one.annotation), function.__globals__), one.default
    if how is None or one.kind is one.VAR_KEYWORD:
        return False
    says = told.get(one.name, "")
    says += f" (default: {default})" if default and isinstance(default, (int, str)) and default is not True else ""
    says += "; may be repeated" if how.get("action") == "append" else ""
    how = {"help": says.replace("%", "%%"), "default": argparse.SUPPRESS, **how}
    needed = default is one.empty
    if one.kind is not one.KEYWORD_ONLY:
        how |= {"metavar": one.name.upper(), "default": None}
        parser.add_argument(one.name, nargs=None if needed else "?", **how)
        return True
    name = one.name
    if default is True:
        name, how["action"] = f"no_{name}", "store_false"
    spelled = f"{'-' if len(name) == 1 else '--'}{name}".replace("_", "-")
    parser.add_argument(spelled, dest=one.name, required=needed, **how)
    return True


def _argument_help(function: Callable[..., Any]) -> dict[str, str]:
    """Return the first sentence of a docstring about each argument."""
    section = (inspect.getdoc(function) or "").partition("\nArgs:\n")[2].partition("\n\n")[0]
    found = {}
    for name, text in re.findall(r"^    (\w+): (.*(?:\n     .*)*)", section, re.MULTILINE):
        first = re.split(r"(?<=[.)])\s+(?=[A-Z])", " ".join(text.split()), maxsplit=1)[0].rstrip(".")
        found[name] = first if re.match("[A-Z]{2}", first) else f"{first[:1].lower()}{first[1:]}"
    return found


def _parse_path(text: str) -> Path:
    if _ADDRESS.match(text):
        raise argparse.ArgumentTypeError("here a file is expected, not a server")
    return Path(text)


def _parse_path_or_address(text: str) -> Path | str:
    return text if is_server(text) else _parse_path(text)


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r:.80} is no JSON ({error})") from error


_TYPES: dict[str, dict[str, Any]] = {
    "str": {},
    "int": {"type": int, "metavar": "N"},
    "float": {"type": float, "metavar": "NUMBER"},
    "bool": {"action": "store_true"},
    "Path": {"type": _parse_path, "metavar": "PATH"},
    "PathLike": {"metavar": "PATH"},
    "AnyPath": {"type": _parse_path_or_address, "metavar": "PATH"},
    "TimeInput": {"metavar": "TIME"},
    "Mapping": {"type": _parse_json, "metavar": "JSON"},
    "Collection": {"action": "append", "metavar": "ID"},
}


def _parse_type(annotation: str, names: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return how argparse reads a word as this type; None where no word can be one. Names are those of its module."""
    found = None
    for kind in annotation.split(" | "):
        name = kind.partition("[")[0]
        choices = [one for one in get_args(names.get(name)) if isinstance(one, str)]
        how = _TYPES.get(name) or ({"choices": choices} if choices else {} if name == "str" else None)
        found = found if how is None else {**(found or {}), **how}
    return found


MODEL_OPTIONS = (
    "model", "answer_model", "judge_model", "extract_model", "base_url", "key_from", "price", "price_of", "deadline",
    "concurrency", "on_model_error",
)  # fmt: skip


def add_model_options(parser: argparse.ArgumentParser, *, asks: bool = False) -> None:
    """Add the options of a chat model; where it `asks`, the one for its failure on a question."""
    group = parser.add_argument_group("chat model", "optional; without --llm nothing leaves this machine")
    add = group.add_argument
    add("--llm", action="store_true", help="use a chat model behind an OpenAI-compatible endpoint")
    add("--model", metavar="NAME", help="the model, such as gpt-4o-mini; required with --llm")
    add("--base-url", metavar="URL", help="the endpoint, such as http://localhost:8000/v1")
    key = "the environment variable that holds the API key (default: OPENAI_API_KEY)"
    add("--key-from", metavar="VARIABLE", help=key)
    add("--answer-model", metavar="NAME", help="use another model for answering")
    add("--judge-model", metavar="NAME", help="use another model for judging the evidence")
    add("--extract-model", metavar="NAME", help="use another model for extracting facts, in `enrich`")
    add("--deadline", type=float, metavar="SECONDS", help="the longest that a request may take (default: 60)")
    add("--concurrency", type=int, metavar="N", help="requests at the same time (default: 8)")
    priced = "dollars per million input and output tokens of --model"
    add("--price", nargs=2, type=float, metavar=("IN", "OUT"), help=priced)
    others = "those of another model; may be repeated"
    add("--price-of", nargs=3, action="append", metavar=("NAME", "IN", "OUT"), help=others)
    if asks:
        fails = "where the model fails: exit with an error (raise, the default), or answer without it (offline)"
        add("--on-model-error", choices=("raise", "offline"), help=fails)


def model_from_options(options: argparse.Namespace) -> evimem.OpenAI | None:
    """Return the chat model that the options name, if any."""
    if not getattr(options, "llm", False):
        return None
    return evimem.OpenAI(
        model=options.model,
        judge_model=options.judge_model,
        answer_model=options.answer_model,
        extract_model=options.extract_model,
        base_url=options.base_url,
        prices=parse_prices(options),
        api_key=os.environ.get(options.key_from) if options.key_from else None,
        **{name: value for name in ("deadline", "concurrency") if (value := getattr(options, name)) is not None},
    )


def parse_prices(options: argparse.Namespace) -> dict[str, tuple[float, float]]:
    """Return dollars per million input and output tokens by the name of a model. Raise ValueError for other words."""
    given = getattr(options, "price_of", None) or ()
    found = {name: (float(sent), float(received)) for name, sent, received in given}
    return found | ({options.model: tuple(options.price)} if getattr(options, "price", None) else {})


def check_model_options(options: argparse.Namespace) -> str | None:
    """Return the error in the options of the chat model; None if there is none."""
    named = [name for name in MODEL_OPTIONS if getattr(options, name, None) is not None]
    try:
        parse_prices(options)
    except ValueError as error:
        return f"--price-of: {error}; expected NAME IN OUT, such as gpt-4o 2.5 10"
    if (seconds := getattr(options, "deadline", None)) is not None and not seconds > 0:
        return f"--deadline is {seconds:g}; expected seconds above 0"
    if (places := getattr(options, "concurrency", None)) is not None and places < 1:
        return f"--concurrency is {places}; expected at least 1"
    if not hasattr(options, "llm"):  # a command without a chat model, of which --model is an embedder's
        return None
    if options.llm:
        return None if options.model else "--llm needs --model NAME"
    return f"--{named[0].replace('_', '-')} needs --llm; add it, or leave the option out" if named else None


def read_key_from_environment(path: AnyPath) -> Settings:
    """Return the key of encrypted files that EVIMEM_KEY holds: 64 hex digits for 32 bytes, else a passphrase.

    It is no option, as a command line is seen by every user of a machine; that of a server takes none.
    """
    text = os.environ.get("EVIMEM_KEY")
    if not text or is_server(path):
        return {}
    return {"key": bytes.fromhex(text) if re.fullmatch("[0-9a-fA-F]{64}", text) else text}


def open_existing(path: AnyPath, user: str | None = None, **settings: Any) -> evimem.Memory:
    """Open an existing memory. Raise InvalidQuery if there is none: a command that reads must not create one."""
    from ..api.open import has_memory  # noqa: PLC0415 - most of the package, which not every command needs

    if not has_memory(path, user):
        where = display_path(path)
        who = "" if user is None else f" of {user!r}"
        raise InvalidQuery(f"there is no memory{who} at {where!r}; `evimem ingest {where} FILE` creates one")
    return evimem.open(path, user=user, **read_key_from_environment(path), **settings)


def display_path(path: AnyPath) -> str:
    """Return the name of a memory: a file by its path, a server without role, password and parameters."""
    if not isinstance(path, str):
        return str(path)
    return show_address(path)


def run_command_line(argv: Sequence[str] | None = None) -> int:
    """Run a command of `evimem` and return its exit code. An expected error is printed as one line on stderr."""
    return parse_and_run(_parse_words, argv)


def parse_and_run(read: Callable[[Sequence[str]], argparse.Namespace], argv: Sequence[str] | None = None) -> int:
    """Run the options that `read` makes of the words: options with `run`, a function of them and of a screen."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a question mark for a character that a terminal cannot print
    try:
        options = read(sys.argv[1:] if argv is None else list(argv))
        return int(options.run(options, Screen(as_json=options.json, coloured=not options.plain)))
    except SystemExit as stop:  # argparse has printed the reason
        return stop.code if isinstance(stop.code, int) else Exit.USAGE
    except EvimemError as error:
        return _print_failure(str(error), exit_code_of(error))
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:  # the program that reads the output has ended, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except OSError as error:
        return _print_failure(f"{error.filename or 'a file'!r}: {error.strerror or error}", Exit.INPUT)


def _parse_words(words: Sequence[str]) -> argparse.Namespace:
    if not words:
        make_parser(words).print_help(sys.stderr)
        raise SystemExit(Exit.USAGE)
    if words[0][:1] not in ("", "-") and words[0] not in COMMANDS:
        near = get_close_matches(words[0], COMMANDS, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        Parser(prog="evimem").error(f"there is no command {words[0]!r}; {hint}`evimem --help` lists them")
    options = make_parser(words).parse_args(words, argparse.Namespace(run=_call_command))
    if wrong := check_model_options(options):
        options.parser.error(wrong)
    return options


def _call_command(options: argparse.Namespace, screen: Screen) -> Exit:
    """Call the function of a command with the given arguments; the rest are as the function says."""
    function = import_command(options.command)
    settings: Settings = {}
    if COMMANDS[options.command].model:
        settings = {
            "llm": model_from_options(options),
            "on_model_error": getattr(options, "on_model_error", None) or "raise",
        }
    options.settings = settings
    given: dict[str, Any] = {name: getattr(options, name) for name in options.takes if hasattr(options, name)}
    try:
        if options.opens:
            with open_existing(options.path, options.user, **settings) as memory:
                ended: Exit = function(memory, screen, **given)
        else:
            ended = function(screen, **given)
    except Misused as wrong:
        options.parser.error(str(wrong))
    return ended


def _print_failure(message: str, code: Exit) -> Exit:
    write_note(sys.stderr, f"evimem: {' '.join(message.split())}")
    return code
