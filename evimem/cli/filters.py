"""The options that choose turns: of a session, a speaker, a role, with metadata."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..raw import ROLES


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Add `--session`, `--speaker`, `--role` and `--where`."""
    parser.add_argument("--session", metavar="NAME", help="only turns of this session")
    parser.add_argument("--speaker", metavar="NAME", help="only turns of this speaker")
    parser.add_argument("--role", choices=ROLES, help="only turns of this role")
    add_where(parser, "only turns")


def add_where(parser: Any, which: str) -> None:
    """Add `--where`, to a parser or a group of options."""
    parser.add_argument(
        "--where",
        metavar="JSON",
        type=_conditions,
        help=which + """ whose metadata meets these conditions, such as '{"topic": "pets", "year": {"$gte": 2024}}'""",
    )


def chosen(options: argparse.Namespace) -> dict[str, Any]:
    """Return the filters that were given, as the methods of a memory take them."""
    return {name: getattr(options, name) for name in ("session", "speaker", "role", "where")}


def _conditions(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r:.80} is no JSON ({error})") from error
