"""Run a command line: parse it, run the command, turn exceptions into messages and exit codes."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import EvimemError
from .arguments import COMMANDS, Exit, Misused, code_of, existing, function_of, misused, model_settings, parser
from .page import Screen, visible


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command of `evimem` and return its exit code. An expected error is printed as one line on stderr."""
    return run_words(_options, argv)


def run_words(read: Callable[[Sequence[str]], argparse.Namespace], argv: Sequence[str] | None = None) -> int:
    """Run what `read` makes of the words: options with `run`, a function of them and of a screen."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a question mark for what a terminal cannot print
    try:
        options = read(sys.argv[1:] if argv is None else list(argv))
        return int(options.run(options, Screen(as_json=options.json, coloured=not options.plain)))
    except SystemExit as stop:  # argparse has printed the reason
        return stop.code if isinstance(stop.code, int) else Exit.USAGE
    except EvimemError as error:
        return _fail(str(error), code_of(error))
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:  # the program that reads the output has ended, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except OSError as error:
        return _fail(f"{error.filename or 'a file'!r}: {error.strerror or error}", Exit.INPUT)


def _options(words: Sequence[str]) -> argparse.Namespace:
    options = parser(words).parse_args(words, argparse.Namespace(run=_command))
    if wrong := misused(options):
        options.parser.error(wrong)
    return options


def _command(options: argparse.Namespace, screen: Screen) -> Exit:
    """Call the function of a command with what was given; what it leaves out is as the function says."""
    function = function_of(options.command)
    options.settings = model_settings(options) if COMMANDS[options.command].model else {}
    given: dict[str, Any] = {name: getattr(options, name) for name in options.takes if hasattr(options, name)}
    try:
        if not options.opens:
            return Exit(function(screen, **given))
        with existing(options.path, options.user, **options.settings) as memory:
            return Exit(function(memory, screen, **given))
    except Misused as wrong:
        used: argparse.ArgumentParser = options.parser
        used.error(str(wrong))


def _fail(message: str, code: Exit) -> Exit:
    sys.stderr.write(f"evimem: {visible(' '.join(message.split()))}\n")
    return code
