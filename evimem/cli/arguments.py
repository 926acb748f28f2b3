"""The argument parser: the commands and their options."""

from __future__ import annotations

import argparse
from types import ModuleType
from typing import Any

from .. import __version__
from .commands import (
    ask_command,
    bench_command,
    calibrate_command,
    demo_command,
    doctor_command,
    enrich_command,
    export_command,
    forget_command,
    import_command,
    ingest_command,
    mcp_command,
    search_command,
    show_command,
    stats_command,
    token_command,
    trace_command,
)
from .exit_codes import MEANINGS
from .page import visible

COMMANDS: dict[str, ModuleType] = {
    "demo": demo_command,
    "ingest": ingest_command,
    "ask": ask_command,
    "search": search_command,
    "show": show_command,
    "trace": trace_command,
    "stats": stats_command,
    "doctor": doctor_command,
    "enrich": enrich_command,
    "forget": forget_command,
    "export": export_command,
    "import": import_command,
    "bench": bench_command,
    "calibrate": calibrate_command,
    "mcp": mcp_command,
    "token": token_command,
}
_EPILOG = "exit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in MEANINGS.items())


class _Parser(argparse.ArgumentParser):
    """A parser whose messages, which repeat arguments, never steer the terminal."""

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(visible(message), file)


def parser() -> argparse.ArgumentParser:
    """Return the parser. It sets `command` to the module to run and `parser` to the parser of that command."""
    top = _Parser(
        prog="evimem",
        description="A conversation memory that finds evidence, and abstains without it. A memory is one file: PATH.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"evimem {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    output = _output()
    for name, module in COMMANDS.items():
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


def _output() -> _Parser:
    shared = _Parser(add_help=False)
    group = shared.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print one JSON value instead of text")
    group.add_argument("--plain", action="store_true", help="print plain text without colours, also on a terminal")
    return shared
