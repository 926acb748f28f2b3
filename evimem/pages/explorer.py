"""The explorer as an ASGI application: routes of pages and their JSON twins, forms, and errors as pages."""

from __future__ import annotations

import logging
import traceback
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from hmac import compare_digest
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ..errors import EvimemError, UnknownTurn, code_of_error, shown
from . import answer_pages, state_pages, turn_pages
from .render_html import SCRIPT, page_link, read_stylesheet, render_json, render_page, stylesheet_name
from .requests import Page, PageRequest
from .sources import Source
from .visitors import SIGN_IN_PATH, Admit, Visitor, VisitorGate

_LOG = logging.getLogger("evimem")
MAX_FORM_BYTES = 64 * 2**20  # of a form, an uploaded file included
Show = Callable[[PageRequest], Page]


class PageRoute(NamedTuple):
    """A page: its address, its name in the navigation ("" if it has no place there), and the function that shows it.

    `change` performs the form that is sent to the address; `erases` says that this needs the right to forget. `form`
    returns the page with its form as it was filled in, to be shown below an error.
    """

    path: str
    title: str
    show: Show
    change: Show | None = None
    form: Show | None = None
    erases: bool = False
    writes: bool = True


PAGES = (
    PageRoute(
        "ask", "Ask", answer_pages.show_answer, answer_pages.keep_answer, answer_pages.question_form_page, writes=False
    ),
    PageRoute("block", "Block", answer_pages.show_block, form=answer_pages.block_form_page),
    PageRoute("find", "Search", turn_pages.search_turns, form=turn_pages.search_form_page),
    PageRoute("timeline", "Time line", turn_pages.show_timeline),
    PageRoute("people", "People", turn_pages.show_people),
    PageRoute("why", "Traces", answer_pages.show_trace),
    PageRoute("compare", "Compare", answer_pages.compare_answers),
    PageRoute("import", "Import", state_pages.show_import, state_pages.import_file, state_pages.show_import),
    PageRoute("corrections", "Corrections", state_pages.show_corrections, state_pages.mark_hit),
    PageRoute(
        "forget",
        "Forget",
        state_pages.preview_forgetting,
        state_pages.forget_turns,
        state_pages.forgetting_form_page,
        erases=True,
    ),
    PageRoute("health", "Health", state_pages.show_health, state_pages.enrich_or_check),
    PageRoute("turn", "", turn_pages.show_turn, turn_pages.edit_turn, turn_pages.turn_form_page),
    PageRoute("turns", "", turn_pages.list_turns),
)


class Explorer:
    """Serves the pages of a source. See `build_explorer`."""

    def __init__(self, source: Source, labels: Path | None) -> None:
        self._source = source
        self._labels = labels

    def make_routes(self) -> list[Route]:
        """Return the routes of all pages, their twins, and the two files that they load."""
        found = [Route("/", self._redirect_to_first_page), Route(f"/static/{SCRIPT}", _serve_script),
                 Route("/static/{name}", _serve_stylesheet), Route("/favicon.ico", _answer_no_icon)]  # fmt: skip
        for one in PAGES:
            methods = ["GET", "POST"] if one.change else ["GET"]
            found.append(Route(f"/{one.path}", partial(self._serve_page, one), methods=methods))
            found.append(Route(f"/{one.path}.json", partial(self._serve_page, one, as_json=True), methods=methods))
        return found

    async def _redirect_to_first_page(self, request: Request) -> Response:
        return RedirectResponse(f"ask?{request.url.query}".rstrip("?"), 303)

    async def _serve_page(self, route: PageRoute, request: Request, *, as_json: bool = False) -> Response:
        """Serve a page, or perform the form that is sent to it."""
        visitor: Visitor = request.scope["visitor"]
        form: dict[str, Any] = {}
        if request.method == "POST":
            if (refused := _refuse_form(request)) is not None:
                return refused
            form = await _read_form(request)
            if not _is_allowed_form(request, form):
                return _plain_refusal("The form has no valid token: load its page again, and send it from there.", 403)
            allowed = visitor.may_forget if route.erases else visitor.may_write or not route.writes
            if not allowed:
                return _plain_refusal("This token may read, and not change anything.", 403)
        show = route.change if request.method == "POST" and route.change else route.show
        return await run_in_threadpool(self._respond_with_page, request, route, show, form, as_json=as_json)

    def _respond_with_page(
        self, request: Request, route: PageRoute, show: Show, form: Mapping[str, Any], *, as_json: bool
    ) -> Response:
        """Return the response of a page; an error of evimem becomes a page of its own."""
        query = dict(request.query_params)
        visitor: Visitor = request.scope["visitor"]
        user = str(visitor.user or form.get("user") or query.get("user") or "") if self._source.has_users else ""
        if user:
            query["user"] = user
        try:
            if self._source.has_users and not user:
                page = Page("user", "Whose memory?", {"user": None}, {"suggested_user": self._source.suggested_user})
            else:
                with self._source.open_memory(user) as memory:
                    asked = PageRequest(memory, self._source, visitor, query, form, self._labels)
                    page = _show_page_with_errors(route, show, asked, as_json=as_json)
        except EvimemError as error:
            page = _error_page(error)
        except Exception as error:  # noqa: BLE001 - shown without a word of the memory, and logged
            page = _failure_page(error, route.path)
        if page.go_to is not None and not as_json:
            return RedirectResponse(_add_user_parameter(page.go_to, user), 303)
        if as_json:
            return Response(render_json(page.values), page.status, media_type="application/json")
        given = {name: one for name, one in query.items() if name != "user"}
        return self._render_response(
            request, page, route.path, query, user, twin=page_link(f"{route.path}.json", user, given)
        )

    async def show_unknown_address(self, request: Request, error: Exception) -> Response:
        """Return the page of an address that has none."""
        page = Page("problem", "No such page", status=404, problem="There is no page at this address.")
        return self._render_response(request, page, "", {}, "", twin="")

    def _render_response(
        self, request: Request, page: Page, path: str, query: Mapping[str, str], user: str, *, twin: str
    ) -> Response:
        root = "../" * (request.url.path.count("/") - 1)
        held = {
            **page.shown,
            **page.values,
            "problem": page.problem,
            "title": page.title,
            "here": path,
            "root": root,
            "pages": PAGES,
            "query": defaultdict(str, query),
            "source": self._source.name,
            "user": user,
            "visitor": request.scope["visitor"],
            "form_token": request.scope["form_token"],
            "labels": self._labels,
            "link": lambda page, **given: f"{root}{page_link(page, user, given)}",
            "twin": twin,
        }
        return Response(render_page(page.template, held), page.status, media_type="text/html")


def build_explorer(
    source: Source,
    admit: Admit,
    *,
    cookie: str = "evimem-explorer",
    hosts: Collection[str] | None = None,
    labels: Path | None = None,
) -> Starlette:
    """Return the explorer as an ASGI application, to be served at the root of a host.

    Args:
        source: Where its memories come from.
        admit: Returns the visitor whom a token lets in, None for an unknown token.
        cookie: The name of the cookie that holds the token.
        hosts: The values of the Host header that are served; None serves any.
        labels: The file of corrections; without one they are not kept.
    """
    ask_for_token = partial(render_page, "sign_in", {})
    gate = Middleware(VisitorGate, admit=admit, ask_for_token=ask_for_token, cookie=cookie, hosts=hosts)
    explorer = Explorer(source, labels)
    return Starlette(
        routes=explorer.make_routes(), middleware=[gate], exception_handlers={404: explorer.show_unknown_address}
    )


def _show_page_with_errors(route: PageRoute, show: Show, asked: PageRequest, *, as_json: bool) -> Page:
    """Return a page; for people an error stands above the form that they filled in, where the page has one."""
    try:
        return show(asked)
    except EvimemError as error:
        if route.form is None or as_json:
            raise
        return replace(route.form(asked), problem=_error_sentence(error), status=code_of_error(error).status)


def _error_page(error: EvimemError) -> Page:
    values = {"kind": type(error).__name__, "reason": str(error)}
    return Page("problem", "Not possible", values, status=code_of_error(error).status, problem=_error_sentence(error))


def _failure_page(error: Exception, page: str) -> Page:
    reason = _log_unforeseen(error, page)
    return Page("problem", "Not possible", {"kind": type(error).__name__, "reason": reason}, status=500,
                problem=f"{reason[0].upper()}{reason[1:]}.")  # fmt: skip


def _error_sentence(error: EvimemError) -> str:
    """Return an error as a sentence of a page, which speaks of no function of Python."""
    if isinstance(error, UnknownTurn):
        return f"No turn has the id {shown(error.turn_id, 120)}. Search finds turns by their words."
    reason = str(error)
    return f"{reason[:1].upper()}{reason[1:].rstrip('.')}."


def _log_unforeseen(error: Exception, page: str) -> str:
    """Log where an unexpected error was raised, without its message, which may quote the memory; say so."""
    frames = traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__), limit=-3, lookup_lines=False)
    places = " > ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames)
    _LOG.error("the page %s raised %s at %s", page, type(error).__name__, places)
    return "the page failed; the log of the explorer says where"


def explorer_routes(
    source: Source, admit: Admit, *, cookie: str, hosts: Collection[str] | None = None
) -> list[BaseRoute]:
    """Return the explorer as routes of another application; see `build_explorer`.

    Each of its paths is a route of its own: a mount at `/` would take the wrong methods of the application's routes.
    """
    app = build_explorer(source, admit, cookie=cookie, hosts=hosts)
    paths = dict.fromkeys([SIGN_IN_PATH, *(route.path for route in Explorer(source, None).make_routes())])
    return [Route(path, app) for path in paths]


async def _read_form(request: Request) -> dict[str, Any]:
    """Return the fields of a form; a file is its name and its bytes."""
    async with request.form(max_files=1, max_part_size=2 * 2**20) as form:
        return {
            name: (value.filename or "", await value.read()) if isinstance(value, UploadFile) else value
            for name, value in form.items()
        }


def _refuse_form(request: Request) -> Response | None:
    """Refuse a form that is too large, or whose size is not given; None for any other."""
    size = request.headers.get("content-length", "")
    if not size.isascii() or not size.isdigit():
        return _plain_refusal("The form does not say how long it is.", 411)
    if int(size) > MAX_FORM_BYTES:
        return _plain_refusal(f"The form has {int(size):,} bytes; expected at most {MAX_FORM_BYTES:,}.", 413)
    return None


def _is_allowed_form(request: Request, form: Mapping[str, Any]) -> bool:
    """Whether a form was made by a page of the explorer, or sent by a program that holds a token."""
    if request.headers.get("authorization"):  # a browser adds none by itself
        return True
    return compare_digest(
        str(form.get("form_token", "")).encode("utf-8", "replace"), request.scope["form_token"].encode()
    )


def _plain_refusal(reason: str, status: int) -> Response:
    return Response(f"{reason}\n", status, media_type="text/plain")


def _add_user_parameter(address: str, user: str) -> str:
    page, _, query = address.partition("?")
    named = page_link(page, user, {})
    return f"{named}{'&' if '?' in named else '?'}{query}" if query else named


async def _serve_script(request: Request) -> Response:
    content = (files(__package__) / "static" / SCRIPT).read_bytes()
    return Response(content, media_type="text/javascript")


async def _serve_stylesheet(request: Request) -> Response:
    if request.path_params["name"] != stylesheet_name():
        raise HTTPException(404)
    return Response(read_stylesheet(), media_type="text/css")


async def _answer_no_icon(request: Request) -> Response:
    return Response(status_code=204)
