"""The explorer on this machine: a socket of the loopback interface, a token, and the server that runs until Ctrl-C."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path

import uvicorn

from ..errors import InvalidQuery
from .explorer import build_explorer
from .sources import Source
from .visitors import admit_holder_of

_HOST = "127.0.0.1"


class LocalExplorer:
    """The explorer of a source, bound to this machine; `url` opens it in a browser.

    Raises:
        InvalidQuery: The port is taken, or may not be used.
    """

    def __init__(self, source: Source, *, port: int = 0, labels: Path | None = None) -> None:
        """Bind it.

        Args:
            source: Where its memories come from.
            port: The port; 0 takes any that is free.
            labels: The file of corrections; without one they are not kept.
        """
        try:
            self.socket = socket.create_server((_HOST, port))
        except (OSError, OverflowError) as error:
            raise InvalidQuery(
                f"port {port} cannot be used ({error}); give another, or 0 for any that is free"
            ) from error
        bound = self.socket.getsockname()[1]
        token = secrets.token_urlsafe(24)
        hosts = {f"{name}:{bound}" for name in (_HOST, "localhost")}
        self.url = f"http://{_HOST}:{bound}/?token={token}"
        self.app = build_explorer(source, admit_holder_of(token), cookie=f"evimem-{bound}", hosts=hosts, labels=labels)

    def run(self) -> None:
        """Serve until SIGINT or SIGTERM."""
        config = uvicorn.Config(self.app, log_level="warning", access_log=False, server_header=False, lifespan="off")
        uvicorn.Server(config).run(sockets=[self.socket])
