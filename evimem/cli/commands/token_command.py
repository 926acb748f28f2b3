"""Make a token by which `evimem mcp` knows a user over HTTP, and print it; the file keeps only its digest.

The file has one token a line: its SHA-256, what it may do (read, write, admin) and the user. Delete a line to take a
token back: a server that runs notices.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ...adapters.user_tokens import SCOPES, new_token
from ..exit_codes import Exit
from ..page import line
from ..screen import Screen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `token`."""
    parser.add_argument("file", metavar="FILE", type=Path, help="the token file; it is created where there is none")
    parser.add_argument("--user", metavar="ID", required=True, help="whose memory the token opens")
    parser.add_argument(
        "--scope",
        choices=SCOPES,
        default="write",
        help="read: search and ask; write: add too (the default); admin: forget too",
    )


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Print the token, once."""
    token = new_token(options.file, options.user, options.scope)
    screen.show([line(token)], {"token": token, "user": options.user, "scope": options.scope})
    return Exit.OK
