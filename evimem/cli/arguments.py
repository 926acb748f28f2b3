"""The argument parser: the commands and their options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from .. import __version__
from .exit_codes import MEANINGS
from .page import visible

COMMANDS = (
    "demo", "ingest", "ask", "compare", "search", "show", "trace", "stats", "doctor", "enrich", "forget", "export",
    "import", "calibrate", "mcp", "token",
)  # fmt: skip
_EPILOG = "exit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in MEANINGS.items())


class Parser(argparse.ArgumentParser):
    """A parser whose messages, which repeat arguments, never steer the terminal."""

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(visible(message), file)


def module_of(command: str) -> ModuleType:
    """Import the module of a command. Each costs what it needs: the one that serves MCP has to start soon."""
    return import_module(f".commands.{command}_command", __package__)


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser. It sets `command` to the module to run and `parser` to the parser of that command.

    Where the words to parse begin with a command, it knows that one only.
    """
    top = Parser(
        prog="evimem",
        description="A conversation memory that finds evidence, and abstains without it. A memory is one file: PATH.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"evimem {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    output = output_options()
    for name in words[:1] if set(words[:1]) & set(COMMANDS) else COMMANDS:
        module = module_of(name)
        described = (module.__doc__ or "").split("\n\n", 1)
        own = commands.add_parser(
            name,
            help=described[0],
            description="\n\n".join(described),
            parents=[output],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(own)
        own.set_defaults(command=module, parser=own)
    return top


def output_options() -> Parser:
    """Return the options that say how a result is printed."""
    shared = Parser(add_help=False)
    group = shared.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print one JSON value instead of text")
    group.add_argument("--plain", action="store_true", help="print plain text without colours, also on a terminal")
    return shared
