"""Breaks of requests to a server: deadlines, errors, secrets."""

import logging
from typing import Any

import openai

from evimem import ModelUnavailable
from evimem.openai import wire_format
from evimem.openai.endpoint import Server
from tests.breaks.gates import SECRETS
from tests.breaks.patch import put
from tests.breaks.registry import breaks


@breaks(
    gate="tests/openai/test_faults.py::test_a_fault_is_survived_or_becomes_a_typed_error_within_the_deadline",
    says="s allowed for a deadline",
)
def the_deadline_applies_to_single_reads() -> None:
    honest = Server.__init__

    def init(self: Server, *args: Any, **options: Any) -> None:
        honest(self, *args, **options)
        self.deadline = 20.0

    put(Server, "__init__", init)


@breaks(
    gate="tests/openai/test_faults.py::test_a_fault_is_survived_or_becomes_a_typed_error_within_the_deadline",
    says="JSONDecodeError|ConnectError|RemoteProtocolError|ReadError",
)
def only_openai_errors_are_caught() -> None:
    honest = Server._translate

    def translated(self: Server, error: BaseException) -> Any:
        if not isinstance(error, openai.APIError):
            raise error
        return honest(self, error)

    put(Server, "_translate", translated)


@breaks(gate="tests/openai/test_wire.py::test_ten_shapes_of_secrets_are_redacted", says="assert")
def response_bodies_are_not_redacted() -> None:
    put(wire_format, "redact", lambda body: body if isinstance(body, str) else body.decode("utf-8", "replace"))


@breaks(gate=SECRETS, says="a key of the shape|what was said shows")
def errors_hold_raw_response_bodies() -> None:
    put(wire_format, "redact", lambda body: body if isinstance(body, str) else body.decode("utf-8", "replace"))
    put(ModelUnavailable, "__str__", lambda self: f"{self.args} {self.detail}")


@breaks(gate=SECRETS, says="a key of the shape")
@breaks(gate="tests/openai/test_secrets.py::test_a_good_call_logs_nothing_of_what_was_said", says="assert not")
def requests_are_logged() -> None:
    honest = Server.submit

    def submit(self: Server, *args: Any, **options: Any) -> Any:
        logging.getLogger("evimem").debug("sending with %s", self.api_key)
        return honest(self, *args, **options)

    put(Server, "submit", submit)
