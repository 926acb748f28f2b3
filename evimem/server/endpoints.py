"""Routes of the server: path, method, arguments and result of each, and how a request to it is answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ..adapters.user_tokens import Scope
from ..errors import EvimemError
from .json_schema import Schema, check_value
from .problems import Refusal, json_response, problem_response
from .service import Call, Service, read_json, read_user

Answering = Callable[[Call], Awaitable[Any]]
EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True)
class ListOf:
    """A result that is a list of values of a type under a name, and with `paged` the cursor of the next page."""

    name: str
    kind: Any
    paged: bool = False


@dataclass(frozen=True)
class Endpoint:
    """A route of the server and its place in the OpenAPI document.

    Attributes:
        method: The HTTP method.
        path: The path, with names of parameters in braces.
        name: The name of the operation, and of the method of a generated client.
        summary: One line on its effect.
        answer: Answers a request: with a response, or with a value that goes out as JSON.
        scope: The scope that a token needs; None for a public route.
        takes: The schema of the body; None where there is none, or where the answer reads it itself.
        query: The schemas of the parameters of the URL.
        gives: The schema, the type or the `ListOf` of the result; None for no JSON.
        status: The status of a response that is no error.
        media: The types of the response besides JSON.
        reads: The type of a body that `answer` reads itself.
        needs: The parameters of the URL that must be given.
        token_of: Finds the token of a request, where it may stand elsewhere than in the Authorization header, and the
            answer says whose memory it is for; empty for none.
    """

    method: str
    path: str
    name: str
    summary: str
    answer: Answering = field(repr=False)
    scope: Scope | None = "read"
    takes: Schema | None = None
    query: Mapping[str, Schema] = field(default_factory=dict)
    gives: Any = None
    status: int = 200
    media: tuple[str, ...] = ("application/json",)
    reads: str | None = None
    needs: tuple[str, ...] = ()
    token_of: Callable[[Request], str] | None = None


async def respond(endpoint: Endpoint, service: Service, request: Request) -> Response:
    """Answer a request to an endpoint; an error is a problem document."""
    request.scope["evimem"]["route"] = endpoint.path
    try:
        call = await _check_request(endpoint, service, request)
        result = await endpoint.answer(call)
    except (EvimemError, Refusal) as error:
        return problem_response(error)
    except Exception as error:  # noqa: BLE001 - told to the client by its type, and logged
        return problem_response(error)
    return result if isinstance(result, Response) else json_response(result, endpoint.status)


async def _check_request(endpoint: Endpoint, service: Service, request: Request) -> Call:
    """Return a request with its arguments checked. Raise Refusal or InvalidQuery."""
    user = ""
    if "user" in request.path_params:
        user = read_user(request.path_params["user"])
        request.scope["evimem"]["user"] = user
    if endpoint.scope is not None and user:
        service.check_access(request, user, endpoint.scope)
    elif endpoint.token_of is not None:  # before the body is read
        service.find_token_holder(request, endpoint.token_of(request))
    query = read_query(request, endpoint.query)
    for name in endpoint.needs:
        if name not in query:
            raise Refusal(422, "InvalidQuery", f"the URL has no {name!r}; expected it")
    body = None
    if endpoint.takes is not None:
        body = await read_json(request, service.limits.body_bytes)
        check_value(body, endpoint.takes, "the body")
    return Call(service, request, user, query, body)


def read_query(request: Request, expected: Mapping[str, Schema]) -> dict[str, Any]:
    """Return the parameters of a URL by their schemas; one of type array may be repeated.

    Raises:
        Refusal: A parameter is unknown, or is repeated (422).
        InvalidQuery: A value is not as its schema says.
    """
    given, found = request.query_params, dict[str, Any]()
    if unknown := sorted(set(given) - set(expected)):
        known = ", ".join(expected) or "none"
        raise Refusal(422, "InvalidQuery", f"the URL has {', '.join(map(repr, unknown))}; parameters here: {known}")
    for name in given:
        values, schema = given.getlist(name), expected[name]
        if schema["type"] == "array":
            found[name] = values
        elif len(values) > 1:
            raise Refusal(422, "InvalidQuery", f"the URL has {name!r} {len(values)} times; give it once")
        else:
            found[name] = _parse_word(values[0], schema["type"])
        check_value(found[name], schema, name)
    return found


def _parse_word(word: str, kind: str) -> Any:
    """Return a word of a URL as a JSON value of this type; one that is none stays a word, and is refused as such."""
    if kind == "boolean":
        return {"true": True, "false": False}.get(word, word)
    if kind == "integer":
        return int(word) if word.isascii() and word.removeprefix("-").isdigit() and len(word) < 20 else word
    return word
