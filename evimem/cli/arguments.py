"""The command line's words: which commands there are, and what each understands."""

from __future__ import annotations

import argparse
from types import ModuleType

from ..version import __version__
from .commands import (
    ask,
    bench,
    calibrate,
    demo,
    doctor,
    enrich,
    export,
    forget,
    import_,
    ingest,
    search,
    show,
    stats,
    trace,
)
from .exit_codes import MEANINGS

COMMANDS: dict[str, ModuleType] = {
    "demo": demo,
    "ingest": ingest,
    "ask": ask,
    "search": search,
    "show": show,
    "trace": trace,
    "stats": stats,
    "doctor": doctor,
    "enrich": enrich,
    "forget": forget,
    "export": export,
    "import": import_,
    "bench": bench,
    "calibrate": calibrate,
}
_EPILOG = "exit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in MEANINGS.items())


def parser() -> argparse.ArgumentParser:
    """Return the parser; after parsing, `command` is the module whose run() does the work."""
    top = argparse.ArgumentParser(
        prog="evimem",
        description="A memory for chatbots that knows when it does not know. A memory is one file, named PATH below.",
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
        own.set_defaults(command=module)
    return top


def _output() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    group = shared.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print one JSON value for programs")
    group.add_argument("--plain", action="store_true", help="print plain text, also on a terminal")
    return shared
